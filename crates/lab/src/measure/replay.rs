//! A workload on several engines: each checked and counted, then all timed in turn, A B C, C B A.

use super::counted::BUCKETS;
use super::{Counted, Timed, count_run};
use crate::family::{Entry, Kva, Replayable};
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

/// A workload and what each engine made of it.
#[derive(Clone, Debug)]
pub struct Replay<F: Replayable = Kva> {
    /// The workload.
    pub workload: Workload<F>,
    /// The engines, in the order of the list; ratios are to the first.
    pub runs: Vec<EngineRun<F>>,
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
    let mut replay = Replay { workload, runs: Vec::new(), refused: Vec::new(), rounds };
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
        let mut turn: Vec<&mut EngineRun<F>> = replay.runs.iter_mut().collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for run in turn {
            let label = run.entry.label();
            let result = run.timed.round::<F>(&run.entry, workload, &run.counted.answers);
            result.map_err(|reason| anyhow::anyhow!("{}: {label}: {reason}", workload.name))?;
        }
    }
    Ok(replay)
}
