//! `freehold replay`: workloads on engines, side by side, whichever family each workload is of.

use crate::Progress;
use crate::record::Results;
use crate::run::{Recorded, Replayable, add_replay, measure, of_family};
use crate::verify::placed;

/// Timed rounds when nobody says how many.
pub const ROUNDS: usize = 5;

/// Replays workloads on the engines named, each for so many rounds.
///
/// # Errors
/// A workload cannot be read, no engine has such a name, or an engine answers wrong.
pub fn run(names: &[(&str, usize)], engines: &[String], progress: &mut Progress) -> anyhow::Result<Results> {
    let (mut all, mut recorded) = (Results::default(), Recorded::default());
    for &(name, rounds) in names {
        let (results, recorded) = (&mut all, &mut recorded);
        of_family!(name, replay(name, engines, rounds, results, recorded, progress))?;
        placed(name, engines, results)?;
    }
    recorded.record(&mut all);
    Ok(all)
}

fn replay<F: Replayable>(
    name: &str,
    engines: &[String],
    rounds: usize,
    results: &mut Results,
    recorded: &mut Recorded,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let engines = F::engines(engines)?;
    let replay = measure(F::workload(name)?, &engines, rounds, &mut |what| progress.tick(what))?;
    recorded.add(&replay);
    add_replay(results, replay);
    Ok(())
}
