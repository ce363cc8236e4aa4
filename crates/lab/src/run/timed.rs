//! The timed runs: each operation by itself for the spread, the whole run in one go for the mean.

use super::{Counted, Replayable, clock, median};
use crate::engine::{Facts, Listed};
use crate::family::Family;
use crate::record::{Counts, singles};
use crate::stop;
use crate::workload::Workload;
use freehold_trace::Driven;

/// The times of an engine over all rounds.
#[derive(Clone, Debug, Default)]
pub struct Timed {
    /// Operations one by one, by kind.
    pub kinds: Vec<OpTimes>,
    /// Nanoseconds per operation of each whole run.
    pub loop_ns: Vec<f64>,
    /// The least time that each operation took in any round.
    pub least_ns: Vec<u64>,
    /// Nanoseconds of each sample in one go, those of its sampled operations and of those around them, each the least of
    /// its rounds: what a machine does beside can only add.
    pub samples_ns: Vec<[u64; 2]>,
}

/// Times of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct OpTimes {
    /// Every time of every round, in nanoseconds, the clock's own cost taken off.
    pub all_ns: Counts,
    /// The percentiles of each round.
    pub rounds_ns: Vec<[u64; 3]>,
}

/// The engines of a round: one that runs operation by operation, one that runs in one go, and how long that took.
pub(super) struct Sessions<F: Family> {
    single: Option<Box<F::Session>>,
    whole: Option<Box<F::Session>>,
    spent_ns: u64,
}

impl<F: Family> Default for Sessions<F> {
    fn default() -> Self {
        Self { single: None, whole: None, spent_ns: 0 }
    }
}

impl Timed {
    /// Median over rounds of the whole run's time per operation.
    pub fn loop_median_ns(&self) -> f64 {
        median(&self.loop_ns)
    }

    /// A sample, if the engine got so far: operation by operation, then in one go, each on an engine of its own, a fresh one
    /// for the first sample, whose answers must be those that were checked.
    pub(super) fn sample<F: Replayable>(
        &mut self,
        entry: &Listed<F::Facts>,
        workload: &Workload<F>,
        counted: &Counted<F>,
        number: usize,
        sessions: &mut Sessions<F>,
    ) -> Result<(), String> {
        stop::check();
        let Some(sample) = counted.samples.get(number).cloned() else { return Ok(()) };
        let is_last = number + 1 == counted.samples.len();
        let expected = counted.answers.get(sample.clone()).unwrap_or_default();
        let check = |answers: &[F::Answer]| {
            let same = entry.repeats(expected, answers);
            if same { Ok(()) } else { Err("another answer than in the checked run".to_owned()) }
        };
        let alive = |session: &F::Session| if entry.outside.is_some() { session.validate() } else { Ok(()) };
        let mut answers = vec![F::Answer::default(); sample.len()];
        let mut took = vec![0; sample.len()];
        let single = ready(&mut sessions.single, number, entry, workload)?;
        let mut rest = (answers.as_mut_slice(), took.as_mut_slice());
        for (ops, _) in workload.stretches(sample.clone()) {
            let (answers, took) = (rest.0.split_off_mut(..ops.len()), rest.1.split_off_mut(..ops.len()));
            if let (Some(answers), Some(took)) = (answers, took) {
                single.run_timed(ops, answers, took);
            }
        }
        alive(single)?;
        check(&answers)?;
        if is_last {
            sessions.single = None;
        }
        let cost = clock::cost_ns();
        took.iter_mut().for_each(|took| *took = took.saturating_sub(cost));
        self.note::<F>(workload.ops.get(sample.clone()).unwrap_or_default(), &took, sample.start);
        answers.fill(F::Answer::default());
        let whole = ready(&mut sessions.whole, number, entry, workload)?;
        let mut rest = answers.as_mut_slice();
        let mut spent = [0; 2];
        for (ops, around) in workload.stretches(sample.clone()) {
            let Some(answers) = rest.split_off_mut(..ops.len()) else { continue };
            spent[usize::from(around)] += whole.run_clocked(ops, answers);
        }
        alive(whole)?;
        check(&answers)?;
        match self.samples_ns.get_mut(number) {
            Some(least) => (0..2).for_each(|at| least[at] = least[at].min(spent[at])),
            None => self.samples_ns.push(spent),
        }
        sessions.spent_ns += spent[0] + spent[1];
        if is_last {
            let spent_ns = std::mem::take(sessions).spent_ns;
            self.loop_ns.push(spent_ns as f64 / counted.answers.len().max(1) as f64);
        }
        Ok(())
    }

    /// The times of a kind of operation.
    pub fn of(&self, kind: usize) -> OpTimes {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    /// Notes the times of operations, the first of which is that number of all.
    fn note<F: Family>(&mut self, ops: &[F::Op], took: &[u64], first: usize) {
        self.kinds.resize(F::KINDS.len(), OpTimes::default());
        for (kind, times) in self.kinds.iter_mut().enumerate() {
            let of_kind = ops.iter().zip(took).filter(|(op, _)| F::kind(op) == kind);
            let mut round: Counts = of_kind.map(|(_, &took)| took).collect();
            if !round.is_empty() {
                times.rounds_ns.push(singles(&mut round));
                times.all_ns.extend(&round);
            }
        }
        self.least_ns.resize(self.least_ns.len().max(first + took.len()), u64::MAX);
        for (least, &took) in self.least_ns.iter_mut().skip(first).zip(took) {
            *least = took.min(*least);
        }
    }
}

/// The engine at work; a fresh one, in the state that the workload starts from, for the first sample.
fn ready<'a, F: Family>(
    session: &'a mut Option<Box<F::Session>>,
    number: usize,
    entry: &Listed<F::Facts>,
    workload: &Workload<F>,
) -> Result<&'a mut F::Session, String> {
    let old = session.take().filter(|_| number > 0);
    let made = old.map_or_else(|| prepared(entry, workload), Ok)?;
    Ok(session.insert(made))
}

/// A fresh engine in the state that the workload starts from.
pub(super) fn prepared<F: Family>(
    entry: &Listed<F::Facts>,
    workload: &Workload<F>,
) -> Result<Box<F::Session>, String> {
    let mut session = entry.start(&workload.scene)?;
    session.expect_objects(workload.objects);
    session.run(&workload.setup, &mut vec![F::Answer::default(); workload.setup.len()]);
    Ok(session)
}
