//! `freehold replay --instructions`: what operations of recorded workloads take in instructions, engine by engine and kind
//! by kind.

use super::Progress;
use crate::failure::Failure;
use crate::family::{Entry, FLOOR_NOTE, Kva, Maple, Percpu, Replayable, Suite};
use crate::measure::instructions::{self, Instructions};
use crate::measure::{Replay, measure, ratio};
use crate::output::{Document, Row, Table, count, fixed};

/// What the program is called with under callgrind, before the workload and the engine.
pub const UNDER_CALLGRIND: &str = "count-instructions";

/// Counts the instructions of every workload on the engines named.
///
/// # Errors
/// Valgrind is not here or fails, a workload cannot be read, no engine has such a name, or an engine answers wrong.
pub fn run(names: &[String], engines: &[String], progress: &mut Progress) -> anyhow::Result<Document> {
    if !instructions::can_count() {
        let lacking = "--instructions: valgrind is not installed, whose callgrind counts them";
        return Err(Failure::Lacking(lacking.to_owned()).into());
    }
    let mut document = Document::default();
    for name in names {
        match Suite::of_workload(name)? {
            Suite::Kva => one::<Kva>(name, engines, &mut document, progress)?,
            Suite::Percpu => one::<Percpu>(name, engines, &mut document, progress)?,
            Suite::Maple => one::<Maple>(name, engines, &mut document, progress)?,
        }
    }
    Ok(document)
}

/// An engine and the instructions of each kind of its operations.
type Engine<F> = (<F as crate::family::Family>::Entry, Vec<Instructions>);

fn one<F: Replayable>(
    name: &str,
    engines: &[String],
    document: &mut Document,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let engines = F::engines(engines)?;
    // No rounds: who can do it, and whose answers are right.
    let replay = measure(F::workload(name)?, &engines, 0, &mut |what| progress.tick(what))?;
    let able = replay.runs.iter().map(|run| run.entry);
    let able: Vec<F::Entry> = able.chain(replay.floor.iter().map(|floor| floor.entry)).collect();
    let mut counted = Vec::new();
    for entry in able {
        let label = entry.label();
        progress.tick(&format!("{name}: counting instructions of {label}"));
        let arguments = [UNDER_CALLGRIND, name, &label];
        counted.push((entry, instructions::count::<F>(&arguments, &replay.workload.ops)?));
    }
    describe::<F>(document, &replay, &counted);
    Ok(())
}

/// Adds a workload's table, rows and notes.
fn describe<F: Replayable>(document: &mut Document, replay: &Replay<F>, engines: &[Engine<F>]) {
    let workload = &replay.workload;
    let title = workload.title();
    let operations = count(workload.ops.len() as u64);
    let heading =
        format!("{title}: instructions for each of {operations} operations, the lab's own included");
    let mut table = Table::new(heading, &["engine"]);
    let first = engines.first().map(|(_, kinds)| columns::<F>(kinds));
    for (op, _) in first.iter().flatten() {
        table.header.extend([(*op).to_owned(), "ratio".to_owned()]);
    }
    for (entry, kinds) in engines {
        let mut cells = vec![entry.table_label()];
        for ((op, counted), (_, first)) in columns::<F>(kinds).into_iter().zip(first.iter().flatten()) {
            let mean = counted.mean();
            let to_first = mean.filter(|_| !entry.is_floor()).and_then(|mean| ratio(mean, first.mean()));
            cells.push(mean.map_or_else(|| "-".to_owned(), fixed));
            cells.push(to_first.map_or_else(|| "-".to_owned(), |ratio| format!("{}x", fixed(ratio))));
            document.rows.push(Row {
                workload: Some(workload.name.clone()),
                file: workload.file.clone(),
                n: workload.n,
                op: Some(op),
                count: Some(counted.operations),
                instructions_mean: mean,
                ratio: to_first,
                ..F::scene_row(&workload.scene, entry.row())
            });
        }
        table.row(cells);
    }
    document.tables.push(table);
    for (entry, reason) in &replay.refused {
        document.notes.push(format!("{title}: {} left out: {reason}", entry.label()));
    }
    if replay.floor.is_some() && document.notes.iter().all(|note| note != FLOOR_NOTE) {
        document.notes.push(FLOOR_NOTE.to_owned());
    }
}

/// The kinds of operations that there were, and all together.
fn columns<F: Replayable>(kinds: &[Instructions]) -> Vec<(&'static str, Instructions)> {
    let named = F::KINDS.iter().map(|kind| kind.op).zip(kinds.iter().copied());
    let were = named.filter(|(_, counted)| counted.operations > 0);
    were.chain([("all", Instructions::sum(kinds))]).collect()
}

/// What is run under callgrind: a workload's operations on an engine.
///
/// # Errors
/// There is no such workload or engine, or the engine answers otherwise in another run.
pub fn run_under_callgrind(name: &str, engine: &str) -> anyhow::Result<()> {
    match Suite::of_workload(name)? {
        Suite::Kva => run_one::<Kva>(name, engine),
        Suite::Percpu => run_one::<Percpu>(name, engine),
        Suite::Maple => run_one::<Maple>(name, engine),
    }
}

fn run_one<F: Replayable>(name: &str, engine: &str) -> anyhow::Result<()> {
    instructions::run::<F>(&entry::<F>(engine)?, &F::workload(name)?).map_err(anyhow::Error::msg)
}

/// The engine of that label, the floor among them.
fn entry<F: Replayable>(label: &str) -> Result<F::Entry, Failure> {
    if let Some(floor) = F::Entry::FLOOR.filter(|floor| floor.label() == label) {
        return Ok(floor);
    }
    let named = F::engines(&[label.to_owned()])?.into_iter().find(|entry| entry.label() == label);
    named.ok_or_else(|| Failure::Usage(format!("no engine {label:?} by its full name")))
}
