//! What is there before a case's body, operation by operation, and how it is taken away again.

use super::Kind;
use super::requests::{Draw, Pairs, aligned_alloc, guarded, pages, random_alloc};
use crate::workload::SplitMix;
use freehold_trace::kva::Op;

/// Areas kept before `long_busy_list`.
const LONG_BUSY_LIST: u32 = 15_000;
/// Junk areas freed before `full_fit`, for each doubling of the CPUs: 32 MiB of pages.
const FULL_FIT_HOLES: u32 = 8192;

/// A setup, its objects named from `first` on.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    first: u32,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Nothing,
    /// Objects that stay.
    Kept {
        count: u32,
        draw: Draw,
    },
    /// Twice as many objects, of which every other is freed, so that each leaves a hole of its own.
    Holes {
        count: u32,
        draw: Draw,
    },
    /// Objects, and twice as many times one of them freed and another allocated.
    Churned {
        count: u32,
        draw: Draw,
        pairs: Pairs,
    },
}

/// Names to free: `count` from `first` on, `step` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) count: u32,
    pub(super) step: u32,
    pub(super) first: u32,
}

impl Setup {
    pub(super) fn new(kind: Kind, n: u32, cpus: u32, first: u32) -> Self {
        let churned = |draw| State::Churned { count: n, draw, pairs: Pairs::new(first, n, draw) };
        let doublings = u32::BITS - cpus.leading_zeros();
        let state = match kind {
            Kind::FullFit => State::Holes {
                count: doublings.max(1) * FULL_FIT_HOLES,
                draw: |object, _| guarded(object, 1),
            },
            Kind::LongBusyList => State::Kept { count: LONG_BUSY_LIST, draw: |object, _| guarded(object, 1) },
            Kind::Holes => State::Holes { count: n, draw: |object, _| pages(object, 1) },
            Kind::Churn | Kind::Zone | Kind::Aligned2m | Kind::Burst => churned(random_alloc),
            Kind::Aligned => churned(aligned_alloc),
            _ => State::Nothing,
        };
        Self { first, state }
    }

    /// Objects that it names.
    pub(super) fn names(&self) -> u32 {
        match self.state {
            State::Nothing => 0,
            State::Kept { count, .. } | State::Churned { count, .. } => count,
            State::Holes { count, .. } => 2 * count,
        }
    }

    /// Operations that it is.
    pub(super) fn len(&self) -> u32 {
        match self.state {
            State::Nothing => 0,
            State::Kept { count, .. } => count,
            State::Holes { count, .. } => 3 * count,
            State::Churned { count, .. } => 5 * count,
        }
    }

    /// The operation after `at` others.
    pub(super) fn op(&mut self, at: u32, random: &mut SplitMix) -> Op {
        let names = self.names();
        match &mut self.state {
            State::Kept { draw, .. } | State::Holes { draw, .. } | State::Churned { draw, .. }
                if at < names =>
            {
                draw(self.first + at, random)
            }
            State::Churned { pairs, .. } => pairs.next_op(random),
            // Of each two the lower goes, so that the highest hole, too, ends at an object.
            _ => Op::Free { object: self.first + 2 * (at - names) },
        }
    }

    /// The frees that undo it. Of a setup that was not `finished` every name is freed.
    pub(super) fn undo(&self, finished: bool) -> Undo {
        match self.state {
            State::Holes { count, .. } if finished => Undo { count, step: 2, first: self.first + 1 },
            _ => Undo { count: self.names(), step: 1, first: self.first },
        }
    }
}
