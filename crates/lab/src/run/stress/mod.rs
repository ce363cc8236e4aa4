//! The suite as a stress: case after case, repeat after repeat, the engines in turn, each in one space of its own
//! that all its cases share, as they do in the kernel.
//!
//! If the whole has a time, each repeat has a share of it (`jobs.rs`).

mod jobs;
#[cfg(test)]
pub(crate) mod liar;
mod outcome;
mod subject;
#[cfg(test)]
mod tests;

use crate::family::{Entry, Kva};
use crate::workload::SplitMix;
use crate::workload::suite::{Case, CaseInfo, Params, Suited};
use std::time::{Duration, Instant};

use jobs::Jobs;
pub use outcome::{CaseRun, Ops};
use subject::Subject;

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan<F: Suited = Kva> {
    /// The cases in their order, each with its size if it is sized.
    pub cases: Vec<(&'static CaseInfo<F>, Option<u32>)>,
    /// What the engines are made for.
    pub scene: F::Scene,
    /// Their parameters; `n` is taken from the cases.
    pub params: Params,
    /// How often each is repeated.
    pub repeat: u32,
    /// How long the whole may take.
    pub duration: Option<Duration>,
}

impl<F: Suited> Plan<F> {
    /// Puts the cases into an order that the seed decides.
    pub fn shuffle(&mut self) {
        SplitMix::new(self.params.seed).shuffle(&mut self.cases);
    }

    /// A repeat of a case at its start. Its random numbers depend on what it is, not on what else is run.
    fn case(&self, info: &'static CaseInfo<F>, n: Option<u32>, nth: u32) -> Case<F> {
        let n = n.unwrap_or(self.params.n);
        let mut random = SplitMix::new(self.params.seed);
        let kind = F::CASES.iter().position(|case| case.kind == info.kind).unwrap_or(0);
        let which = [kind as u64, u64::from(n), u64::from(nth)];
        let seed = which
            .into_iter()
            .fold(random.next_u64(), |seed, part| SplitMix::new(seed.wrapping_add(part)).next_u64());
        Case::new(info, &Params { n, seed, ..self.params }, 0)
    }
}

/// Runs the plan on the engines, which take turns, A B C, C B A. `tick` hears what is being done. The runs are in the
/// order of the plan's cases, and of the engines within each.
///
/// # Errors
/// An engine cannot manage the space.
pub fn stress<F: Suited>(
    plan: &Plan<F>,
    engines: &[F::Entry],
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<CaseRun<F>>> {
    let subjects: Result<Vec<Subject<'_, F>>, String> =
        engines.iter().map(|entry| Subject::new(entry, &plan.scene)).collect();
    let mut subjects = subjects.map_err(anyhow::Error::msg)?;
    let mut runs: Vec<CaseRun<F>> = Vec::new();
    for &(info, n) in &plan.cases {
        let loops = if info.once { 1 } else { plan.params.loops };
        runs.extend(engines.iter().map(|entry| CaseRun::new(info, n, *entry, loops)));
    }
    let mut jobs = Jobs::new(plan, engines.len());
    let until = plan.duration.map(|duration| Instant::now() + duration);
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let Some((job, limit)) = jobs.next(left).filter(|_| left != Some(Duration::ZERO)) else { break };
        let at = job.case * engines.len() + job.engine;
        let Some((run, subject)) = runs.get_mut(at).zip(subjects.get_mut(job.engine)) else { break };
        let given_up = run.cut > u32::from(job.second);
        if run.lacks || (given_up && job.second) {
            continue;
        }
        if given_up {
            jobs.put_off(job);
            continue;
        }
        let size = run.n.map_or_else(String::new, |n| format!(" at {n}"));
        tick(&format!("{}{size}, repeat {}: {}", run.info.name, job.nth + 1, run.entry.label()));
        let cut = run.cut;
        let case = plan.case(run.info, run.n, job.nth);
        run.add(subject.repeat(case, job.nth as usize, run.loops_wanted, limit));
        if run.cut > cut && !job.second {
            jobs.put_off(job);
        }
    }
    Ok(runs)
}
