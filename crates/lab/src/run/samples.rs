//! A replay sample by sample: what allocations cost in each, and how long it took.

use super::{EngineRun, Replay};
use crate::workload::Piece;
use freehold_trace::kva::Op;
use std::ops::Range;

/// The least, the mean and the greatest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub greatest: f64,
}

/// What an operation cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Nodes and list steps.
    pub work: u32,
    /// Nanoseconds.
    pub ns: u32,
}

impl Spread {
    /// Of these values; `None` of nothing.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut count, mut sum, mut least, mut greatest) = (0u64, 0.0, f64::INFINITY, 0f64);
        for value in values {
            (count, sum) = (count + 1, sum + value);
            (least, greatest) = (least.min(value), greatest.max(value));
        }
        (count > 0).then(|| Self { least, mean: sum / count as f64, greatest })
    }
}

/// Operations, and what they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub ops: u64,
    /// Their work.
    pub work: u64,
    /// Their time in nanoseconds, of each sample the least of its rounds.
    pub ns: u64,
}

impl std::ops::Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { ops: self.ops + other.ops, work: self.work + other.work, ns: self.ns + other.ns }
    }
}

impl Replay {
    /// The samples that every engine got through.
    pub fn common(&self) -> usize {
        self.runs.iter().map(|run| run.counted.samples.len()).min().unwrap_or(0)
    }

    /// Whether the engine ran all operations that there were.
    pub fn complete(&self, run: &EngineRun) -> bool {
        !self.workload.cut.more && !run.counted.out_of_time
    }

    /// The names of the parts, in the order in which they come.
    pub fn parts(&self) -> Vec<&'static str> {
        let mut parts = Vec::new();
        for (_, piece) in self.workload.pieces(0..self.workload.ops.len()) {
            if let Piece::Part(name) = piece
                && !parts.contains(&name)
            {
                parts.push(name);
            }
        }
        parts
    }

    /// Each sampled allocation's work, and its least time of any round: those of a part, or of all, among these operations.
    pub fn costs(&self, run: &EngineRun, within: Range<usize>, part: Option<&str>) -> Vec<Cost> {
        let mut costs = Vec::new();
        for (range, piece) in self.workload.pieces(within) {
            let Piece::Part(name) = piece else { continue };
            if part.is_some_and(|part| part != name) {
                continue;
            }
            let ops = self.workload.ops.get(range.clone()).unwrap_or_default();
            let work = run.counted.works.iter().skip(range.start);
            let ns = run.timed.least_ns.iter().skip(range.start);
            let of = ops.iter().zip(work).zip(ns).filter(|((op, _), _)| !matches!(op, Op::Free { .. }));
            costs
                .extend(of.map(|((_, &work), &ns)| Cost { work, ns: u32::try_from(ns).unwrap_or(u32::MAX) }));
        }
        costs
    }

    /// The same, sample by sample.
    pub fn costs_by_sample(&self, run: &EngineRun) -> impl Iterator<Item = Vec<Cost>> {
        run.counted.samples.iter().map(|sample| self.costs(run, sample.clone(), None))
    }

    /// What the first samples, as far as every engine got, took together: first the sampled operations, then those around
    /// them.
    pub fn sums(&self, run: &EngineRun) -> [Sum; 2] {
        let mut sums = [Sum::default(); 2];
        for (sample, ns) in run.counted.samples.iter().zip(&run.timed.samples_ns).take(self.common()) {
            for (range, piece) in self.workload.pieces(sample.clone()) {
                let sum = &mut sums[usize::from(piece == Piece::Around)];
                sum.ops += range.len() as u64;
                let works = run.counted.works.get(range).unwrap_or_default();
                sum.work += works.iter().map(|&work| u64::from(work)).sum::<u64>();
            }
            sums.iter_mut().zip(ns).for_each(|(sum, ns)| sum.ns += ns);
        }
        sums
    }
}
