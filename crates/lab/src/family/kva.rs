//! Address ranges: the family `kva`.

use super::{ALLOC_AND_FREE, Family, Judge, Life, OpKind, Outcome};
use crate::engine::{EngineEntry, KvaFacts, Takes};
use freehold::units::{Span, Tally};
use freehold_rivals::RivalWork;
use freehold_rivals::kva::Checker;
use freehold_trace::kva::{Answer, Op, Session, Space};

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kva;

impl Family for Kva {
    const KINDS: &'static [OpKind] = ALLOC_AND_FREE;
    engines_of!(KvaFacts, Op, KvaJudge);

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

    fn told(op: &Op) -> String {
        op.to_string()
    }

    fn outcome(answer: Answer) -> Outcome {
        match answer {
            Answer::At(_) | Answer::Freed | Answer::NotLive => Outcome::Done,
            Answer::NoRoom => Outcome::Refused,
            Answer::Unsupported => Outcome::Unsupported,
        }
    }
}

/// What any allocator must do, and beyond that what one that chooses as this engine does.
#[derive(Clone, Debug)]
pub struct KvaJudge {
    /// The live objects.
    pub checker: Checker,
    takes: Takes,
    /// It shows its free blocks.
    shows_blocks: bool,
    /// Requests that were served.
    served: u64,
    /// Requests that were refused though there was a place.
    missed: u64,
}

/// An engine that has missed so many places and served no request looks for none.
const MOST_MISSED: u64 = 64;

impl KvaJudge {
    /// Checks an answer as [`Judge::check`] does; the spans that were taken. A refusal of what fits is wrong of an engine that finds
    /// every place, and counted of one that may pass over some.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn placed(
        &mut self,
        op: &Op,
        answer: Answer,
        session: &(dyn Session + 'static),
    ) -> Result<Vec<Span>, String> {
        let spans = self.checker.check(op, answer)?;
        self.served += u64::from(!op.is_free() && !spans.is_empty());
        let finds_all = matches!(self.takes, Takes::Lowest | Takes::Highest | Takes::BestFit);
        // One that has served a request may pass over any place.
        if finds_all || self.served == 0 {
            match self.check_refusal(op, answer, session) {
                Err(_) if !finds_all => self.missed += 1,
                judged => judged?,
            }
        }
        Ok(spans)
    }
}

impl Judge<Kva> for KvaJudge {
    fn new(entry: &EngineEntry, scene: &Space) -> Self {
        let checker = Checker::of(&entry.takes.reach(&scene.layout));
        let shows_blocks = entry.outside.is_none();
        Self { checker, takes: entry.takes, shows_blocks, served: 0, missed: 0 }
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
        if self.served == 0 && self.missed >= MOST_MISSED {
            return Err(format!("all of {} requests were refused, though there was a place", self.missed));
        }
        let mut blocks = Vec::new();
        session.free_blocks(&mut |block| blocks.push(block));
        let in_full = self.shows_blocks && !matches!(self.takes, Takes::Any | Takes::KernelsChoice);
        self.checker.check_free(&blocks, in_full)
    }
}
