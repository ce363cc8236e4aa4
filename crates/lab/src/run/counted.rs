//! The counted run: every answer checked, every operation's work noted, the state sampled on the way.

use crate::engine::Driven;
use crate::family::{Entry, Outcome};
use crate::record::Counts;
use crate::run::{Replayable, Seen, State, Watch};
use crate::workload::Workload;
use freehold::units::{Tally, Work};

/// Points in time at which a run is sampled.
pub(super) const BUCKETS: usize = 200;

/// What a run answered and did.
#[derive(Clone, Debug)]
pub struct Counted<F: Replayable> {
    /// The answer to each measured operation.
    pub answers: Vec<F::Answer>,
    /// Operations that were refused.
    pub failures: u64,
    /// Operations that the engine does not have.
    pub unsupported: u64,
    /// Work of each operation, by kind.
    pub work: Vec<Counts>,
    /// Nodes that operations took, by kind; 0 for engines that do not tell.
    pub nodes_taken: Vec<u64>,
    /// The state over time.
    pub buckets: Vec<Bucket<F>>,
    /// Bytes of the engine's own structures, at most.
    pub metadata_peak_bytes: usize,
    /// What the family's watch saw.
    pub seen: Seen<F>,
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
    pub state: State<F>,
}

/// Runs the workload once on a fresh engine. `buckets` is into how many stretches it is cut. An engine that cannot
/// be set up, since it has no such requests, runs nothing: `None`.
///
/// # Errors
/// The engine cannot be made for this workload, or gives a wrong answer.
pub fn count_run<F: Replayable>(
    entry: &F::Entry,
    workload: &Workload<F>,
    buckets: usize,
) -> Result<Option<Counted<F>>, String> {
    let mut session = entry.start(&workload.scene)?;
    session.expect_objects(workload.objects);
    let mut watch = F::Watch::new(entry, workload, BUCKETS);
    for (at, op) in workload.setup.iter().enumerate() {
        let (answer, _) = session.run_counted(op);
        if F::outcome(answer) == Outcome::Unsupported {
            return Ok(None);
        }
        let noted = watch.note(&session, op, answer, None);
        noted.map_err(|reason| format!("set-up operation {at}: {reason}"))?;
    }
    let mut run = Run::<F> { metadata_peak_bytes: session.metadata_bytes(), ..Run::new(workload.ops.len()) };
    let stretch = workload.ops.len().div_ceil(buckets.max(1)).max(1);
    for (number, ops) in workload.ops.chunks(stretch).enumerate() {
        let mut works = Counts::default();
        for (offset, op) in ops.iter().enumerate() {
            let at = number * stretch + offset;
            let (answer, tally) = session.run_counted(op);
            let noted = watch.note(&session, op, answer, Some(at));
            noted.map_err(|reason| format!("operation {at}: {reason}"))?;
            run.note(op, answer, &tally, &mut works);
        }
        run.metadata_peak_bytes = run.metadata_peak_bytes.max(session.metadata_bytes());
        run.buckets.push(Bucket {
            end: number * stretch + ops.len(),
            work_mean: works.mean(),
            work_max: works.percentile(1000),
            state: watch.state(&session),
        });
    }
    session.validate()?;
    let seen = watch.finish(&session, &run.buckets);
    let Run { answers, failures, unsupported, work, nodes_taken, buckets, metadata_peak_bytes } = run;
    Ok(Some(Counted {
        answers,
        failures,
        unsupported,
        work,
        nodes_taken,
        buckets,
        metadata_peak_bytes,
        seen,
    }))
}

/// A run on its way.
struct Run<F: Replayable> {
    answers: Vec<F::Answer>,
    failures: u64,
    unsupported: u64,
    work: Vec<Counts>,
    nodes_taken: Vec<u64>,
    buckets: Vec<Bucket<F>>,
    metadata_peak_bytes: usize,
}

impl<F: Replayable> Run<F> {
    fn new(operations: usize) -> Self {
        Self {
            answers: Vec::with_capacity(operations),
            failures: 0,
            unsupported: 0,
            work: vec![Counts::default(); F::KINDS.len()],
            nodes_taken: vec![0; F::KINDS.len()],
            buckets: Vec::new(),
            metadata_peak_bytes: 0,
        }
    }

    fn note(&mut self, op: &F::Op, answer: F::Answer, tally: &Tally, works: &mut Counts) {
        let steps = F::work(tally);
        self.answers.push(answer);
        match F::outcome(answer) {
            Outcome::Done => {}
            Outcome::Refused => self.failures += 1,
            Outcome::Unsupported => self.unsupported += 1,
        }
        let kind = F::kind(op);
        if let Some(work) = self.work.get_mut(kind) {
            work.add(steps);
        }
        if let Some(nodes) = self.nodes_taken.get_mut(kind) {
            *nodes += tally.of(Work::NodeTaken);
        }
        if kind == 0 {
            works.add(steps);
        }
    }
}

impl<F: Replayable> Counted<F> {
    /// The state at the end of the run.
    #[must_use]
    pub fn last_state(&self) -> State<F> {
        self.buckets.last().map(|bucket| bucket.state).unwrap_or_default()
    }

    /// Work of each operation of a kind.
    #[must_use]
    pub fn work_of(&self, kind: usize) -> Counts {
        self.work.get(kind).cloned().unwrap_or_default()
    }
}
