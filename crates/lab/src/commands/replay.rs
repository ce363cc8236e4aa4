//! `freehold replay`: workloads on engines, side by side, whichever family each workload is of.

use super::inspect::note_losses;
use super::named_once;
use crate::Progress;
use crate::failure::{Failure, usage};
use crate::predict::{Settings, Way, add_predicted, is_predictable};
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
    let labels = labels(names, engines)?;
    let (mut all, mut recorded) = (Results::default(), Recorded::default());
    for (at, ((name, rounds), label)) in names.iter().zip(labels).enumerate() {
        progress.part(at, names.len());
        let one = Asked { name: name.as_ref(), label, engines, rounds: *rounds };
        match replay_one(&one, &mut all, &mut recorded, progress) {
            Err(error) if names.len() > 1 => {
                all.note(format!("FAILED: {error:#}"));
                all.failed = true;
            }
            replayed => replayed?,
        }
    }
    recorded.record(&mut all);
    Ok(all)
}

/// Predicts the addresses of recordings of kernel areas, under the rules of their kernels and under `settings`.
///
/// # Errors
/// A setting that there is not, a file that cannot be read or is no such recording.
pub fn predict<N: AsRef<Path>>(names: &[N], settings: &[String], way: Way) -> anyhow::Result<Results> {
    let settings = Settings::read(settings)?;
    let files: Vec<(&N, usize)> = names.iter().map(|name| (name, 0)).collect();
    let mut results = Results::default();
    for (name, label) in names.iter().zip(labels(&files, &[])?) {
        let name = name.as_ref();
        if !is_predictable(name)? {
            return usage(format!(
                "{}: --set, --strict and --free-running take recordings of kernel areas (kva)",
                shown(name)
            ));
        }
        add_predicted(name, label.as_deref(), &settings, way, &mut results)?;
    }
    Ok(results)
}

/// What each workload is called if several call themselves the same. What is asked for wrongly is refused here, before anything is
/// measured; what cannot be read fails when its turn comes.
fn labels<N: AsRef<Path>>(names: &[(N, usize)], engines: &[String]) -> anyhow::Result<Vec<Option<String>>> {
    named_once(names.iter().map(|(name, _)| name.as_ref()))?;
    let mut titles = Vec::new();
    for (name, _) in names {
        let name = name.as_ref();
        let title = check_engines(name, engines).and_then(|()| title_of(name));
        titles.push(match title {
            Err(error) if error.is::<Failure>() => return Err(error),
            title => title.ok(),
        });
    }
    let is_shared = |title: &String| titles.iter().flatten().filter(|other| *other == title).count() > 1;
    let label = |((name, _), title): (&(N, usize), &Option<String>)| {
        title.as_ref().filter(|title| is_shared(title)).map(|title| labelled(title, &shown(name.as_ref())))
    };
    Ok(names.iter().zip(&titles).map(label).collect())
}

fn check_engines(name: &Path, engines: &[String]) -> anyhow::Result<()> {
    fn known<F: Replayable>(engines: &[String]) -> anyhow::Result<()> {
        Ok(F::engines(engines).map(drop)?)
    }
    of_family!(name, known(engines))
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
    note_losses(asked.name, results)?;
    if asked.engines.is_empty() && is_predictable(asked.name)? {
        let mut predicted = Results::default();
        let (label, settings) = (asked.label.as_deref(), Settings::default());
        // What can be replayed may lack what a prediction needs.
        match add_predicted(asked.name, label, &settings, Way::default(), &mut predicted) {
            Ok(()) => results.absorb(predicted),
            Err(reason) => results.note(format!("addresses are not predicted: {reason:#}")),
        }
    }
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
