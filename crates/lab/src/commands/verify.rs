//! `freehold verify`: recorded answers against the engines that should give them.

use super::named_once;
use crate::Progress;
use crate::engine::outside::Library;
use crate::kind::Kind;
use crate::record::{Field, Key, Metric, Results, counted};
use crate::verify::{FileChecks, verify_file};
use crate::workload::shown;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often it is said that there is progress.
const EACH: Duration = Duration::from_millis(50);

/// Checks every file. A file that cannot be read, or of which a column has nothing that could be compared, fails like one
/// that differs; the others are checked all the same.
///
/// With `engines`, which are from outside, these are checked instead of those that are listed.
///
/// # Errors
/// A file is named twice.
pub fn run(
    files: &[PathBuf],
    engines: &[&'static Library],
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    named_once(files.iter().map(PathBuf::as_path))?;
    let mut results = Results::default();
    let (mut operations, mut mismatches, mut unread) = (0, 0, 0);
    for (at, file) in files.iter().enumerate() {
        progress.part(at, files.len());
        let name = shown(file);
        let mut told = Instant::now();
        let mut tick = || {
            if told.elapsed() > EACH {
                progress.tick(&name);
                told = Instant::now();
            }
        };
        match verify_file(file, engines, &mut tick) {
            Ok(checks) => {
                operations += checks.operations();
                mismatches += checks.checks.iter().map(|check| check.mismatches).sum::<u64>();
                add(&mut results, &checks);
            }
            Err(error) => {
                results.note(format!("FAILED {error}"));
                // As far as its beginning tells, even if the rest cannot be read.
                let suite = Kind::of(file).map_or("", |kind| kind.suite().name());
                let key = Key::new(suite, "").param(Field::File, name);
                results.of(key).total(Metric::Checked, 0);
                results.failed = true;
                unread += 1;
            }
        }
    }
    engines.iter().for_each(|library| results.note(library.note()));
    let unread = match unread {
        0 => String::new(),
        unread => format!(", {} cannot be checked", counted(unread, "file")),
    };
    results.note(format!(
        "{}: {}, {} checked, {}{unread}",
        if results.failed { "FAILED" } else { "passed" },
        counted(files.len() as u64, "file"),
        counted(operations, "operation"),
        counted(mismatches, "mismatch")
    ));
    Ok(results)
}

fn add(results: &mut Results, checks: &FileChecks) {
    let file = shown(&checks.file);
    for check in &checks.checks {
        let (what, engine) = (&check.what, check.engine);
        let key = Key::new(checks.suite, what.clone()).engine(engine).param(Field::File, file.clone());
        let key = key.param(Field::Content, checks.content.clone());
        let key = key.param_if(Field::Placement, check.placement);
        results.of(key).total(Metric::Checked, check.operations).total(Metric::Mismatches, check.mismatches);
        if let Some(first) = &check.first {
            let (line, expected, got) = (first.line, &first.expected, &first.got);
            results.note(format!("FAILED {file}:{line}: {what} ({engine}): expected {expected}, got {got}"));
        }
        if check.lacks_comparisons() {
            results.note(format!("FAILED {file}: {what} ({engine}): nothing could be compared"));
        }
        if let Some(note) = &check.note {
            results.note(format!("{file}: {what}: {note}"));
        }
    }
    if checks.operations() == 0 {
        results.note(format!("FAILED {file}: nothing in it could be checked"));
    }
    results.failed |= !checks.passed();
}
