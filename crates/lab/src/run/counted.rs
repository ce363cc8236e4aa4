//! The counted run: every answer checked, every operation's work noted, the state sampled on the way.

use super::plan::Stop;
use crate::engine::Listed;
use crate::family::{Judge, Outcome};
use crate::record::Counts;
use crate::run::Replayable;
use crate::stop;
use crate::workload::Workload;
use freehold::units::Work;
use freehold_trace::Driven;
use std::ops::Range;
use std::time::Instant;

/// Points in time at which a run without samples is looked at.
const BUCKETS: usize = 200;
/// Operations of the set-up until it is asked whether the run shall end.
const BATCH: usize = 1024;

/// What a run answered and did.
#[derive(Clone, Debug, Default)]
pub struct Counted<F: Replayable> {
    /// The answer to each measured operation.
    pub answers: Vec<F::Answer>,
    /// Operations that were refused.
    pub failures: u64,
    /// Work of each operation.
    pub works: Vec<u32>,
    /// Nodes that operations took, by kind; 0 for engines that do not tell.
    pub nodes_taken: Vec<u64>,
    /// The state over time: sample by sample, if there are several.
    pub buckets: Vec<Bucket<F>>,
    /// Bytes of the engine's own structures, at most.
    pub metadata_peak_bytes: usize,
    /// The samples that it got through.
    pub samples: Vec<Range<usize>>,
    /// It was ended before the operations were.
    pub out_of_time: bool,
    /// What the family saw beside.
    pub seen: F::Seen,
}

/// A stretch of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket<F: Replayable> {
    /// The operation it ends before.
    pub end: usize,
    /// Mean work of an operation of the first kind in it; 0 if there was none.
    pub work_mean: f64,
    /// Largest work of such an operation in it.
    pub work_max: u64,
    /// The state at its end.
    pub state: F::State,
}

/// Runs the workload once on a fresh engine. The engine that does no work is not judged.
pub(super) fn count_run<F: Replayable>(
    entry: &Listed<F::Facts>,
    workload: &Workload<F>,
) -> Result<Counted<F>, Stop> {
    let mut session = entry.start(&workload.scene).map_err(Stop::LeftOut)?;
    session.expect_objects(workload.objects);
    // A look at the state goes through all objects: it is not taken more often than an operation has one.
    let looks = if workload.ops.len() < workload.objects as usize { 1 } else { BUCKETS };
    let (nodes_taken, seen) = (vec![0; F::KINDS.len()], F::begin(workload, looks));
    let mut run = Counted::<F> { nodes_taken, seen, ..Counted::default() };
    let samples = workload.samples();
    if entry.is_floor() {
        run.answers = vec![F::Answer::default(); workload.ops.len()];
        session.run(&workload.setup, &mut vec![F::Answer::default(); workload.setup.len()]);
        session.run(&workload.ops, &mut run.answers);
        run.samples = samples;
        return Ok(run);
    }
    let mut judge: F::Judge = Judge::new(entry, &workload.scene);
    for (at, op) in workload.setup.iter().enumerate() {
        if at % BATCH == 0 {
            stop::check();
        }
        let (answer, _) = session.run_counted(op);
        if F::outcome(answer) == Outcome::Unsupported {
            session.validate().map_err(Stop::Wrong)?;
            return Err(Stop::LeftOut("it cannot place objects where they were".to_owned()));
        }
        let noted = F::note(&mut run.seen, &mut judge, &session, (op, None), answer);
        let wrong = |reason| Stop::Wrong(wrong::<F>(&session, format!("set-up operation {at}: {reason}")));
        noted.map_err(wrong)?;
    }
    run.metadata_peak_bytes = session.metadata_bytes();
    let (started, mut unsupported) = (Instant::now(), 0);
    for sample in &samples {
        let late = workload.cut.limit.is_some_and(|limit| started.elapsed() > limit);
        run.out_of_time = late && sample.start > 0;
        if run.out_of_time {
            break;
        }
        let stretch = if samples.len() > 1 { sample.len() } else { sample.len().div_ceil(looks) };
        for from in sample.clone().step_by(stretch.max(1)) {
            let ops = workload.ops.get(from..sample.end.min(from + stretch)).unwrap_or_default();
            unsupported +=
                run.stretch(&mut session, workload, &mut judge, (ops, from)).map_err(Stop::Wrong)?;
        }
        run.samples.push(sample.clone());
    }
    session.validate().and_then(|()| judge.check_state(&session)).map_err(Stop::Wrong)?;
    run.seen = F::end(run.seen, workload, &judge, &session, &run.buckets);
    match unsupported {
        0 => Ok(run),
        lacking => Err(Stop::LeftOut(format!("{lacking} operations that it does not have"))),
    }
}

/// What is wrong with an answer; before it how the engine ended, if it has none for that reason.
fn wrong<F: Replayable>(session: &F::Session, reason: String) -> String {
    session.validate().err().map_or(reason.clone(), |how| format!("{how}: {reason}"))
}

impl<F: Replayable> Counted<F> {
    /// The operations from `from` on, and the state behind them. How many the engine does not have.
    fn stretch(
        &mut self,
        session: &mut Box<F::Session>,
        workload: &Workload<F>,
        judge: &mut F::Judge,
        (ops, from): (&[F::Op], usize),
    ) -> Result<u64, String> {
        stop::check();
        let (mut works, mut unsupported) = (Counts::default(), 0);
        for (at, op) in (from..).zip(ops) {
            F::before(judge, session, op).map_err(|reason| format!("before operation {at}: {reason}"))?;
            let (answer, tally) = session.run_counted(op);
            if F::outcome(answer) == Outcome::Unsupported && unsupported == 0 {
                // One whose process has ended has no answers.
                session.validate()?;
            }
            let noted = F::note(&mut self.seen, judge, session, (op, Some(at)), answer);
            noted.map_err(|reason| wrong::<F>(session, format!("operation {at}: {reason}")))?;
            let (work, kind) = (F::work(&tally), F::kind(op));
            self.answers.push(answer);
            self.works.push(u32::try_from(work).unwrap_or(u32::MAX));
            match F::outcome(answer) {
                Outcome::Done => {}
                Outcome::Refused => self.failures += 1,
                Outcome::Unsupported => unsupported += 1,
            }
            if let Some(nodes) = self.nodes_taken.get_mut(kind) {
                *nodes += tally.of(Work::NodeTaken);
            }
            if kind == 0 {
                works.add(work);
            }
        }
        self.metadata_peak_bytes = self.metadata_peak_bytes.max(session.metadata_bytes());
        self.buckets.push(Bucket {
            end: from + ops.len(),
            work_mean: works.mean(),
            work_max: works.percentile(1000),
            state: F::state(workload, judge, session),
        });
        Ok(unsupported)
    }

    /// The state at the end of the run.
    pub fn last_state(&self) -> F::State {
        self.buckets.last().map(|bucket| bucket.state).unwrap_or_default()
    }

    /// Work of each of these operations that is of a kind.
    pub fn work_of(&self, ops: &[F::Op], kind: usize) -> Counts {
        let of_kind = ops.iter().zip(&self.works).filter(|(op, _)| F::kind(op) == kind);
        of_kind.map(|(_, &work)| work.into()).collect()
    }

    /// The largest that a figure of the state was.
    pub fn peak<T: Ord + Default>(&self, figure: impl Fn(&F::State) -> T) -> T {
        self.buckets.iter().map(|bucket| figure(&bucket.state)).max().unwrap_or_default()
    }

    /// The state when a figure of it was largest; `None` if that was never more than 0.
    pub fn fullest(&self, figure: impl Fn(&F::State) -> u64) -> Option<F::State> {
        let fullest = self.buckets.iter().map(|bucket| bucket.state).max_by_key(&figure);
        fullest.filter(|state| figure(state) > 0)
    }
}
