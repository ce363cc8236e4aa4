//! A workload on several engines: each checked and counted, then all timed in turn, A B C, C B A.

use super::counted::BUCKETS;
use super::{Counted, Timed, count_run};
use crate::engine::{EngineEntry, Takes};
use crate::workload::Workload;
use freehold_trace::kva::Answer;

/// One engine's run.
#[derive(Clone, Debug)]
pub struct EngineRun {
    /// The engine.
    pub entry: EngineEntry,
    /// What it answered and did.
    pub counted: Counted,
    /// How long it took.
    pub timed: Timed,
}

/// A workload and what each engine made of it.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The workload.
    pub workload: Workload,
    /// The engines, in the order of the list; ratios are to the first.
    pub runs: Vec<EngineRun>,
    /// Engines that cannot run it, and why.
    pub refused: Vec<(EngineEntry, String)>,
    /// Timed rounds.
    pub rounds: usize,
}

/// Checks, counts and times. `tick` hears what is being done.
///
/// # Errors
/// An engine gives a wrong answer.
pub fn measure(
    workload: Workload,
    engines: &[EngineEntry],
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Replay> {
    let mut replay = Replay { workload, runs: Vec::new(), refused: Vec::new(), rounds };
    for entry in engines {
        tick(&format!("{}: checking {}", replay.workload.name, entry.label()));
        if let Err(reason) = (entry.make)(&replay.workload.layout, replay.workload.granule) {
            replay.refused.push((*entry, reason));
            continue;
        }
        let counted = count_run(entry, &replay.workload, BUCKETS);
        let counted = counted
            .map_err(|reason| anyhow::anyhow!("{}: {}: {reason}", replay.workload.name, entry.label()))?;
        if counted.unsupported > 0 {
            let reason = match counted.answers.len() {
                0 => "it cannot place objects where they were".to_owned(),
                _ => format!("{} operations that it does not have", counted.unsupported),
            };
            replay.refused.push((*entry, reason));
            continue;
        }
        replay.runs.push(EngineRun { entry: *entry, counted, timed: Timed::default() });
    }
    replay.compare_exact()?;
    for round in 0..rounds {
        tick(&format!("{}: timing, round {} of {rounds}", replay.workload.name, round + 1));
        let workload = &replay.workload;
        let mut turn: Vec<&mut EngineRun> = replay.runs.iter_mut().collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for run in turn {
            let label = run.entry.label();
            let result = run.timed.round(&run.entry, workload, &run.counted.answers);
            result.map_err(|reason| anyhow::anyhow!("{}: {label}: {reason}", workload.name))?;
        }
    }
    Ok(replay)
}

impl Replay {
    /// All engines of exact lowest placement must answer alike, where they support the operation.
    fn compare_exact(&self) -> anyhow::Result<()> {
        let mut exact = self.runs.iter().filter(|run| run.entry.takes == Takes::Lowest);
        let Some(first) = exact.next() else { return Ok(()) };
        for other in exact {
            let differs = |(a, b): (&Answer, &Answer)| a != b;
            let at = first.counted.answers.iter().zip(&other.counted.answers).position(differs);
            if let Some(at) = at {
                let (a, b) = (first.entry.label(), other.entry.label());
                anyhow::bail!("{}: {a} and {b} differ at operation {at}", self.workload.name);
            }
        }
        Ok(())
    }
}
