//! Families of engines, as the frame of the lab sees them: replay, inspect, stress and the report are written once,
//! for any family.
//!
//! ```text
//!   a family   operations, answers, engines      what `trace` and `engine` have of it
//!              Judge                             holds answers against what any engine of it must do
//!              names, kinds                      how it is told to people
//! ```
//!
//! What has recorded files says in `run` what is seen of a replay, and what has cases lists them in `workload`.

/// What a family has of its engines' facts, its operations and its judge.
macro_rules! engines_of {
    ($facts:ty, $op:ty, $judge:ty) => {
        type Op = $op;
        type Answer = <$facts as $crate::engine::Facts>::Answer;
        type Scene = <$facts as $crate::engine::Facts>::Scene;
        type Session = <$facts as $crate::engine::Facts>::Session;
        type Facts = $facts;
        type Judge = $judge;
    };
}

mod kva;
mod maple;
mod percpu;
mod tree;

pub use kva::{Kva, KvaJudge};
pub use maple::{Maple, MapleJudge};
pub use percpu::{Percpu, PercpuJudge};
pub use tree::{Tree, TreeJudge};

use crate::engine::{Compared, Facts, Listed};
use crate::failure::Failure;
use crate::kind::Suite;
use crate::record::Key;
use freehold::units::Tally;
use freehold_trace::Driven;
use std::fmt::Debug;

/// A kind of operation, which is counted and timed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpKind {
    /// Its name in rows and tables.
    pub op: &'static str,
    /// The same as a word.
    pub noun: &'static str,
}

/// The kinds of operations of allocators.
pub const ALLOC_AND_FREE: &[OpKind] =
    &[OpKind { op: "alloc", noun: "allocation" }, OpKind { op: "free", noun: "free" }];

/// What an operation does to objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// An object of so many bytes comes.
    Begins(u32, u64),
    /// It goes.
    Ends(u32),
    /// So many bytes come, and go by no operation that names them.
    Comes(u64),
    /// Nothing comes or goes.
    Neither,
}

/// What an answer says of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was refused.
    Refused,
    /// The engine has no such operation.
    Unsupported,
}

/// A family of engines.
pub trait Family: Copy + Debug + Default + 'static {
    /// Which it is.
    const SUITE: Suite = Self::Facts::SUITE;
    /// The kinds of its operations; the first is what is looked at most.
    const KINDS: &'static [OpKind];
    /// What its engines are asked.
    type Op: Clone + Debug;
    /// What they answer.
    type Answer: Copy + Debug + Default + PartialEq;
    /// What an engine is made for.
    type Scene: Clone + Debug;
    /// An engine at work.
    type Session: Driven<Self::Op, Self::Answer> + ?Sized;
    /// What is said of its engines.
    type Facts: Facts<Scene = Self::Scene, Session = Self::Session, Answer = Self::Answer>;
    /// What answers are held against.
    type Judge: Judge<Self>;

    /// Which of the [`Family::KINDS`] an operation is of.
    fn kind(op: &Self::Op) -> usize;

    /// What an operation does to objects.
    fn life(op: &Self::Op) -> Life;

    /// The work of an operation in one figure, whose growth is an engine's cost.
    fn work(tally: &Tally) -> u64;

    /// An operation in words.
    fn told(op: &Self::Op) -> String {
        format!("{op:?}")
    }

    /// What an answer says.
    fn outcome(answer: Self::Answer) -> Outcome;

    /// The engines of these names; without names those of every comparison.
    ///
    /// # Errors
    /// A name that is no engine's.
    fn engines(names: &[String]) -> Result<Vec<Listed<Self::Facts>>, Failure> {
        Listed::find(names, Compared::Always)
    }

    /// Adds what engines were made for.
    fn scene_key(scene: &Self::Scene, key: Key) -> Key {
        let _ = scene;
        key
    }
}

/// What is said of [`Facts::FLOOR`] wherever its figures stand.
pub const FLOOR_NOTE: &str = "`floor` does no work: its figures are the lab's own share of all others. It is not judged, and no rival.";

/// What any engine of a family must do: knows what is live, and no more.
pub trait Judge<F: Family>: Sized {
    /// Of a fresh engine.
    fn new(entry: &Listed<F::Facts>, scene: &F::Scene) -> Self;

    /// Checks an answer, and remembers what it means.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&mut self, op: &F::Op, answer: F::Answer) -> Result<(), String>;

    /// Why the refusal of a request is wrong, if it is; where a refusal is an answer, it is checked as such.
    fn wrongly_refused(&self, op: &F::Op, session: &F::Session) -> Option<String> {
        let _ = (op, session);
        None
    }

    /// Holds a refusal against what there is room for.
    ///
    /// # Errors
    /// The request should not have been refused, and why.
    fn check_refusal(&self, op: &F::Op, answer: F::Answer, session: &F::Session) -> Result<(), String> {
        let refused = F::outcome(answer) == Outcome::Refused;
        let reason = refused.then(|| self.wrongly_refused(op, session)).flatten();
        reason.map_or(Ok(()), |reason| Err(format!("the {} was refused, though {reason}", F::told(op))))
    }

    /// Live objects.
    fn live(&self) -> u64;

    /// Holds what the engine says of itself against what is live.
    ///
    /// # Errors
    /// What is wrong.
    fn check_state(&self, session: &F::Session) -> Result<(), String>;
}
