//! What a recorded program's calls meet in its address spaces, and whether that is what the kernel met.

use crate::family::Maple;
use crate::record::Metric;
use crate::workload::Workload;
use freehold::units::{Tally, Work};
use freehold_rivals::maple::ListRanges;
use freehold_trace::Drive;
use freehold_trace::vma::{Answer, AreaMap, Fault, Op, Spaces};
use std::collections::BTreeMap;

/// What calls of one name did: calls, areas that they met, calls that met several, ranges that they stored or emptied, and calls that
/// stored nothing.
pub type CallCounts = [(Metric, u64); 5];

/// Nothing yet.
const NOTHING: CallCounts =
    [(Metric::Count, 0), (Metric::Met, 0), (Metric::MetSeveral, 0), (Metric::Stores, 0), (Metric::Idle, 0)];

/// What all calls did, on areas in a sorted list.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// By name.
    pub by_name: BTreeMap<&'static str, CallCounts>,
    /// What was not as it was when it was recorded, by name.
    pub faults: BTreeMap<(&'static str, Fault), u64>,
    /// Of each space its operations and the most areas that it had.
    pub spaces: BTreeMap<u32, (u64, u64)>,
}

impl Calls {
    /// Of a workload.
    pub fn of(workload: &Workload<Maple>) -> Self {
        let mut calls = Self::default();
        let mut spaces = Spaces::<ListRanges<u64>>::new(workload.scene.clone());
        for op in &workload.ops {
            let mut tally = Tally::default();
            let answer = spaces.run(op, &mut tally);
            calls.note(op, answer, &tally);
            let areas = spaces.space(op.space).map_or(0, |space| space.areas().areas());
            let space = calls.spaces.entry(op.space).or_default();
            *space = (space.0 + 1, space.1.max(areas));
        }
        calls
    }

    fn note(&mut self, op: &Op, answer: Answer, tally: &Tally) {
        let name = op.name();
        let (stored, met) = (tally.of(Work::EntryStored), u64::from(answer.met));
        let more = [1, met, u64::from(met > 1), stored, u64::from(stored == 0)];
        let counts = self.by_name.entry(name).or_insert(NOTHING);
        counts.iter_mut().zip(more).for_each(|((_, count), more)| *count += more);
        if let Some(fault) = answer.fault {
            *self.faults.entry((name, fault)).or_default() += 1;
        }
    }
}
