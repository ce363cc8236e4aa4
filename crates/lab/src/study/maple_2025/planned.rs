//! The address spaces of recorded programs on our trees, every store planned: the nodes that each call asks for.

use super::ledger::Ledger;
use crate::engine::maple::PlannedRanges;
use crate::family::Maple;
use crate::workload::Workload;
use freehold_trace::Drive;
use freehold_trace::vma::{Fault, Footprint, Session, Spaces};
use std::collections::BTreeMap;

/// Number of points in a plot over time.
const POINTS: usize = 240;

/// The stores of all calls of one name.
#[derive(Clone, Debug, Default)]
pub(super) struct OfCall {
    pub(super) calls: u64,
    pub(super) ledger: Ledger,
}

/// The totals up to an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub(super) op: usize,
    /// Nodes asked for by each planner so far.
    pub(super) requested: [u64; 3],
    /// The memory of the spaces.
    pub(super) footprint: Footprint,
}

/// A recorded program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) workload: Workload<Maple>,
    pub(super) ledger: Ledger,
    pub(super) by_call: BTreeMap<&'static str, OfCall>,
    /// Differences from the recording.
    pub(super) faults: BTreeMap<Fault, u64>,
    pub(super) points: Vec<Point>,
    /// The number of nodes taken.
    pub(super) taken: u64,
}

impl Program {
    /// Runs a workload.
    pub(super) fn of(workload: Workload<Maple>) -> Self {
        let mut spaces = Spaces::<PlannedRanges>::new(workload.scene.clone());
        let (mut ledger, mut by_call) = (Ledger::default(), BTreeMap::<_, OfCall>::new());
        let (mut faults, mut points) = (BTreeMap::new(), Vec::new());
        let stretch = workload.ops.len().div_ceil(POINTS).max(1);
        for (at, op) in workload.ops.iter().enumerate() {
            let answer = spaces.run(op, &mut ());
            if let Some(fault) = answer.fault {
                *faults.entry(fault).or_default() += 1;
            }
            let call = by_call.entry(op.name()).or_default();
            call.calls += 1;
            if let Some(space) = spaces.space_mut(op.space) {
                for facts in space.areas_mut().take_committed() {
                    ledger.note(&facts, 1);
                    call.ledger.note(&facts, 1);
                }
            }
            if (at + 1).is_multiple_of(stretch) || at + 1 == workload.ops.len() {
                points.push(Point { op: at, requested: ledger.totals(), footprint: spaces.footprint() });
            }
        }
        let taken = spaces.footprint().nodes.taken;
        Self { workload, ledger, by_call, faults, points, taken }
    }
}
