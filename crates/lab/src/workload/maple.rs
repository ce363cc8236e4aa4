//! The workloads of the maple family: maps of `n` ranges, and what is done to them.
//!
//! The ranges are those of the published figures: `[16 i, 16 i + 7]`, so that each is followed by a gap as large, or
//! `[16 i, 16 i + 15]`, without gaps.

use super::SplitMix;
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, GapRequest, MixStep, Steps};

/// From one range to the next.
const STRIDE: u64 = 16;
/// Operations of a round, at least.
const LEAST_OPS: usize = 1 << 14;
/// Operations of a round where the number is free, for large maps.
const MOST_OPS: usize = 1 << 17;
/// Ranges that searches for gaps pass in a phase at most, with a map that goes through all of them for each.
const MOST_PASSED: usize = 1 << 31;
/// Gaps that searches pass in a round where none but the last fits.
const MISALIGNED_PASSED: usize = 1 << 24;
/// One range of so many is missing where gaps are looked for.
const MISSING_ONE_IN: u64 = 64;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the list of cases describes them")]
pub enum Kind {
    Lookup,
    Iterate,
    IterateTwo,
    InsertSeq,
    InsertDense,
    InsertRandom,
    Erase,
    Overwrite,
    RangeStore,
    GapSearch,
    GapMisaligned,
    Dup,
    Mix,
    Footprint,
}

/// What is timed.
#[derive(Clone, Debug)]
pub enum Timed {
    /// Steps, by the name of the operation. On a map of its own each time if `fresh`, otherwise on one that stays.
    Steps {
        /// The steps, each timed by itself.
        phases: Vec<(&'static str, Steps)>,
        /// Whether each is on an empty map.
        fresh: bool,
    },
    /// Copies of the map.
    Copies(usize),
    /// Going through two maps so many times.
    Two(usize),
}

/// A workload of some size.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// What is done.
    pub kind: Kind,
    /// Its size.
    pub n: u32,
}

impl Workload {
    /// What the map holds before anything is timed.
    pub fn initial(&self) -> Steps {
        let mut random = SplitMix::new(u64::from(self.n));
        let n = u64::from(self.n);
        let mut slots: Vec<u64> = match self.kind {
            Kind::GapSearch => (0..n).filter(|_| random.uniform(MISSING_ONE_IN) > 0).collect(),
            Kind::Mix => (0..n).map(|slot| 2 * slot + random.uniform(2)).collect(),
            _ => (0..n).collect(),
        };
        match self.kind {
            Kind::InsertSeq | Kind::InsertDense | Kind::Footprint => {}
            _ => random.shuffle(&mut slots),
        }
        let last = if self.kind == Kind::InsertDense { STRIDE - 1 } else { 7 };
        inserted(slots, last)
    }

    /// Sizes that are measured whatever sizes are asked for.
    pub fn fixed_sizes(kind: Kind) -> Option<&'static [u32]> {
        (kind == Kind::Footprint).then_some(&[1, 2, 3, 4])
    }

    /// Whether each round leaves the ranges that the map held before, if it has one that stays.
    pub fn keeps_ranges(&self) -> bool {
        !matches!(self.kind, Kind::Overwrite | Kind::RangeStore | Kind::Mix)
    }

    /// What is timed in a round; the same in every call.
    pub fn round(&self, round: usize) -> Timed {
        let mut random = SplitMix::new((round as u64 + 1) << 32 | u64::from(self.n));
        let n = self.n as usize;
        let repeats = LEAST_OPS.div_ceil(n.max(1));
        let operations = (4 * n).clamp(LEAST_OPS, MOST_OPS);
        let fresh = matches!(self.kind, Kind::InsertSeq | Kind::InsertDense | Kind::InsertRandom);
        let phases = match self.kind {
            Kind::Footprint => Vec::new(),
            Kind::IterateTwo => return Timed::Two(repeats),
            Kind::Dup => return Timed::Copies(repeats),
            Kind::Iterate => vec![("iterate", Steps::Iterate(repeats))],
            Kind::InsertSeq | Kind::InsertDense => vec![("insert", self.initial()); repeats],
            Kind::InsertRandom => {
                (0..repeats).map(|_| ("insert", inserted(self.shuffled(&mut random), 7))).collect()
            }
            Kind::Erase => (0..repeats).flat_map(|_| self.half(&mut random)).collect(),
            Kind::GapMisaligned => vec![("aligned", self.misaligned(&mut random, operations))],
            Kind::GapSearch => self.searches(&mut random, operations.min(MOST_PASSED / n.max(1))),
            Kind::Lookup => {
                let index = |_| STRIDE * self.slot(&mut random) + random.uniform(8);
                vec![("lookup", Steps::Get((0..operations).map(index).collect()))]
            }
            Kind::Overwrite => {
                let store = |at| (entry(self.slot(&mut random), 7).0, number(at));
                vec![("store", Steps::Store((0..operations).map(store).collect()))]
            }
            Kind::RangeStore => {
                let store = |at| (self.place(&mut random), number(at));
                vec![("store", Steps::Store((0..operations).map(store).collect()))]
            }
            Kind::Mix => {
                vec![("mix", Steps::Mix((0..operations).map(|at| self.mixed(&mut random, at)).collect()))]
            }
        };
        Timed::Steps { phases, fresh }
    }

    fn slot(&self, random: &mut SplitMix) -> u64 {
        random.uniform(u64::from(self.n))
    }

    fn shuffled(&self, random: &mut SplitMix) -> Vec<u64> {
        let mut slots: Vec<u64> = (0..u64::from(self.n)).collect();
        random.shuffle(&mut slots);
        slots
    }

    /// Erases half of the ranges and inserts them again in another order.
    fn half(&self, random: &mut SplitMix) -> [(&'static str, Steps); 2] {
        let mut slots = self.shuffled(random);
        slots.truncate(slots.len().div_ceil(2));
        let erased = slots.iter().map(|slot| STRIDE * slot).collect();
        random.shuffle(&mut slots);
        [("erase", Steps::Erase(erased)), ("reinsert", inserted(slots, 7))]
    }

    /// 1 to 64 indexes anywhere.
    fn place(&self, random: &mut SplitMix) -> Span {
        let first = random.uniform(STRIDE * u64::from(self.n));
        Span::from_size(first, 1 + random.uniform(64)).unwrap_or(Span::ALL)
    }

    fn searches(&self, random: &mut SplitMix, operations: usize) -> Vec<(&'static str, Steps)> {
        let top = STRIDE * u64::from(self.n) - 1;
        let mut search = |end, size, align| {
            let at = random.uniform(top);
            let window = if end == End::Lowest { Span::new(at, top) } else { Span::new(0, at) };
            GapRequest { end, size, align, window: window.unwrap_or(Span::ALL) }
        };
        let mut sizes = SplitMix::new(u64::from(self.n));
        let mut phase = |end, size: &mut dyn FnMut(&mut SplitMix) -> u64, align| {
            Steps::Gap((0..operations / 2).map(|_| search(end, size(&mut sizes), align)).collect())
        };
        let any = &mut |sizes: &mut SplitMix| 1 + sizes.uniform(24);
        let aligned = Align::new(STRIDE).unwrap_or_default();
        vec![
            ("lowest", phase(End::Lowest, any, Align::ONE)),
            ("highest", phase(End::Highest, any, Align::ONE)),
            ("aligned", phase(End::Lowest, &mut |_| STRIDE, aligned)),
        ]
    }

    /// Searches that pass half of the map's gaps on average: fewer in a larger map.
    fn misaligned(&self, random: &mut SplitMix, operations: usize) -> Steps {
        let align = Align::new(STRIDE).unwrap_or_default();
        let top = STRIDE * (u64::from(self.n) + 1);
        let search = |_| {
            let window = Span::new(STRIDE * self.slot(random), top).unwrap_or(Span::ALL);
            GapRequest { end: End::Lowest, size: 8, align, window }
        };
        Steps::Gap((0..operations.min(MISALIGNED_PASSED / self.n as usize).max(16)).map(search).collect())
    }

    fn mixed(&self, random: &mut SplitMix, at: usize) -> MixStep {
        let slot = random.uniform(2 * u64::from(self.n));
        match random.uniform(10) {
            0 => MixStep::Store(entry(slot, 7).0, number(at)),
            1 => MixStep::Erase(STRIDE * slot),
            _ => MixStep::Get(STRIDE * slot + random.uniform(8)),
        }
    }
}

fn inserted(slots: Vec<u64>, last: u64) -> Steps {
    Steps::Insert(slots.into_iter().map(|slot| entry(slot, last)).collect())
}

/// The range of a slot, up to the index `last` of the slot, and its value.
fn entry(slot: u64, last: u64) -> (Span, u32) {
    let first = STRIDE * slot;
    (Span::new(first, first + last).unwrap_or(Span::ALL), number(slot as usize))
}

/// The value of the `at`th store; neighbours have different ones.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX - 1) + 1
}
