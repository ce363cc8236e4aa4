//! What became of a case: repeat by repeat, and all repeats together.

use crate::engine::Listed;
use crate::family::Kva;
use crate::record::Counts;
use crate::run::median;
use crate::workload::suite::{CaseInfo, Phase, Refusal, Suited};
use freehold::units::Tally;
use std::time::Duration;

/// Operations of one kind.
#[derive(Clone, Debug, Default)]
pub struct Ops {
    /// How many there were in the bodies.
    pub count: u64,
    /// Work of those that were counted.
    pub work: Counts,
    /// Nanoseconds of those that were timed one by one.
    pub ns: Counts,
}

/// How a repeat ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Ended {
    /// All of it was done.
    #[default]
    Done,
    /// Its time was over, in this phase.
    OutOfTime(Phase),
    /// The engine has no such requests.
    Lacks,
    /// An answer was wrong, or an invariant broken.
    Wrong(String),
}

/// What was done, of one repeat or of all that went well.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Loops.
    pub loops: u64,
    /// Requests that found no room.
    pub refused: u64,
    /// Operations by kind.
    pub ops: Vec<Ops>,
    /// Nanoseconds of a loop, for each batch that was timed as a whole, and the loops of that batch.
    batches: Vec<(f64, u64)>,
}

/// One repeat.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeat {
    pub(super) ended: Ended,
    done: Done,
    /// The first request that was refused though it should not have been.
    refused_wrongly: Option<String>,
}

impl Repeat {
    /// A request was refused, wrongly if there is a reason why it should not have been.
    pub(super) fn refused(&mut self, reason: Option<String>) {
        self.done.refused += 1;
        self.refused_wrongly = self.refused_wrongly.take().or(reason);
    }

    /// A batch of the body: how long its loops took, or the work or the nanoseconds of each operation, as far as they
    /// were noted.
    pub(super) fn note<F: Suited>(
        &mut self,
        ops: &[F::Op],
        loops: u64,
        took: Option<Duration>,
        tallies: &[Tally],
        took_ns: &[u64],
    ) {
        let done = &mut self.done;
        done.loops += loops;
        if let Some(took) = took {
            done.batches.push((took.as_nanos() as f64 / loops.max(1) as f64, loops));
        }
        done.ops.resize(F::KINDS.len(), Ops::default());
        for (at, op) in ops.iter().enumerate() {
            let Some(of_kind) = done.ops.get_mut(F::kind(op)) else { continue };
            of_kind.count += 1;
            if let Some(tally) = tallies.get(at) {
                of_kind.work.add(F::work(tally));
            }
            if let Some(&took) = took_ns.get(at) {
                of_kind.ns.add(took);
            }
        }
    }
}

/// A case on an engine.
#[derive(Clone, Debug)]
pub struct CaseRun<F: Suited = Kva> {
    /// The case.
    pub info: &'static CaseInfo<F>,
    /// Its size, if it is sized.
    pub n: Option<u32>,
    /// The engine.
    pub entry: Listed<F::Facts>,
    /// Repeats that went well.
    pub passed: u32,
    /// Repeats that went wrong.
    pub failed: u32,
    /// Repeats whose requests were refused, rightly, as the case expects.
    pub xfailed: u32,
    /// Times that there was no time for a setup.
    pub cut: u32,
    /// Whether the engine lacks its requests.
    pub lacks: bool,
    /// Loops asked for in a repeat.
    pub loops_wanted: u64,
    /// What was done in the repeats that did not fail.
    pub done: Done,
    /// What went wrong first.
    pub reason: Option<String>,
    /// Nanoseconds of a loop, the median batch of each repeat.
    pub medians_ns: Vec<f64>,
}

impl<F: Suited> CaseRun<F> {
    pub(super) fn new(
        info: &'static CaseInfo<F>,
        n: Option<u32>,
        entry: Listed<F::Facts>,
        loops_wanted: u64,
    ) -> Self {
        Self {
            info,
            n,
            entry,
            passed: 0,
            failed: 0,
            xfailed: 0,
            cut: 0,
            lacks: false,
            loops_wanted,
            done: Done { ops: vec![Ops::default(); F::KINDS.len()], ..Done::default() },
            reason: None,
            medians_ns: Vec::new(),
        }
    }

    /// Adds a repeat: judges it, and keeps what was measured if it was not wrong.
    pub(super) fn add(&mut self, repeat: Repeat) {
        let Repeat { ended, done, refused_wrongly } = repeat;
        let wrong = match &ended {
            Ended::Wrong(reason) => Some(reason.clone()),
            _ if refused_wrongly.is_some() => refused_wrongly,
            _ if done.refused > 0 && self.info.refusal == Refusal::Fails => {
                Some(format!("{} requests were refused: the space is full", done.refused))
            }
            _ => None,
        };
        match (wrong, ended) {
            (Some(reason), _) => {
                self.failed += 1;
                self.reason.get_or_insert(reason);
            }
            (None, Ended::Lacks) => self.lacks = true,
            (None, Ended::OutOfTime(Phase::Setup)) => self.cut += 1,
            (None, _) => {
                let expected = done.refused > 0 && self.info.refusal == Refusal::Expected;
                self.xfailed += u32::from(expected);
                self.passed += u32::from(!expected);
                self.keep(done);
            }
        }
    }

    fn keep(&mut self, done: Done) {
        self.done.loops += done.loops;
        self.done.refused += done.refused;
        for (all, one) in self.done.ops.iter_mut().zip(&done.ops) {
            all.count += one.count;
            all.work.extend(&one.work);
            all.ns.extend(&one.ns);
        }
        let ns: Vec<f64> = done.batches.iter().map(|&(ns, _)| ns).collect();
        if !ns.is_empty() {
            self.medians_ns.push(median(&ns));
        }
        self.done.batches.extend(done.batches);
    }

    /// Repeats that were judged.
    pub fn repeats(&self) -> u32 {
        self.passed + self.failed + self.xfailed
    }

    /// The mean time of a loop over all timed batches.
    pub fn loop_mean_ns(&self) -> Option<f64> {
        let loops: u64 = self.done.batches.iter().map(|&(_, loops)| loops).sum();
        let ns: f64 = self.done.batches.iter().map(|&(ns, loops)| ns * loops as f64).sum();
        (loops > 0).then(|| ns / loops as f64)
    }
}
