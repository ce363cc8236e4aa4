//! `freehold bench maple --instructions`: what each operation takes in instructions, map by map.

use crate::commands::Progress;
use crate::engine::maple::{EngineEntry, MakeMap, find_maps};
use crate::failure::Failure;
use crate::family::Entry;
use crate::measure::instructions::{can_count, totals};
use crate::measure::maple::{operations, run_counted};
use crate::measure::ratio;
use crate::output::{Document, Row, Table, count, fixed};
use crate::workload::maple::{Case, Workload, find_cases};

/// What the program is called with under callgrind, and what comes before the workload there.
pub const UNDER_CALLGRIND: (&str, &str) = (crate::commands::instructions::UNDER_CALLGRIND, "maple/");

/// Counts the instructions of every workload, at every size, on every map.
pub(super) fn run(
    cases: &[Case],
    sizes: &[u32],
    engines: &[(EngineEntry, MakeMap)],
    progress: &mut Progress,
) -> anyhow::Result<Document> {
    if !can_count() {
        let lacking = "--instructions: valgrind is not installed, whose callgrind counts them";
        return Err(Failure::Lacking(lacking.to_owned()).into());
    }
    let mut header = vec!["workload", "op", "n"];
    header.extend(engines.iter().map(|(entry, _)| entry.engine));
    let mut table = Table { name_columns: 2, ..Table::new("Instructions of an operation", &header) };
    let mut document = Document::default();
    for &case in cases {
        for &n in Workload::fixed_sizes(&case).unwrap_or(sizes) {
            let operations = operations(&Workload { case, n });
            let mut rows: Vec<Vec<String>> = operations
                .iter()
                .map(|(op, _)| vec![case.name.to_owned(), (*op).to_owned(), count(n.into())])
                .collect();
            let mut firsts: Vec<f64> = Vec::new();
            for (entry, _) in engines.iter().filter(|_| !operations.is_empty()) {
                progress.tick(&format!("{} n {n}: counting instructions of {}", case.name, entry.engine));
                let name = format!("{}{}", UNDER_CALLGRIND.1, case.name);
                let n_of = n.to_string();
                let arguments = [UNDER_CALLGRIND.0, &name, "--n", &n_of, entry.engine];
                let totals = totals(&arguments, operations.len())?;
                for (at, (&(op, operations), total)) in operations.iter().zip(totals).enumerate() {
                    let mean = total as f64 / operations.max(1) as f64;
                    if firsts.len() <= at {
                        firsts.push(mean);
                    }
                    let first = firsts.get(at).copied();
                    rows[at].push(fixed(mean));
                    document.rows.push(Row {
                        suite: "maple",
                        workload: Some(case.name.to_owned()),
                        engine: Some(entry.engine),
                        default: entry.is_default().then_some(true),
                        n: Some(n.into()),
                        op: Some(op),
                        count: Some(operations),
                        instructions_mean: Some(mean),
                        ratio: ratio(mean, first),
                        ..Row::default()
                    });
                }
            }
            rows.into_iter().for_each(|row| table.row(row));
        }
    }
    document.tables.push(table);
    Ok(document)
}

/// What is run under callgrind: a workload at a size, on a map.
///
/// # Errors
/// There is no such workload or map.
pub fn run_under_callgrind(workload: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let engines = find_maps(&[engine.to_owned()])?;
    for case in find_cases(&[workload.to_owned()])? {
        engines.iter().for_each(|&(_, make)| run_counted(&Workload { case, n }, make));
    }
    Ok(())
}
