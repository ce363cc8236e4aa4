//! A replay sample by sample: what allocations cost in each, and how long it took.

use super::{Cost, EngineRun, Replay};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Compared, EngineEntry};
    use crate::run::measure;
    use crate::workload::Batches;
    use std::time::Duration;

    /// Fills single pages, then frees them, in batches of one operation. The last ten frees are not sampled.
    fn measured(keep: usize, limit: Duration) -> Replay {
        let mut batches = Batches::default();
        for at in 0..200 {
            let (op, part) = match at {
                0..100 => (Op::alloc(at, 4096), Piece::Part("fill")),
                100..190 => (Op::Free { object: at - 100 }, Piece::Part("empty")),
                _ => (Op::Free { object: at - 100 }, Piece::Around),
            };
            batches.ops.push(op);
            batches.end(part);
        }
        let mut workload = batches.sampled("fill", 100, 7, keep);
        workload.cut.limit = Some(limit);
        let names = ["rbtree:lowest".to_owned(), "gap-list".to_owned()];
        let engines = EngineEntry::find(&names, Compared::Always).unwrap();
        measure(workload, &engines, 2, &mut |_| ()).unwrap()
    }

    #[test]
    fn samples_hold_every_operation_once() {
        let replay = measured(100, Duration::from_secs(60));
        assert_eq!(replay.common(), 7, "190 operations, 28 in each sample");
        for run in replay.runs.iter().chain(&replay.floor) {
            let all = replay.costs(run, 0..200, None);
            let [fill_and_empty, rest] = replay.sums(run);
            assert!(replay.complete(run) && fill_and_empty.ns > 0);
            if run.entry.is_floor() {
                continue;
            }
            assert_eq!((fill_and_empty.ops, rest.ops, all.len(), run.counted.failures), (190, 10, 100, 0));
            assert!(fill_and_empty.work > 0 && (fill_and_empty + rest).ops == 200);
            let live: Vec<u64> = run.counted.buckets.iter().map(|bucket| bucket.state.live).collect();
            assert_eq!(live, [28, 56, 84, 88, 60, 32, 0]);
            assert!(all.iter().all(|cost| cost.ns < u32::MAX), "every allocation was timed");
            let by_sample: Vec<usize> = replay.costs_by_sample(run).map(|costs| costs.len()).collect();
            assert_eq!(by_sample, [28, 28, 28, 16, 0, 0, 0]);
            assert_eq!([replay.costs(run, 0..200, Some("fill")).len(), all.len()], [100; 2]);
            assert_eq!((run.timed.loop_ns.len(), run.timed.samples_ns.len()), (2, 7));
        }
        assert_eq!(replay.parts(), ["fill", "empty"]);
    }

    #[test]
    fn a_run_can_be_cut_short_and_says_so() {
        let short = measured(2, Duration::from_secs(60));
        assert!(short.workload.cut.more && short.common() == 2);
        assert!(!short.complete(&short.runs[0]));
        let slow = measured(100, Duration::ZERO);
        assert_eq!(slow.common(), 1);
        assert!(slow.runs.iter().all(|run| run.counted.out_of_time && run.timed.samples_ns.len() == 1));
    }

    #[test]
    fn spreads_are_exact() {
        let spread = Spread::of([4.0, 1.0, 7.0].into_iter()).unwrap();
        assert_eq!((spread.least, spread.mean, spread.greatest), (1.0, 4.0, 7.0));
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}
