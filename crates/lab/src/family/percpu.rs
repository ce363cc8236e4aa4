//! Objects that exist once per CPU: the family `percpu`.

use super::{ALLOC_AND_FREE, Family, Judge, Life, OpKind, Outcome};
use crate::engine::percpu::{EngineEntry, PercpuFacts, Scene};
use crate::record::{Field, Key};
use freehold::units::{Tally, Work};
use freehold_rivals::RivalWork;
pub use freehold_rivals::percpu::Checker as PercpuJudge;
use freehold_rivals::percpu::Units;
use freehold_trace::percpu::{Answer, Op, Session};

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percpu;

impl Family for Percpu {
    const KINDS: &'static [OpKind] = ALLOC_AND_FREE;
    engines_of!(PercpuFacts, Op, PercpuJudge);

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

    fn told(op: &Op) -> String {
        op.to_string()
    }

    fn outcome(answer: Answer) -> Outcome {
        match answer {
            Answer::At { .. } | Answer::Freed | Answer::NotLive => Outcome::Done,
            Answer::NoRoom => Outcome::Refused,
            Answer::Unsupported => Outcome::Unsupported,
        }
    }

    fn scene_key(scene: &Scene, key: Key) -> Key {
        key.param(Field::UnitBytes, scene.config.unit_bytes)
    }
}

/// The default engine misses no place.
impl Judge<Percpu> for PercpuJudge {
    fn new(entry: &EngineEntry, scene: &Scene) -> Self {
        let (bytes, grain_bytes) = (scene.config.unit_bytes.into(), entry.grain_bytes);
        Self::of(Units { bytes, grain_bytes, knows_pages: entry.knows_pages }, entry.is_default())
    }

    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        self.check(op, answer)
    }

    fn wrongly_refused(&self, op: &Op, session: &dyn Session) -> Option<String> {
        self.wrongly_refused(op, session)
    }

    fn live(&self) -> u64 {
        self.live()
    }

    fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        self.check_state(session)
    }
}
