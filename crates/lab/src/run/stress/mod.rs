//! The suite as a stress: case after case, repeat after repeat, the engines in turn, each in one space of its own
//! that all its cases share, as they do in the kernel.
//!
//! If the whole has a time, a repeat's share of what is left of it is its part of the operations that are left. A body whose
//! share is over ends there; a case whose setup takes longer than its share is left out from then on.

mod options;
mod outcome;
mod subject;

use crate::engine::{Facts, Listed};
use crate::family::Kva;
use crate::run::plan::{self, Plan, Stop};
use crate::workload::SplitMix;
use crate::workload::suite::{Case, CaseInfo, Params, Suited};
use std::cell::Cell;
use std::time::{Duration, Instant};

pub use options::{Mode, Options, cases_of};
pub(crate) use options::{SIZE, duration};
pub use outcome::{CaseRun, Done, Ops};
use subject::Subject;

/// What is run.
#[derive(Clone, Debug)]
pub struct Stress<F: Suited = Kva> {
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

impl<F: Suited> Stress<F> {
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

struct Turns<'a, F: Suited> {
    stress: &'a Stress<F>,
    until: Option<Instant>,
    /// Operations of all repeats that are left.
    ops_left: Cell<f64>,
}

impl<F: Suited> Plan<F> for Turns<'_, F> {
    type Run = (Subject<F>, Vec<CaseRun<F>>);

    fn name(&self) -> String {
        "stress".to_owned()
    }

    fn rounds(&self) -> [usize; 2] {
        [self.stress.cases.len(), self.stress.repeat as usize]
    }

    fn prepare(&self, entry: &Listed<F::Facts>) -> Result<Self::Run, Stop> {
        let subject = Subject::new(entry, &self.stress.scene).map_err(Stop::Wrong)?;
        let run = |&(info, n): &(&'static CaseInfo<F>, Option<u32>)| {
            let loops = if info.once { 1 } else { self.stress.params.loops };
            CaseRun::new(info, n, *entry, loops)
        };
        Ok((subject, self.stress.cases.iter().map(run).collect()))
    }

    /// A repeat of a case.
    fn turn(&self, (subject, runs): &mut Self::Run, [case, nth]: [usize; 2]) -> Result<(), String> {
        let Some(run) = runs.get_mut(case) else { return Ok(()) };
        let case = self.stress.case(run.info, run.n, nth as u32);
        let (ops, all) = (case.operations() as f64, self.ops_left.get());
        self.ops_left.set(all - ops);
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if !run.lacks && run.cut == 0 && left != Some(Duration::ZERO) {
            let limit = left.map(|left| left.mul_f64((ops / all.max(1.0)).clamp(0.0, 1.0)));
            run.add(subject.repeat(case, nth, run.loops_wanted, limit));
        }
        Ok(())
    }
}

/// Runs it on the engines, which take turns. `tick` hears what is being done. The runs are in the order of the cases, and of
/// the engines within each; the engine that does no work is the last one.
///
/// # Errors
/// An engine cannot manage the space.
pub fn stress<F: Suited>(
    stress: &Stress<F>,
    engines: &[Listed<F::Facts>],
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<CaseRun<F>>> {
    let engines: Vec<_> = engines.iter().copied().chain(F::Facts::FLOOR).collect();
    let repeats = |&(info, n): &(&'static CaseInfo<F>, Option<u32>)| {
        (0..stress.repeat).map(move |nth| stress.case(info, n, nth).operations() as f64)
    };
    let ops: f64 = stress.cases.iter().flat_map(repeats).sum();
    let until = stress.duration.map(|duration| Instant::now() + duration);
    let turns = Turns { stress, until, ops_left: Cell::new(ops * engines.len() as f64) };
    let (ran, _) = plan::run(&turns, &engines, tick)?;
    let mut by_engine: Vec<_> = ran.into_iter().map(|(_, runs)| runs.into_iter()).collect();
    let of_case = |_| by_engine.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>();
    Ok(stress.cases.iter().flat_map(of_case).collect())
}
