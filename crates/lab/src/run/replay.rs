//! A workload on several engines: each checked and counted, then all timed in turn, A B C, C B A.

use super::counted::BUCKETS;
use super::turns::in_turn;
use super::{Counted, Timed, count_run};
use crate::engine::Driven;
use crate::family::{Entry, Kva};
use crate::run::Replayable;
use crate::workload::Workload;

/// One engine's run.
#[derive(Clone, Debug)]
pub struct EngineRun<F: Replayable = Kva> {
    /// The engine.
    pub entry: F::Entry,
    /// What it answered and did.
    pub counted: Counted<F>,
    /// How long it took.
    pub timed: Timed,
}

/// The run of the engine that does no work.
#[derive(Clone, Debug)]
pub struct FloorRun<F: Replayable = Kva> {
    /// The engine.
    pub entry: F::Entry,
    /// What it says in every round.
    answers: Vec<F::Answer>,
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
    /// The engine that does no work, where the family has one.
    pub floor: Option<FloorRun<F>>,
    /// Engines that cannot run it, and why.
    pub refused: Vec<(F::Entry, String)>,
    /// Timed rounds.
    pub rounds: usize,
}

/// Checks, counts and times. `tick` hears what is being done.
///
/// # Errors
/// An engine gives a wrong answer.
pub fn measure<F: Replayable>(
    workload: Workload<F>,
    engines: &[F::Entry],
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Replay<F>> {
    let floor = FloorRun::of(&workload).map_err(anyhow::Error::msg)?;
    let mut replay = Replay { workload, runs: Vec::new(), floor, refused: Vec::new(), rounds };
    for entry in engines {
        tick(&format!("{}: checking {}", replay.workload.name, entry.label()));
        if let Err(reason) = entry.start(&replay.workload.scene) {
            replay.refused.push((*entry, reason));
            continue;
        }
        let counted = count_run::<F>(entry, &replay.workload, BUCKETS);
        let counted = counted
            .map_err(|reason| anyhow::anyhow!("{}: {}: {reason}", replay.workload.name, entry.label()))?;
        match counted {
            None => replay.refused.push((*entry, "it cannot place objects where they were".to_owned())),
            Some(counted) if counted.unsupported > 0 => {
                let reason = format!("{} operations that it does not have", counted.unsupported);
                replay.refused.push((*entry, reason));
            }
            Some(counted) => {
                replay.runs.push(EngineRun { entry: *entry, counted, timed: Timed::default() });
            }
        }
    }
    let agree = F::agree(&replay.runs);
    agree.map_err(|reason| anyhow::anyhow!("{}: {reason}", replay.workload.name))?;
    for round in 0..rounds {
        tick(&format!("{}: timing, round {} of {rounds}", replay.workload.name, round + 1));
        let workload = &replay.workload;
        let engines = replay.runs.iter_mut().map(|run| (&run.entry, &run.counted.answers, &mut run.timed));
        let floor = replay.floor.iter_mut().map(|floor| (&floor.entry, &floor.answers, &mut floor.timed));
        in_turn(round, engines.chain(floor), |(entry, answers, timed)| {
            let result = timed.round::<F>(entry, workload, answers);
            let label = entry.label();
            result.map_err(|reason| anyhow::anyhow!("{}: {label}: {reason}", workload.name))
        })?;
    }
    Ok(replay)
}

impl<F: Replayable> FloorRun<F> {
    /// Runs it once, for what it says; `None` if the family has no such engine.
    fn of(workload: &Workload<F>) -> Result<Option<Self>, String> {
        let Some(entry) = F::Entry::FLOOR else { return Ok(None) };
        let mut session = entry.start(&workload.scene)?;
        session.run(&workload.setup, &mut vec![F::Answer::default(); workload.setup.len()]);
        let mut answers = vec![F::Answer::default(); workload.ops.len()];
        session.run(&workload.ops, &mut answers);
        Ok(Some(Self { entry, answers, timed: Timed::default() }))
    }
}
