//! Address ranges: the family `kva`.

mod checker;

pub use checker::Checker;

use super::{ALLOC_AND_FREE, Entry, Family, Judge, Life, OpKind, Outcome};
use crate::engine::{Compared, ENGINES, EngineEntry, FLOOR, Session, Takes, find_engines};
use crate::failure::Failure;
use crate::kind::Suite;
use freehold::units::{Align, Span, Tally};
use freehold_rivals::RivalWork;
use freehold_trace::kva::{Answer, Op};

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kva;

/// A space to manage.
#[derive(Clone, Debug)]
pub struct Space {
    /// The spans that are free at the start.
    pub layout: Vec<Span>,
    /// What sizes and addresses are multiples of.
    pub granule: Align,
}

impl Family for Kva {
    const SUITE: Suite = Suite::Kva;
    const KINDS: &'static [OpKind] = ALLOC_AND_FREE;
    type Op = Op;
    type Answer = Answer;
    type Scene = Space;
    type Session = dyn Session;
    type Entry = EngineEntry;
    type Judge = KvaJudge;

    fn kind(op: &Op) -> usize {
        usize::from(op.is_free())
    }

    fn life(op: &Op) -> Life {
        match op {
            Op::Alloc { object, size_bytes, .. } => Life::Begins(*object, *size_bytes),
            Op::Congruent { object, areas, .. } => {
                let sizes = areas.iter().map(|area| area.size_saturating());
                Life::Begins(*object, sizes.fold(0, u64::saturating_add))
            }
            Op::Free { object } => Life::Ends(*object),
        }
    }

    /// Nodes visited, changed or rotated, and list steps.
    fn work(tally: &Tally) -> u64 {
        tally.steps().saturating_add(RivalWork::ListStepped.of(tally))
    }

    fn outcome(answer: Answer) -> Outcome {
        match answer {
            Answer::At(_) | Answer::Freed | Answer::NotLive => Outcome::Done,
            Answer::NoRoom => Outcome::Refused,
            Answer::Unsupported => Outcome::Unsupported,
        }
    }

    fn engines(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
        find_engines(names, Compared::Always)
    }
}

impl Entry<Kva> for EngineEntry {
    const ALL: &'static [Self] = ENGINES;
    const OURS: &'static [&'static str] = &["btree", "rbtree"];
    const ESTIMATED: &'static [&'static str] = &[
        "gap-list",
        "splay",
        "btreemap-first-fit",
        "btreemap-best-fit",
        "rangemap",
        "vm-allocator",
        "buddy_system_allocator",
        "naive",
    ];
    const FLOOR: Option<Self> = Some(FLOOR);

    fn engine(&self) -> &'static str {
        self.engine
    }

    fn placement(&self) -> Option<&'static str> {
        self.placement
    }

    fn label(&self) -> String {
        Self::label(self)
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn start(&self, scene: &Space) -> Result<Box<dyn Session>, String> {
        (self.make)(&scene.layout, scene.granule)
    }

    fn repeats(&self, first: &[Answer], second: &[Answer]) -> bool {
        self.takes.repeats(first, second)
    }
}

/// Knows which addresses are taken.
#[derive(Clone, Debug)]
pub struct KvaJudge {
    checker: Checker,
    takes: Takes,
}

impl Judge<Kva> for KvaJudge {
    fn new(entry: &EngineEntry, scene: &Space) -> Self {
        Self { checker: Checker::new(&entry.takes.reach(&scene.layout)), takes: entry.takes }
    }

    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        self.checker.check(op, answer).map(drop)
    }

    fn wrongly_refused(&self, op: &Op, _: &dyn Session) -> Option<String> {
        // What room the kernel has, only the kernel knows.
        let room = if self.takes == Takes::KernelsChoice { None } else { self.checker.room_for(op) };
        room.map(|room| format!("it fits at {:#x}", room.first()))
    }

    fn live(&self) -> u64 {
        self.checker.live()
    }

    fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        let mut blocks = Vec::new();
        session.free_blocks(&mut |block| blocks.push(block));
        let in_full = !matches!(self.takes, Takes::Any | Takes::KernelsChoice);
        self.checker.check_free(&blocks, in_full)
    }
}
