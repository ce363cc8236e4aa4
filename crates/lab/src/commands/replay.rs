//! `freehold replay`: workloads on engines, side by side, whichever family each workload is of.

use crate::Progress;
use crate::family::{Kva, Maple, Percpu};
use crate::kind::Suite;
use crate::record::Results;
use crate::run::{Replayable, add_replay, measure};
use crate::workload::suite_of;

/// Timed rounds when nobody says how many.
pub const ROUNDS: usize = 5;

/// Replays every workload on the engines named.
///
/// # Errors
/// A workload cannot be read, no engine has such a name, or an engine answers wrong.
pub fn run(
    names: &[String],
    engines: &[String],
    rounds: usize,
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    let mut results = Results::default();
    for name in names {
        one(name, engines, rounds, &mut results, progress)?;
    }
    Ok(results)
}

/// Replays a workload, and adds what came of it.
///
/// # Errors
/// As [`run`].
pub fn one(
    name: &str,
    engines: &[String],
    rounds: usize,
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    match suite_of(name)? {
        Suite::Kva => replay::<Kva>(name, engines, rounds, results, progress),
        Suite::Percpu => replay::<Percpu>(name, engines, rounds, results, progress),
        Suite::Maple => replay::<Maple>(name, engines, rounds, results, progress),
    }
}

fn replay<F: Replayable>(
    name: &str,
    engines: &[String],
    rounds: usize,
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let engines = F::engines(engines)?;
    let replay = measure(F::workload(name)?, &engines, rounds, &mut |what| progress.tick(what))?;
    add_replay(results, replay);
    Ok(())
}
