//! `freehold replay`: workloads on engines, side by side, whichever family each workload is of.

use crate::Progress;
use crate::failure::{Failure, usage};
use crate::record::Results;
use crate::run::{Recorded, Replayable, add_replay, measure, of_family};
use crate::verify::placed;
use crate::workload::{labelled, shown, title_of};
use std::path::Path;

/// Timed rounds when nobody says how many.
pub const ROUNDS: usize = 5;

/// Replays workloads on the engines named, each for so many rounds. One of several that cannot be replayed fails, and the others
/// are replayed all the same.
///
/// # Errors
/// The only workload cannot be read, one is named twice, no engine has such a name, or an engine answers wrong.
pub fn run<N: AsRef<Path>>(
    names: &[(N, usize)],
    engines: &[String],
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    let (mut all, mut recorded) = (Results::default(), Recorded::default());
    let titles: Vec<_> = names.iter().map(|(name, _)| title_of(name.as_ref())).collect();
    for (at, (name, rounds)) in names.iter().enumerate() {
        let name = name.as_ref();
        if names[..at].iter().any(|(other, _)| other.as_ref() == name) {
            return usage(format!("{} is named twice", shown(name)));
        }
        progress.part(at, names.len());
        let is_shared = |title: &String| {
            let others = titles.iter().enumerate().filter(|(other, _)| *other != at);
            others.flat_map(|(_, other)| other).any(|other| other == title)
        };
        let label = titles[at].as_ref().ok().filter(|title| is_shared(title));
        let label = label.map(|title| labelled(title, &shown(name)));
        let (results, recorded) = (&mut all, &mut recorded);
        let one = Asked { name, label, engines, rounds: *rounds };
        match replay_one(&one, results, recorded, progress) {
            Err(error) if names.len() > 1 && !error.is::<Failure>() => {
                results.note(format!("FAILED: {error:#}"));
                results.failed = true;
            }
            replayed => replayed?,
        }
    }
    recorded.record(&mut all);
    Ok(all)
}

/// A workload to replay.
struct Asked<'a> {
    name: &'a Path,
    /// What it is called, if others are called as it calls itself.
    label: Option<String>,
    engines: &'a [String],
    rounds: usize,
}

fn replay_one(
    asked: &Asked,
    results: &mut Results,
    recorded: &mut Recorded,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    of_family!(asked.name, replay(asked, results, recorded, progress))?;
    placed(asked.name, asked.label.as_deref(), asked.engines, results)
}

fn replay<F: Replayable>(
    asked: &Asked,
    results: &mut Results,
    recorded: &mut Recorded,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let engines = F::engines(asked.engines)?;
    let mut workload = F::workload(asked.name)?;
    workload.name = asked.label.clone().unwrap_or(workload.name);
    let replay = measure(workload, &engines, asked.rounds, &mut |what| progress.tick(what))?;
    recorded.add(&replay);
    add_replay(results, replay);
    Ok(())
}
