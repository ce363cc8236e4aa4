//! Objects that exist once per CPU: the family `percpu`.

mod checker;
mod rooms;

pub use checker::Checker as PercpuChecker;

use super::{ALLOC_AND_FREE, Entry, Family, Judge, Life, OpKind, Outcome};
use crate::engine::percpu::{ENGINES, EngineEntry, FLOOR, Scene, Session};
use crate::kind::Suite;
use crate::record::Key;
use checker::Checker;
use freehold::percpu::PAGE_BYTES;
use freehold::units::{Tally, Work};
use freehold_rivals::RivalWork;
use freehold_trace::percpu::{Answer, Op};

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percpu;

impl Family for Percpu {
    const SUITE: Suite = Suite::Percpu;
    const KINDS: &'static [OpKind] = ALLOC_AND_FREE;
    type Op = Op;
    type Answer = Answer;
    type Scene = Scene;
    type Session = dyn Session;
    type Entry = EngineEntry;
    type Judge = PercpuJudge;

    fn kind(op: &Op) -> usize {
        usize::from(op.is_free())
    }

    fn life(op: &Op) -> Life {
        match *op {
            Op::Alloc { object, size_bytes, .. } => Life::Begins(object, size_bytes),
            Op::Free { object } => Life::Ends(object),
        }
    }

    /// Chunks and blocks looked at, words of bits scanned, entries of area maps looked at, and integers moved.
    fn work(tally: &Tally) -> u64 {
        use RivalWork::{EntryProbed, EntryScanned, IntCopied, IntMoved};
        let words = tally.of(Work::BitScanned).div_ceil(u64::from(u64::BITS));
        let looked = [Work::ChunkVisited, Work::BlockVisited].map(|work| tally.of(work));
        let listed = [EntryScanned, EntryProbed, IntMoved, IntCopied].map(|work| work.of(tally));
        looked.into_iter().chain(listed).fold(words, u64::saturating_add)
    }

    fn outcome(answer: Answer) -> Outcome {
        match answer {
            Answer::At { .. } | Answer::Freed | Answer::NotLive => Outcome::Done,
            Answer::NoRoom => Outcome::Refused,
            Answer::Unsupported => Outcome::Unsupported,
        }
    }

    fn scene_key(scene: &Scene, key: Key) -> Key {
        key.param("unit_bytes", scene.config.unit_bytes)
    }
}

impl Entry<Percpu> for EngineEntry {
    const ALL: &'static [Self] = ENGINES;
    const OURS: &'static [&'static str] = &["bitmap"];
    const ESTIMATED: &'static [&'static str] = &["area-map"];
    const FLOOR: Option<Self> = Some(FLOOR);

    fn engine(&self) -> &'static str {
        self.engine
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn start(&self, scene: &Scene) -> Result<Box<dyn Session>, String> {
        (self.make)(&scene.config, scene.balances)
    }
}

/// Knows which objects are where.
#[derive(Clone, Debug)]
pub struct PercpuJudge {
    /// What is live, and where.
    pub checker: Checker,
    knows_pages: bool,
}

impl Judge<Percpu> for PercpuJudge {
    fn new(entry: &EngineEntry, scene: &Scene) -> Self {
        Self { checker: Checker::new(entry, &scene.config), knows_pages: entry.knows_pages }
    }

    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        self.checker.check(op, answer)
    }

    /// A request that can wait always fits: another chunk is made for it, if there is memory behind.
    fn wrongly_refused(&self, op: &Op, session: &dyn Session) -> Option<String> {
        let Op::Alloc { size_bytes, atomic, .. } = *op else { return None };
        if atomic && self.knows_pages {
            return None;
        }
        let needed = size_bytes.div_ceil(u64::from(PAGE_BYTES)) + 1;
        let left = session.pages_left();
        left.is_none_or(|left| left >= needed).then(|| match left {
            None => "a chunk could be made for it".to_owned(),
            Some(left) => format!("there is memory for {left} pages"),
        })
    }

    fn live(&self) -> u64 {
        self.checker.live()
    }

    fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        self.checker.check_state(session)
    }
}
