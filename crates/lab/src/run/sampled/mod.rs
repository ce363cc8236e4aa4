//! A long run cut into samples of as many operations each: what allocations cost in each sample, and how long it took.
//!
//! ```text
//!   checked   A1 B1 C1   A2 B2 C2   ...   every answer checked, work counted; an engine out of time ends here
//!   round 0   A1 B1 C1   C2 B2 A2   ...   the same operations timed, answers compared
//!   round 1   C1 B1 A1   A2 B2 C2   ...   on fresh engines
//! ```
//!
//! The operations come batch by batch and are never held as a whole. In a round each engine runs a sample twice, on
//! two engines in the same state: operation by operation for the spread, and in one go for the time of the sample.
//! Batches that only set up or tear down are run, checked and timed with the sample that they fall into, and are in
//! neither its length nor its spread.

mod run;
#[cfg(test)]
mod tests;

use super::Cost;
use crate::engine::EngineEntry;
use crate::hash::Fnv;
use freehold::units::Span;
use std::ops::Range;
use std::time::Duration;

/// How a run is cut and how far it goes.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// The space.
    pub layout: Vec<Span>,
    /// Objects are named below this.
    pub objects: u32,
    /// Sampled operations in a sample, about: batches are not cut.
    pub ops_per_sample: usize,
    /// Samples at most.
    pub samples: usize,
    /// Timed rounds.
    pub rounds: usize,
    /// How long an engine's checked run may take; a sample that was begun is ended.
    pub limit: Duration,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// The engines, in the order in which they were given.
    pub runs: Vec<SampledRun>,
    /// The names of the parts, in the order in which they came.
    pub parts: Vec<&'static str>,
    /// The part of each sampled allocation, by its place among the names.
    part_of: Vec<u8>,
    /// There were more operations than were to be run.
    pub more: bool,
}

/// One engine's run.
#[derive(Clone, Debug)]
pub struct SampledRun {
    /// The engine.
    pub entry: EngineEntry,
    /// Each sampled allocation's work, and its least time of any round, the clock's own cost taken off.
    pub costs: Vec<Cost>,
    /// The samples that it got through.
    pub samples: Vec<Sample>,
    /// Allocations that found no room, of all.
    pub failures: u64,
    /// It was ended before the operations were.
    pub out_of_time: bool,
}

/// One sample of one engine.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Its sampled allocations, by their place among the engine's costs.
    pub allocs: Range<usize>,
    /// All of its sampled operations, frees included.
    pub sampled: Stretch,
    /// What was set up and torn down meanwhile.
    pub around: Stretch,
    /// Live objects at its end.
    pub live: u64,
    /// Free blocks at its end.
    pub free_blocks: u64,
    /// Hash of its answers.
    answers: Fnv,
}

/// Operations that were run in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// How many.
    pub ops: u64,
    /// Their work.
    pub work: u64,
    /// Their time in nanoseconds, by round.
    pub ns: Vec<u64>,
}

/// What the allocations of a part cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Allocations.
    pub allocs: u64,
    /// Their work.
    pub work: u64,
    /// Their time in nanoseconds, each at the least of its rounds.
    pub ns: u64,
}

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
    #[must_use]
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut count, mut sum, mut least, mut greatest) = (0u64, 0.0, f64::INFINITY, 0f64);
        for value in values {
            (count, sum) = (count + 1, sum + value);
            (least, greatest) = (least.min(value), greatest.max(value));
        }
        (count > 0).then(|| Self { least, mean: sum / count as f64, greatest })
    }
}

impl Sampled {
    /// The samples that every engine got through.
    #[must_use]
    pub fn common(&self) -> usize {
        self.runs.iter().map(|run| run.samples.len()).min().unwrap_or(0)
    }

    /// Whether the engine ran all operations that there were.
    #[must_use]
    pub fn complete(&self, run: &SampledRun) -> bool {
        !self.more && !run.out_of_time
    }

    /// The costs of the engine's allocations of a part, in their order.
    #[must_use]
    pub fn costs_of_part(&self, run: &SampledRun, part: &str) -> Vec<Cost> {
        let part = self.parts.iter().position(|name| *name == part);
        let of_part = run.costs.iter().zip(&self.part_of).filter(|(_, of)| Some(usize::from(**of)) == part);
        of_part.map(|(cost, _)| *cost).collect()
    }

    /// What the allocations of each part cost the engine, in the order of the parts.
    #[must_use]
    pub fn totals(&self, run: &SampledRun) -> Vec<Total> {
        let mut totals = vec![Total::default(); self.parts.len()];
        for (cost, &part) in run.costs.iter().zip(&self.part_of) {
            if let Some(total) = totals.get_mut(usize::from(part)) {
                total.allocs += 1;
                total.work += u64::from(cost.work);
                total.ns += u64::from(cost.ns);
            }
        }
        totals
    }
}

impl SampledRun {
    /// The costs of a sample's allocations.
    #[must_use]
    pub fn costs_of(&self, sample: &Sample) -> &[Cost] {
        self.costs.get(sample.allocs.clone()).unwrap_or_default()
    }

    /// For each sample the spread of its allocations' work; `None` where there were none.
    pub fn work(&self) -> impl Iterator<Item = Option<Spread>> {
        self.samples
            .iter()
            .map(|sample| Spread::of(self.costs_of(sample).iter().map(|cost| cost.work.into())))
    }

    /// For each sample the spread of its allocations' times in nanoseconds.
    pub fn times_ns(&self) -> impl Iterator<Item = Option<Spread>> {
        self.samples.iter().map(|sample| Spread::of(self.costs_of(sample).iter().map(|cost| cost.ns.into())))
    }

    /// What the first samples took together: operations, work, and nanoseconds, of each sample the least of its
    /// rounds. First the sampled operations, then those around them.
    #[must_use]
    pub fn sums(&self, samples: usize) -> [Sum; 2] {
        let sum = |stretch: fn(&Sample) -> &Stretch| {
            self.samples.iter().take(samples).map(stretch).fold(Sum::default(), |sum, stretch| Sum {
                ops: sum.ops + stretch.ops,
                work: sum.work + stretch.work,
                ns: sum.ns + stretch.least_ns(),
            })
        };
        [sum(|sample| &sample.sampled), sum(|sample| &sample.around)]
    }
}

/// Operations, and what they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub ops: u64,
    /// Their work.
    pub work: u64,
    /// Their time in nanoseconds.
    pub ns: u64,
}

impl std::ops::Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { ops: self.ops + other.ops, work: self.work + other.work, ns: self.ns + other.ns }
    }
}

impl Stretch {
    /// The least of its rounds, in nanoseconds: what a machine does beside can only add.
    #[must_use]
    pub fn least_ns(&self) -> u64 {
        self.ns.iter().copied().min().unwrap_or(0)
    }
}
