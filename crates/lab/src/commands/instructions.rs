//! `--instructions`: what operations take in instructions, engine by engine and kind by kind: of recorded workloads, and of
//! the maps of `bench maple`.

use super::adversary;
use crate::Progress;
use crate::commands::bench::cold;
use crate::concurrent::look_ups;
use crate::engine::maple::{EngineEntry as MapEntry, find_maps};
use crate::engine::{Facts, Listed};
use crate::failure::{Failure, usage};
use crate::family::Family;
use crate::record::{Field, Metric, Results, Stat};
use crate::run::instructions::{self, Instructions, UNDER_CALLGRIND, can_count, sized, totals};
use crate::run::maple::{operations, run_counted};
use crate::run::{Replayable, key, measure, of_family, tell};
use crate::workload::maple::{Kind, Workload};
use crate::workload::shown;
use crate::workload::suite::{Benched, MAPS_BENCHED, find_cases};
use freehold_trace::is_pipe;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What stands before a map's workload under callgrind.
const OF_MAPS: &str = "maple/";
/// Runs what is named behind a beginning, at a size, on an engine.
type RunSized = fn(&str, u32, &str) -> anyhow::Result<()>;
/// What has a size and is run under callgrind, by what its name begins with; what begins otherwise is a wish's.
const SIZED: [(&str, RunSized); 4] = [
    (adversary::UNDER, adversary::run_under_callgrind),
    (OF_MAPS, run_map),
    (cold::UNDER, cold::run_under_callgrind),
    (look_ups::UNDER, look_ups::run_under_callgrind),
];

/// Whether instructions can be counted.
///
/// # Errors
/// Valgrind is not here.
pub fn check() -> Result<(), Failure> {
    if can_count() {
        return Ok(());
    }
    Err(Failure::Lacking("--instructions: valgrind is not installed, whose callgrind counts them".to_owned()))
}

/// Counts the instructions of every workload on the engines named.
///
/// # Errors
/// Valgrind is not here or fails, a workload cannot be read, no engine has such a name, or an engine answers wrong.
pub fn run(names: &[PathBuf], engines: &[String], progress: &mut Progress) -> anyhow::Result<Results> {
    check()?;
    let mut results = Results::default();
    for (at, name) in names.iter().enumerate() {
        if is_pipe(name) {
            return usage(format!(
                "--instructions: {} can be read only once; write it to a file",
                shown(name)
            ));
        }
        progress.part(at, names.len());
        of_family!(name, one(name, engines, &mut results, progress))?;
    }
    Ok(results)
}

fn one<F: Replayable>(
    name: &Path,
    engines: &[String],
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let engines = F::engines(engines)?;
    // No rounds: who can do it, and whose answers are right.
    let replay = measure(F::workload(name)?, &engines, 0, &mut |what| progress.tick(what))?;
    let able = replay.runs.iter().map(|run| run.entry);
    for entry in able.chain(replay.floor.iter().map(|floor| floor.entry)) {
        let label = entry.label();
        progress.tick(&format!("{}: counting instructions of {label}", shown(name)));
        let arguments = [OsStr::new(UNDER_CALLGRIND), name.as_os_str(), OsStr::new(&label)];
        let kinds = instructions::count::<F>(&arguments, &replay.workload.ops)?;
        let all = ("loop", Instructions::sum(&kinds));
        for (op, counted) in F::KINDS.iter().map(|kind| kind.op).zip(kinds).chain([all]) {
            if let Some(mean) = counted.mean() {
                let key = key(&replay, &entry).op(op);
                results.of(key).put(Metric::Instructions, Stat::Mean, mean, counted.operations);
            }
        }
    }
    tell(results, &replay);
    Ok(())
}

/// Counts the instructions of every workload of maps, at every size, on every map.
///
/// # Errors
/// Valgrind is not here or fails.
pub fn of_maps(
    cases: &[&Benched<Kind>],
    sizes: &[u32],
    engines: &[MapEntry],
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    check()?;
    for &&Benched { name, kind } in cases {
        for &n in Workload::fixed_sizes(kind).unwrap_or(sizes) {
            let operations = operations(&Workload { name, kind, n });
            for entry in engines.iter().filter(|_| !operations.is_empty()) {
                progress.tick(&format!("{name} n {n}: counting instructions of {}", entry.engine));
                let arguments = sized(&format!("{OF_MAPS}{name}"), n, entry.engine);
                let totals = totals(&arguments, operations.len())?;
                for (&(op, operations), total) in operations.iter().zip(totals) {
                    let key = entry.key(name).op(op).param(Field::N, n);
                    let mean = total as f64 / operations.max(1) as f64;
                    results.of(key).put(Metric::Instructions, Stat::Mean, mean, operations);
                }
            }
        }
    }
    Ok(())
}

/// What is run under callgrind: a workload's operations on an engine; with a size, one of `bench`.
///
/// # Errors
/// There is no such workload or engine, or the engine answers otherwise in another run.
pub fn run_under_callgrind(file: &Path, n: Option<u32>, engine: &str) -> anyhow::Result<()> {
    let Some(n) = n else { return of_family!(file, run_one(file, engine)) };
    let name = &shown(file);
    match SIZED.iter().find_map(|(begin, run)| Some((run, name.strip_prefix(begin)?))) {
        Some((run, name)) => run(name, n, engine),
        None => super::wishes::run_under_callgrind(name, n, engine),
    }
}

fn run_map(workload: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let engines = find_maps(&[engine.to_owned()])?;
    for &Benched { name, kind } in
        find_cases("workload", &[workload.to_owned()], MAPS_BENCHED, |case| case.name)?
    {
        engines
            .iter()
            .filter_map(|entry| entry.map)
            .for_each(|make| run_counted(&Workload { name, kind, n }, make));
    }
    Ok(())
}

fn run_one<F: Replayable>(name: &Path, engine: &str) -> anyhow::Result<()> {
    instructions::run::<F>(&entry::<F>(engine)?, &F::workload(name)?).map_err(anyhow::Error::msg)
}

/// The engine of that label, the floor among them.
fn entry<F: Family>(label: &str) -> Result<Listed<F::Facts>, Failure> {
    if let Some(floor) = F::Facts::FLOOR.filter(|floor| floor.label() == label) {
        return Ok(floor);
    }
    let named = F::engines(&[label.to_owned()])?.into_iter().find(|entry| entry.label() == label);
    named.ok_or_else(|| Failure::Usage(format!("no engine {label:?} by its full name")))
}
