//! Replay, verify, inspect and compare: the program's commands as functions that return results.

use crate::columns::IN_MEMORY;
use crate::detached::detached;
use crate::errors::{failed, raise};
use crate::guest::{self, Engine};
use crate::results::Results;
use crate::trace::Trace;
use freehold_lab::engine::{Facts, Listed, outside};
use freehold_lab::failure::Failure;
use freehold_lab::family::{Family, Kva, Maple, Percpu};
use freehold_lab::kind::Suite;
use freehold_lab::record::{Field, Results as Found, Value};
use freehold_lab::workload::{kind_of, shown};
use freehold_lab::{Progress, commands, itself, program};
use freehold_trace::TraceError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// What is run: a file by its path, or a trace in memory.
#[derive(FromPyObject)]
pub(crate) enum Source {
    Trace(Trace),
    Path(PathBuf),
}

/// The files of what is run, and those among them that are there for the run alone.
struct Files {
    files: Vec<PathBuf>,
    made: Vec<TempPath>,
}

impl Files {
    fn of(sources: Vec<Source>) -> anyhow::Result<Self> {
        let (mut files, mut made) = (Vec::new(), Vec::new());
        for source in sources {
            match source {
                Source::Path(path) => files.push(path),
                Source::Trace(trace) => {
                    let (file, temporary) = trace.file()?;
                    files.push(file);
                    made.extend(temporary);
                }
            }
        }
        Ok(Self { files, made })
    }

    /// Results that do not name files which nobody can open any more.
    fn results(&self, command: &str, mut found: Found) -> Results {
        for gone in &self.made {
            let gone = shown(gone);
            let file: Value = gone.as_str().into();
            let named = found.records.iter_mut().filter_map(|record| record.key.params.get_mut(&Field::File));
            named.filter(|named| **named == file).for_each(|named| *named = IN_MEMORY.into());
        }
        found.notes.iter_mut().for_each(|note| *note = self.renamed(note));
        Results::new(command, found)
    }

    /// A message that does not name such files.
    fn renamed(&self, message: &str) -> String {
        self.made.iter().fold(message.to_owned(), |message, gone| message.replace(&shown(gone), IN_MEMORY))
    }

    /// An error that does not name such a file.
    fn error(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast() {
            Ok(TraceError::Line { file, line, reason }) if self.made.iter().any(|gone| **gone == *file) => {
                TraceError::at(Path::new(IN_MEMORY), line, reason).into()
            }
            Ok(other) => other.into(),
            Err(error) => match error.downcast() {
                Ok(Failure::Usage(what)) => Failure::Usage(self.renamed(&what)).into(),
                Ok(Failure::Lacking(what)) => Failure::Lacking(self.renamed(&what)).into(),
                Err(error) => anyhow::Error::msg(self.renamed(&format!("{error:#}"))),
            },
        }
    }
}

fn progress(told: bool) -> Progress {
    if told { Progress::default() } else { Progress::silent() }
}

/// Runs a command on files and the names of engines. What a class raised is the cause of its failure.
fn run(
    py: Python<'_>,
    sources: Vec<Source>,
    engines: Vec<Engine>,
    command: &'static str,
    body: impl FnOnce(&[PathBuf], &[String]) -> anyhow::Result<Found> + Send + 'static,
) -> PyResult<Results> {
    let calls = engines.iter().any(|engine| matches!(engine, Engine::Class(..)));
    let ran = move || {
        let _classes = guest::Classes;
        let files = Files::of(sources)?;
        let found = guest::names(engines).map_err(Into::into).and_then(|names| body(&files.files, &names));
        found.map(|found| files.results(command, found)).map_err(|error| files.error(error))
    };
    let failure = |(error, cause)| {
        let raised = failed(&error);
        raised.set_cause(py, cause);
        raised
    };
    detached(py, calls, move || ran().map_err(|error| (error, guest::raised())))?.map_err(failure)
}

/// Replays workloads on engines, as `freehold replay` does.
#[pyfunction]
pub(crate) fn replay(
    py: Python<'_>,
    sources: Vec<Source>,
    engines: Vec<Engine>,
    rounds: usize,
    instructions: bool,
    told: bool,
) -> PyResult<Results> {
    run(py, sources, engines, "replay", move |files, engines| {
        if instructions {
            return commands::instructions::run(files, engines, &mut progress(told));
        }
        let each: Vec<_> = files.iter().map(|file| (file, rounds)).collect();
        commands::replay::run(&each, engines, &mut progress(told))
    })
}

/// Predicts addresses of recordings of kernel areas, as `freehold replay --set` does.
#[pyfunction]
pub(crate) fn predict(py: Python<'_>, sources: Vec<Source>, settings: Vec<String>) -> PyResult<Results> {
    run(py, sources, Vec::new(), "replay", move |files, _| {
        commands::replay::predict(files, &settings, freehold_lab::predict::Way::default())
    })
}

/// Holds engines against recorded answers, as `freehold verify` does.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    sources: Vec<Source>,
    engines: Vec<Engine>,
    told: bool,
) -> PyResult<Results> {
    run(py, sources, engines, "verify", move |files, engines| {
        let engines = outside::named(engines)?;
        commands::verify::run(files, &engines, &mut progress(told))
    })
}

/// Says what is in a file, as `freehold inspect` does.
#[pyfunction]
pub(crate) fn inspect(py: Python<'_>, source: Source) -> PyResult<Results> {
    run(py, vec![source], Vec::new(), "inspect", |files, _| {
        let mut found = Found::default();
        for file in files {
            found.absorb(commands::inspect::run(file)?);
        }
        Ok(found)
    })
}

/// Sets two results of one command side by side, as `freehold compare` does.
#[pyfunction]
pub(crate) fn compare(before: &Results, after: &Results) -> PyResult<Results> {
    let found = commands::compare::results((&before.command, &before.found), (&after.command, &after.found));
    found.map(|found| Results::new("compare", found)).map_err(|error| failed(&error))
}

/// Runs the program with these arguments, the first of which is its name; the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| program::main(arguments))
}

/// Says how the program is started once more, which a run under callgrind does.
#[pyfunction]
pub(crate) fn started_by(command: Vec<OsString>) {
    itself::is_started_by(command);
}

/// Panics on the thread of a run, for the test that this becomes an exception.
#[pyfunction]
#[allow(clippy::panic, reason = "it is there for that")]
pub(crate) fn panics(py: Python<'_>) -> PyResult<()> {
    detached(py, false, || panic!("as the test wants"))
}

/// The engines of a family, in the order of the lab's list.
#[pyfunction]
pub(crate) fn engines(family: &str) -> PyResult<Vec<String>> {
    fn labels<F: Family>() -> Vec<String> {
        F::Facts::ALL.iter().chain(F::Facts::VARIANTS).map(Listed::label).collect()
    }
    match Suite::named(family) {
        Some(Suite::Kva) => Ok(labels::<Kva>()),
        Some(Suite::Percpu) => Ok(labels::<Percpu>()),
        Some(Suite::Maple) => Ok(labels::<Maple>()),
        None => Err(raise("UsageError", format!("no family {family:?}; there are kva, percpu and maple"))),
    }
}

/// The family of engines that a file is for.
#[pyfunction]
pub(crate) fn family_of(path: PathBuf) -> PyResult<&'static str> {
    kind_of(&path).map(|kind| kind.suite().name()).map_err(|error| failed(&error))
}
