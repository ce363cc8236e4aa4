//! The timed runs: each operation by itself for the spread, the whole run in one go for the mean.

use super::{clock, median};
use crate::engine::Driven;
use crate::family::{Entry, Family};
use crate::record::Counts;
use crate::workload::Workload;
use std::time::Instant;

/// The times of an engine over all rounds.
#[derive(Clone, Debug, Default)]
pub struct Timed {
    /// Operations one by one, by kind.
    pub kinds: Vec<OpTimes>,
    /// Nanoseconds per operation of each whole run.
    pub loop_ns: Vec<f64>,
    /// The least time that each operation took in any round.
    pub least_ns: Vec<u64>,
}

/// Times of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct OpTimes {
    /// Every time of every round, in nanoseconds, the clock's own cost taken off.
    pub all_ns: Counts,
    /// The median of each round.
    pub medians_ns: Vec<u64>,
}

impl Timed {
    /// Median over rounds of the whole run's time per operation.
    #[must_use]
    pub fn loop_median_ns(&self) -> f64 {
        median(&self.loop_ns)
    }

    /// One round: a run timed operation by operation, and a run timed as a whole, each on a fresh engine whose
    /// answers must be those that were checked.
    ///
    /// # Errors
    /// The engine cannot be made, or answers otherwise than before.
    pub fn round<F: Family>(
        &mut self,
        entry: &F::Entry,
        workload: &Workload<F>,
        expected: &[F::Answer],
    ) -> Result<(), String> {
        let mut took = vec![0; workload.ops.len()];
        run(entry, workload, expected, |session, answers| {
            session.run_timed(&workload.ops, answers, &mut took);
        })?;
        let cost = clock::cost_ns();
        took.iter_mut().for_each(|took| *took = took.saturating_sub(cost));
        self.note::<F>(&workload.ops, &took);
        run(entry, workload, expected, |session, answers| {
            let before = Instant::now();
            session.run(&workload.ops, answers);
            let per_op = before.elapsed().as_nanos() as f64 / workload.ops.len().max(1) as f64;
            self.loop_ns.push(per_op);
        })
    }

    /// The times of a kind of operation.
    #[must_use]
    pub fn of(&self, kind: usize) -> OpTimes {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    fn note<F: Family>(&mut self, ops: &[F::Op], took: &[u64]) {
        self.kinds.resize(F::KINDS.len(), OpTimes::default());
        for (kind, times) in self.kinds.iter_mut().enumerate() {
            let of_kind = ops.iter().zip(took).filter(|(op, _)| F::kind(op) == kind);
            let mut round: Counts = of_kind.map(|(_, &took)| took).collect();
            if !round.is_empty() {
                times.medians_ns.push(round.percentile(500));
                times.all_ns.extend(&round);
            }
        }
        if self.least_ns.is_empty() {
            self.least_ns = took.to_vec();
        }
        for (least, &took) in self.least_ns.iter_mut().zip(took) {
            *least = took.min(*least);
        }
    }
}

fn run<F: Family>(
    entry: &F::Entry,
    workload: &Workload<F>,
    expected: &[F::Answer],
    measured: impl FnOnce(&mut F::Session, &mut [F::Answer]),
) -> Result<(), String> {
    let mut session = entry.start(&workload.scene)?;
    session.expect_objects(workload.objects);
    let mut ignored = vec![F::Answer::default(); workload.setup.len()];
    session.run(&workload.setup, &mut ignored);
    let mut answers = vec![F::Answer::default(); workload.ops.len()];
    measured(&mut session, &mut answers);
    if entry.repeats(expected, &answers) {
        Ok(())
    } else {
        Err("another answer than in the checked run".to_owned())
    }
}
