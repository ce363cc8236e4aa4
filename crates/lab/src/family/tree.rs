//! Trees from ranges to entries, with the kernel's calls: the family `maple`, as far as operations are made for it.

use super::{Family, Judge, Life, OpKind, Outcome};
use crate::engine::maple::{EngineEntry, TreeFacts};
use freehold::units::{Tally, Work};
use freehold_rivals::maple::{ListRanges, Naive};
use freehold_trace::maple::{Answer, Driver, Op, RangeDriver, TreeFlags, Trees};

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tree;

impl Family for Tree {
    /// The last one is of what neither stores nor finds anything, and of whole trees.
    const KINDS: &'static [OpKind] = &[
        OpKind { op: "store", noun: "store" },
        OpKind { op: "erase", noun: "removal" },
        OpKind { op: "gap", noun: "search for a gap" },
        OpKind { op: "read", noun: "look-up or step" },
        OpKind { op: "other", noun: "other call" },
    ];
    engines_of!(TreeFacts, Op, TreeJudge);

    fn kind(op: &Op) -> usize {
        match op {
            Op::Store { .. }
            | Op::Insert { .. }
            | Op::StoreGap { .. }
            | Op::CursorStore { .. }
            | Op::StoreMany { .. }
            | Op::StoreTogether { .. } => 0,
            Op::Erase { .. } | Op::CursorErase { .. } | Op::EraseMany { .. } => 1,
            Op::AllocRange { .. } | Op::AllocCyclic { .. } | Op::EmptyArea { .. } | Op::AlignedGap { .. } => {
                2
            }
            Op::Load { .. }
            | Op::Find { .. }
            | Op::Next { .. }
            | Op::Prev { .. }
            | Op::CursorWalk
            | Op::CursorStep { .. }
            | Op::LoadMany { .. }
            | Op::StepMany { .. } => 3,
            Op::CursorSet { .. }
            | Op::CursorPause
            | Op::CursorReset
            | Op::UseTree { .. }
            | Op::Duplicate { .. }
            | Op::DestroyTree { .. } => 4,
        }
    }

    /// Objects are ranges that come one by one, and are named by whoever makes the operations.
    fn life(_: &Op) -> Life {
        Life::Neither
    }

    /// Nodes taken.
    fn work(tally: &Tally) -> u64 {
        tally.of(Work::NodeTaken)
    }

    fn outcome(answer: Answer) -> Outcome {
        match answer {
            Answer::Unsupported => Outcome::Unsupported,
            Answer::Done(Err(_))
            | Answer::Placed(Err(_))
            | Answer::Cycled(Err(_))
            | Answer::Gap(Err(_))
            | Answer::Stored { done: Err(_), .. } => Outcome::Refused,
            _ => Outcome::Done,
        }
    }
}

/// Does the same to the model, which keeps lists.
pub struct TreeJudge {
    model: Box<dyn Trees>,
}

impl Judge<Tree> for TreeJudge {
    fn new(entry: &EngineEntry, flags: &TreeFlags) -> Self {
        if entry.merges {
            Self { model: Box::new(RangeDriver::new(ListRanges::merging())) }
        } else {
            Self { model: Box::new(Driver::<Naive>::new(*flags)) }
        }
    }

    /// What an engine lacks, it has not done.
    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        if answer == Answer::Unsupported {
            return Ok(());
        }
        let (expected, _) = self.model.run_counted(op);
        if answer == expected { Ok(()) } else { Err(format!("{answer:?}, not {expected:?}")) }
    }

    fn live(&self) -> u64 {
        self.model.content(self.model.current(), false).0
    }

    fn check_state(&self, session: &dyn Trees) -> Result<(), String> {
        let tree = self.model.current();
        let (got, expected) = (session.content(tree, true), self.model.content(tree, true));
        if got == expected {
            Ok(())
        } else {
            Err(format!("it holds {} ranges or others than the {} of the model", got.0, expected.0))
        }
    }
}
