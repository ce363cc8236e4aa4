//! A workload on several engines: each checked and counted, then all timed in turn, sample by sample where it is cut into
//! samples.

use super::counted::count_run;
use super::plan::{self, Plan, Stop};
use super::timed::Sessions;
use super::{Counted, Timed};
use crate::engine::{Facts, Listed};
use crate::family::Kva;
use crate::run::Replayable;
use crate::workload::{Workload, check_memory, shown};

/// Bytes of an operation, about: itself, with its time and its place among the live; for each engine its answer and its work;
/// and for each round its time.
const OPERATION_BYTES: u64 = 128;
const ENGINE_BYTES: u64 = 48;
const TIME_BYTES: u64 = 8;

/// One engine's run.
#[derive(Clone, Debug)]
pub struct EngineRun<F: Replayable = Kva> {
    /// The engine.
    pub entry: Listed<F::Facts>,
    /// What it answered and did.
    pub counted: Counted<F>,
    /// How long it took.
    pub timed: Timed,
}

/// A workload and what each engine made of it.
#[derive(Clone, Debug)]
pub struct Replay<F: Replayable = Kva> {
    /// The workload.
    pub workload: Workload<F>,
    /// The engines, in the order of the list; ratios are to the first.
    pub runs: Vec<EngineRun<F>>,
    /// The engine that does no work, where the family has one: timed, and not judged.
    pub floor: Option<EngineRun<F>>,
    /// Engines that cannot run it, and why.
    pub refused: Vec<(Listed<F::Facts>, String)>,
    /// Timed rounds.
    pub rounds: usize,
}

struct Rounds<'a, F: Replayable> {
    workload: &'a Workload<F>,
    rounds: usize,
}

impl<F: Replayable> Plan<F> for Rounds<'_, F> {
    type Run = (EngineRun<F>, Sessions<F>);

    fn name(&self) -> String {
        self.workload.name.clone()
    }

    fn rounds(&self) -> [usize; 2] {
        [self.rounds, self.workload.samples().len()]
    }

    fn prepare(&self, entry: &Listed<F::Facts>) -> Result<Self::Run, Stop> {
        let counted = count_run(entry, self.workload)?;
        Ok((EngineRun { entry: *entry, counted, timed: Timed::default() }, Sessions::default()))
    }

    fn turn(&self, (run, sessions): &mut Self::Run, [_, sample]: [usize; 2]) -> Result<(), String> {
        run.timed.sample(&run.entry, self.workload, &run.counted, sample, sessions)
    }
}

/// Checks, counts and times. `tick` hears what is being done.
///
/// # Errors
/// There is nothing to measure, or too little memory for it, or an engine gives a wrong answer.
pub fn measure<F: Replayable>(
    workload: Workload<F>,
    engines: &[Listed<F::Facts>],
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Replay<F>> {
    let file = workload.file.as_ref().map(|(file, _)| format!("{}: ", shown(file))).unwrap_or_default();
    let wrong = |reason: String| anyhow::anyhow!("{file}{reason}");
    if workload.ops.is_empty() {
        return Err(wrong(format!(
            "{}: nothing to replay: no operation follows the set-up; `inspect` tells what is in it",
            workload.name
        )));
    }
    let engines: Vec<_> = engines.iter().copied().chain(F::Facts::FLOOR).collect();
    let bytes_each = OPERATION_BYTES + (ENGINE_BYTES + TIME_BYTES * rounds as u64) * engines.len() as u64;
    check_memory(workload.ops.len() as u64, bytes_each)?;
    let ran = plan::run(&Rounds { workload: &workload, rounds }, &engines, tick);
    let (runs, refused) = ran.map_err(|error| wrong(error.to_string()))?;
    let mut runs: Vec<EngineRun<F>> = runs.into_iter().map(|(run, _)| run).collect();
    let floor = runs.pop_if(|run| run.entry.is_floor());
    F::agree(&runs).map_err(|reason| wrong(format!("{}: {reason}", workload.name)))?;
    Ok(Replay { workload, runs, floor, refused, rounds })
}
