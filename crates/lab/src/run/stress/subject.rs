//! An engine under stress: one repeat of a case at a time, every answer checked, on one engine for all cases.
//!
//! ```text
//!   body, in batches   0    1        2           3    4    5    6    7    0    1 ...
//!                      loop counted  one by one  loop loop loop loop loop loop counted
//! ```
//!
//! Most batches are timed as a whole; of each eight, one is run operation by operation to count its work, and one to
//! time each. Answers are checked after a batch, outside of what is timed.

use super::outcome::{Ended, Repeat};
use crate::engine::Listed;
use crate::family::{Judge, Outcome};
use crate::run::clock;
use crate::workload::suite::{Case, Phase, Suited};
use freehold::units::Tally;
use freehold_trace::Driven;
use std::time::{Duration, Instant};

/// Operations of a batch of setup or teardown.
const BATCH: usize = 256;
/// Operations of a batch of the body, unless the body is too short for that.
const BODY_BATCH: usize = 1024;
/// A body has at least so many batches, if it has so many loops.
const BODY_BATCHES: u64 = 32;
/// Each so many batches of the body, one is counted and one timed operation by operation.
const ROTATION: usize = 8;
/// Of the time of a repeat, a body has one part in so many even if the setup took longer than it should.
const BODY_PART: u32 = 4;
/// The engine validates itself after so many operations, or so many times its live objects if that is more, so that
/// looking at all of them costs little beside the operations.
const VALIDATE_OPS: u64 = 65_536;
const VALIDATE_PER_LIVE: u64 = 8;

/// What is noted of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    Nothing,
    Time,
    Work,
    Each,
}

/// An engine, and what its answers mean; those of the engine that does no work mean nothing.
pub(super) struct Subject<F: Suited> {
    entry: Listed<F::Facts>,
    scene: F::Scene,
    session: Box<F::Session>,
    judge: F::Judge,
    clock_ns: u64,
    since_validated: u64,
    answers: Vec<F::Answer>,
    tallies: Vec<Tally>,
    took_ns: Vec<u64>,
}

impl<F: Suited> Subject<F> {
    /// A fresh engine.
    pub(super) fn new(entry: &Listed<F::Facts>, scene: &F::Scene) -> Result<Self, String> {
        Ok(Self {
            entry: *entry,
            scene: scene.clone(),
            session: entry.start(scene)?,
            judge: F::Judge::new(entry, scene),
            clock_ns: clock::cost_ns(),
            since_validated: 0,
            answers: Vec::new(),
            tallies: Vec::new(),
            took_ns: Vec::new(),
        })
    }

    /// Runs the case to its end, or until it goes wrong or out of time: a setup that takes longer than `limit` is
    /// given up, a body that does ends, after one batch at the earliest. The `nth` repeat starts that far in the
    /// rotation of what is noted. The engine is empty afterwards, and a fresh one if an answer was wrong.
    pub(super) fn repeat(
        &mut self,
        mut case: Case<F>,
        nth: usize,
        loops: u64,
        limit: Option<Duration>,
    ) -> Repeat {
        let mut repeat = Repeat::default();
        let ended = self.run(&mut case, nth, loops, limit, &mut repeat);
        repeat.ended = ended.unwrap_or_else(Ended::Wrong);
        if matches!(repeat.ended, Ended::Wrong(_))
            && let Ok(fresh) = Self::new(&self.entry, &self.scene)
        {
            *self = fresh;
        }
        repeat
    }

    fn run(
        &mut self,
        case: &mut Case<F>,
        nth: usize,
        loops: u64,
        limit: Option<Duration>,
        repeat: &mut Repeat,
    ) -> Result<Ended, String> {
        self.session.expect_objects(case.objects());
        let mut ended = Ended::Done;
        let body_batch = usize::try_from(2 * loops / BODY_BATCHES).unwrap_or(BODY_BATCH).clamp(1, BODY_BATCH);
        let (mut at, mut phase) = (nth, case.phase());
        let mut until = limit.map(|limit| Instant::now() + limit);
        let (mut ops, mut batches) = (Vec::new(), 0);
        while let Some(now) = case.phase() {
            if phase != Some(now) {
                self.validate()?;
                phase = Some(now);
                if now == Phase::Body {
                    until = until.max(limit.map(|limit| Instant::now() + limit / BODY_PART));
                }
            }
            if !F::befall(case.info().kind, batches, &mut self.session) {
                ended = Ended::Lacks;
                break;
            }
            batches += 1;
            ops.clear();
            let body = now == Phase::Body;
            let Some(batch) = case.next_batch(&mut ops, if body { body_batch } else { BATCH }) else { break };
            let noted = match at % ROTATION {
                _ if !body => Noted::Nothing,
                1 => Noted::Work,
                2 => Noted::Each,
                _ => Noted::Time,
            };
            at += usize::from(body);
            let took = self.play(&ops, noted);
            let lacks = self.check(&ops, repeat).map_err(|reason| format!("{now:?}: {reason}"))?;
            if body {
                repeat.note::<F>(&ops, batch.loops, took, &self.tallies, &self.took_ns);
            }
            let late = until.is_some_and(|until| Instant::now() > until);
            if lacks {
                ended = Ended::Lacks;
                case.stop();
            } else if late && now != Phase::Teardown && case.phase() == Some(now) {
                ended = Ended::OutOfTime(now);
                case.stop();
            }
        }
        F::relieve(&mut self.session);
        self.validate()?;
        match self.judge.live() {
            0 => Ok(ended),
            live => Err(format!("{live} objects are live after the teardown")),
        }
    }

    /// Runs a batch; how long it took, if that was noted.
    fn play(&mut self, ops: &[F::Op], noted: Noted) -> Option<Duration> {
        self.answers.clear();
        self.answers.resize(ops.len(), F::Answer::default());
        self.tallies.clear();
        self.took_ns.clear();
        match noted {
            Noted::Nothing | Noted::Time => {
                let took = self.session.run_clocked(ops, &mut self.answers);
                return (noted == Noted::Time).then(|| Duration::from_nanos(took));
            }
            Noted::Work => {
                for (op, answer) in ops.iter().zip(&mut self.answers) {
                    let tally;
                    (*answer, tally) = self.session.run_counted(op);
                    self.tallies.push(tally);
                }
            }
            Noted::Each => {
                self.took_ns.resize(ops.len(), 0);
                self.session.run_timed(ops, &mut self.answers, &mut self.took_ns);
                self.took_ns.iter_mut().for_each(|took| *took = took.saturating_sub(self.clock_ns));
            }
        }
        None
    }

    /// Checks the answers to a batch; whether the engine lacks a request of it.
    fn check(&mut self, ops: &[F::Op], repeat: &mut Repeat) -> Result<bool, String> {
        if self.entry.is_floor() {
            return Ok(false);
        }
        if self.entry.outside.is_some() {
            // One whose process has ended has no answers.
            self.session.validate()?;
        }
        let mut lacks = false;
        for (op, &answer) in ops.iter().zip(&self.answers) {
            self.judge.check(op, answer).map_err(|reason| format!("{}: {reason}", F::told(op)))?;
            match F::outcome(answer) {
                Outcome::Done => {}
                Outcome::Refused => {
                    let reason = self.judge.wrongly_refused(op, &self.session);
                    let told = |reason| format!("the {} was refused, though {reason}", F::told(op));
                    repeat.refused(reason.map(told));
                }
                Outcome::Unsupported => lacks = true,
            }
        }
        self.since_validated += ops.len() as u64;
        if self.since_validated >= VALIDATE_OPS.max(VALIDATE_PER_LIVE * self.judge.live()) {
            self.validate()?;
        }
        Ok(lacks)
    }

    /// Looks at everything: the engine's own invariants, and what it says of itself against what is live.
    fn validate(&mut self) -> Result<(), String> {
        self.since_validated = 0;
        if self.entry.is_floor() {
            return Ok(());
        }
        self.session.validate()?;
        self.judge.check_state(&self.session)
    }
}
