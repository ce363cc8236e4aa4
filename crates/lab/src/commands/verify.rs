//! `freehold verify`: recorded answers against the engines that should give them.

use super::Progress;
use crate::output::{Document, Row, Table, count};
use crate::verify::{Checked, FileChecks, suite_of, verify_file};
use std::path::PathBuf;

/// Checks every file. A file that cannot be read, or of which nothing could be checked, fails like one that
/// differs; the others are checked all the same.
pub fn run(files: &[PathBuf], progress: &mut Progress) -> Document {
    let mut document = Document::default();
    let mut table = Table::new(
        "Recorded answers against our engines",
        &["file", "column", "engine", "operations", "mismatches"],
    );
    table.name_columns = 3;
    for file in files {
        let name = file.display().to_string();
        match verify_file(file, &mut || progress.tick(&name)) {
            Ok(checks) => add(&mut document, &mut table, &checks),
            Err(error) => {
                document.notes.push(format!("FAILED {error}"));
                document.rows.push(Row {
                    suite: suite_of(file).unwrap_or_default(),
                    file: Some(name),
                    count: Some(0),
                    mismatches: Some(1),
                    note: Some(error.to_string()),
                    ..Row::default()
                });
                document.failed = true;
            }
        }
    }
    let operations: u64 = document.rows.iter().filter_map(|row| row.count).sum();
    let mismatches: u64 = document.rows.iter().filter_map(|row| row.mismatches).sum();
    document.tables.push(table);
    document.notes.push(format!(
        "{}: {} files, {} operations checked, {} mismatches",
        if document.failed { "FAILED" } else { "passed" },
        files.len(),
        count(operations),
        count(mismatches)
    ));
    document
}

fn add(document: &mut Document, table: &mut Table, checks: &FileChecks) {
    let file = checks.file.display().to_string();
    let short =
        checks.file.file_name().map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned());
    for check in &checks.checks {
        let engine = match check.placement {
            Some(placement) => format!("{}:{placement}", check.engine),
            None if check.engine.is_empty() => "-".to_owned(),
            None => check.engine.to_owned(),
        };
        let shown =
            [short.clone(), check.what.clone(), engine, count(check.operations), count(check.mismatches)];
        table.row(shown.to_vec());
        document.rows.push(row(&file, checks.suite, check));
        if let Some(first) = &check.first {
            document.notes.push(format!(
                "FAILED {file}:{}: {} ({}): expected {}, got {}",
                first.line, check.what, check.engine, first.expected, first.got
            ));
        }
    }
    if checks.operations() == 0 {
        document.notes.push(format!("FAILED {file}: nothing in it could be checked"));
    }
    document.failed |= !checks.passed();
}

fn row(file: &str, suite: &'static str, check: &Checked) -> Row {
    Row {
        suite,
        workload: Some(check.what.clone()),
        engine: (!check.engine.is_empty()).then_some(check.engine),
        placement: check.placement,
        file: Some(file.to_owned()),
        count: Some(check.operations),
        mismatches: Some(check.mismatches),
        note: check.note.clone(),
        ..Row::default()
    }
}
