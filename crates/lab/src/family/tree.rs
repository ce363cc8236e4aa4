//! Trees from ranges to entries, with the kernel's calls: the family `maple`, as far as operations are made for it.

use super::{Entry, Family, Judge, Life, OpKind, Outcome, Suite};
use crate::engine::maple::{ENGINES, EngineEntry, Trees};
use freehold::units::{Tally, Work};
use freehold_rivals::maple::{ListRanges, Naive};
use freehold_trace::maple::{Answer, Driver, Op, RangeDriver, TreeFlags};

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tree;

/// The last of the kinds of operations: whatever is not one of the others.
const KINDS: &[OpKind] = &[
    OpKind { op: "store", noun: "store" },
    OpKind { op: "erase", noun: "removal" },
    OpKind { op: "gap", noun: "search for a gap" },
    OpKind { op: "read", noun: "look-up or step" },
    OpKind { op: "other", noun: "other call" },
];

impl Family for Tree {
    const SUITE: Suite = Suite::Maple;
    const KINDS: &'static [OpKind] = KINDS;
    type Op = Op;
    type Answer = Answer;
    type Scene = TreeFlags;
    type Session = dyn Trees;
    type Entry = EngineEntry;
    type Judge = TreeJudge;

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

impl Entry<Tree> for EngineEntry {
    const ALL: &'static [Self] = ENGINES;
    const OURS: &'static [&'static str] = &["range-map", "range-map-any"];
    const ESTIMATED: &'static [&'static str] = &["std-btreemap", "rangemap", "nodit"];

    fn engine(&self) -> &'static str {
        self.engine
    }

    fn about(&self) -> &'static str {
        self.about
    }

    /// With the kernel's calls, if it has them; otherwise with those of a plain map.
    fn start(&self, flags: &TreeFlags) -> Result<Box<dyn Trees>, String> {
        match (self.trees, self.map) {
            (Some(make), _) => Ok(make(*flags)),
            (None, Some(make)) => Ok(make()),
            (None, None) => Err(format!("{} makes nothing", self.engine)),
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
        let mut expected = [Answer::default()];
        self.model.run(std::slice::from_ref(op), &mut expected);
        if [answer] == expected { Ok(()) } else { Err(format!("{answer:?}, not {:?}", expected[0])) }
    }

    /// A refusal is an answer, and the model refuses rightly.
    fn wrongly_refused(&self, _: &Op, _: &dyn Trees) -> Option<String> {
        None
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

#[cfg(test)]
mod tests {
    use super::*;
    use freehold_trace::maple::Value;

    /// Ranges of one value side by side, one of which is erased.
    fn judged(engine: &str) -> Result<(), String> {
        let entry = ENGINES.iter().find(|entry| entry.engine == engine).unwrap();
        let flags = TreeFlags { alloc: true, rcu: false };
        let (mut session, mut judge) = (entry.start(&flags)?, TreeJudge::new(entry, &flags));
        let store = |first, last| Op::Store { first, last, value: Value::Number(7) };
        for op in [store(0, 9), store(10, 19), store(30, 39), Op::Erase { index: 12 }] {
            let mut answer = [Answer::default()];
            session.run(&[op], &mut answer);
            judge.check(&op, answer[0])?;
            judge.check_state(&*session)?;
        }
        Ok(())
    }

    #[test]
    fn what_a_peer_means_by_neighbours_is_no_failure() {
        for entry in ENGINES {
            assert_eq!(judged(entry.engine), Ok(()), "{}", entry.engine);
        }
        let rangemap = ENGINES.iter().find(|entry| entry.merges).unwrap();
        let plain = EngineEntry { merges: false, ..*rangemap };
        let flags = TreeFlags { alloc: true, rcu: false };
        let (mut session, judge) = (plain.start(&flags).unwrap(), TreeJudge::new(&plain, &flags));
        let mut answers = [Answer::default(); 2];
        let store = |first, last| Op::Store { first, last, value: Value::Number(7) };
        session.run(&[store(0, 9), store(10, 19)], &mut answers);
        assert!(judge.check_state(&*session).is_err(), "by the kernel's rule it would be one");
    }
}
