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

mod kva;
mod maple;
mod percpu;
mod tree;

pub use kva::{Checker, Kva, KvaJudge, Space};
pub use maple::{Maple, MapleJudge};
pub use percpu::{Percpu, PercpuChecker, PercpuJudge};
pub use tree::{Tree, TreeJudge};

use crate::engine::Driven;
use crate::failure::Failure;
use crate::kind::Suite;
use crate::record::{Key, Origin};
use freehold::units::Tally;
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
    const SUITE: Suite;
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
    /// An engine of its list.
    type Entry: Entry<Self>;
    /// What answers are held against.
    type Judge: Judge<Self>;

    /// Which of the [`Family::KINDS`] an operation is of.
    fn kind(op: &Self::Op) -> usize;

    /// What an operation does to objects.
    fn life(op: &Self::Op) -> Life;

    /// The work of an operation in one figure, whose growth is an engine's cost.
    fn work(tally: &Tally) -> u64;

    /// What an answer says.
    fn outcome(answer: Self::Answer) -> Outcome;

    /// The engines of these names, in the order of the list; without names those of every comparison.
    ///
    /// # Errors
    /// A name that is no engine's.
    fn engines(names: &[String]) -> Result<Vec<Self::Entry>, Failure> {
        let all = Self::Entry::ALL;
        if let Some(unknown) = names.iter().find(|name| all.iter().all(|entry| entry.engine() != **name)) {
            let all: Vec<&str> = all.iter().map(Entry::engine).collect();
            return Err(Failure::Usage(format!("no engine {unknown:?}; there are {}", all.join(", "))));
        }
        let wanted =
            |entry: &&Self::Entry| names.is_empty() || names.iter().any(|name| entry.engine() == name);
        Ok(all.iter().filter(wanted).copied().collect())
    }

    /// Adds what engines were made for.
    fn scene_key(scene: &Self::Scene, key: Key) -> Key {
        let _ = scene;
        key
    }
}

/// What is said of [`Entry::FLOOR`] wherever its figures stand.
pub const FLOOR_NOTE: &str = "`floor` does no work: its figures are the lab's own share of all others. It is not judged, and no rival.";

/// An engine of a family's list.
pub trait Entry<F: Family>: Copy + Debug + 'static {
    /// Every engine of the family; the first is the one that users get, and what ratios are to.
    const ALL: &'static [Self];

    /// The engine that does no work. It is not in [`Entry::ALL`], so that it is neither judged nor compared: only
    /// tables of `replay` and `bench` show it, beneath the others.
    const FLOOR: Option<Self> = None;

    /// Engines that are ours: no rivals of the default one.
    const OURS: &'static [&'static str];

    /// Engines whose memory cannot be told and is reckoned from what they hold.
    const ESTIMATED: &'static [&'static str] = &[];

    /// Where figures of its memory are from.
    fn memory(&self) -> Origin {
        if Self::ESTIMATED.contains(&self.engine()) { Origin::Estimated } else { Origin::Measured }
    }

    /// Its name.
    fn engine(&self) -> &'static str;

    /// Its placement, where it has several.
    fn placement(&self) -> Option<&'static str> {
        None
    }

    /// Name and placement, as users write them.
    fn label(&self) -> String {
        self.engine().to_owned()
    }

    /// What it is, in a line.
    fn about(&self) -> &'static str;

    /// Whether it is the one that users get.
    fn is_default(&self) -> bool {
        Self::ALL.first().is_some_and(|first| first.label() == self.label())
    }

    /// Whether it is the one that does no work.
    fn is_floor(&self) -> bool {
        Self::FLOOR.is_some_and(|floor| floor.label() == self.label())
    }

    /// Makes one.
    ///
    /// # Errors
    /// Why it cannot be made for that scene.
    fn start(&self, scene: &F::Scene) -> Result<Box<F::Session>, String>;

    /// Whether two fresh engines may give these answers to the same operations.
    fn repeats(&self, first: &[F::Answer], second: &[F::Answer]) -> bool {
        first == second
    }

    /// A workload's key on it.
    fn key(&self, workload: &str) -> Key {
        let key = Key::new(F::SUITE.name(), workload).engine(self.engine());
        Key {
            default: self.is_default(),
            ours: !self.is_default() && Self::OURS.contains(&self.engine()),
            ..key.param_if("placement", self.placement())
        }
    }
}

/// What any engine of a family must do: knows what is live, and no more.
pub trait Judge<F: Family>: Sized {
    /// Of a fresh engine.
    fn new(entry: &F::Entry, scene: &F::Scene) -> Self;

    /// Checks an answer, and remembers what it means.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&mut self, op: &F::Op, answer: F::Answer) -> Result<(), String>;

    /// Why the refusal of a request is wrong, if it is.
    fn wrongly_refused(&self, op: &F::Op, session: &F::Session) -> Option<String>;

    /// Live objects.
    fn live(&self) -> u64;

    /// Holds what the engine says of itself against what is live.
    ///
    /// # Errors
    /// What is wrong.
    fn check_state(&self, session: &F::Session) -> Result<(), String>;
}
