//! Address spaces of processes, kept in maps of ranges: the family `maple`, as far as recorded programs drive it.

use super::{Family, Judge, Life, OpKind, Outcome};
use crate::engine::vma::{EngineEntry, SpacesFacts};
use freehold::units::{Tally, Work};
use freehold_rivals::RivalWork;
use freehold_rivals::maple::ListRanges;
use freehold_trace::Drive;
use freehold_trace::vma::{Answer, Call, Caller, Kinds, Op, Session, Spaces};

/// The family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Maple;

impl Family for Maple {
    /// The last one is of calls that are few.
    const KINDS: &'static [OpKind] = &[
        OpKind { op: "mmap", noun: "mapping" },
        OpKind { op: "munmap", noun: "unmapping" },
        OpKind { op: "mprotect", noun: "change of protection" },
        OpKind { op: "madvise", noun: "advice" },
        OpKind { op: "gap-search", noun: "search for a gap" },
        OpKind { op: "store", noun: "store into a tree" },
        OpKind { op: "look-up", noun: "look-up in a tree, or a walk" },
        OpKind { op: "other", noun: "other call" },
    ];
    engines_of!(SpacesFacts, Op, MapleJudge);

    fn kind(op: &Op) -> usize {
        match op.call {
            Call::Map { by: Caller::Program | Caller::Kernel, .. } => 0,
            Call::Unmap { by: Caller::Program | Caller::Kernel, .. } => 1,
            Call::Protect { .. } => 2,
            Call::Advise { .. } => 3,
            Call::Search { .. } => 4,
            Call::Store { .. } => 5,
            Call::Load { .. } | Call::Find { .. } => 6,
            Call::Map { by: Caller::Break, .. }
            | Call::Unmap { by: Caller::Break, .. }
            | Call::Remap { .. }
            | Call::Fork { .. }
            | Call::Exec
            | Call::Destroy => 7,
        }
    }

    fn life(op: &Op) -> Life {
        match op.call {
            Call::Map { span, .. } | Call::Store { span, value: Some(_) } => {
                Life::Comes(span.size_saturating())
            }
            _ => Life::Neither,
        }
    }

    /// Areas looked at, and areas stored or removed.
    fn work(tally: &Tally) -> u64 {
        RivalWork::EntryScanned.of(tally).saturating_add(tally.of(Work::EntryStored))
    }

    /// Everything is done, as the recorded kernel did it.
    fn outcome(_: Answer) -> Outcome {
        Outcome::Done
    }
}

/// The same spaces as sorted lists of areas.
pub type MapleJudge = Spaces<ListRanges<u64>>;

impl Judge<Maple> for MapleJudge {
    fn new(_: &EngineEntry, kinds: &Kinds) -> Self {
        Self::new(kinds.clone())
    }

    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        let expected = self.run(op, &mut ());
        if answer == expected {
            Ok(())
        } else {
            Err(format!("{op}: {answer}, where a sorted list of areas says {expected}"))
        }
    }

    /// Areas.
    fn live(&self) -> u64 {
        self.footprint().areas
    }

    fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        if session.digest() == self.digest() {
            Ok(())
        } else {
            Err("other areas than a sorted list of them has".to_owned())
        }
    }
}
