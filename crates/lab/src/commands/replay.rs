//! `freehold replay`: workloads on engines, side by side, whichever family each workload is of.

use super::Progress;
use crate::family::{Entry, FLOOR_NOTE, Kva, Maple, Percpu, Replayable, Suite};
use crate::measure::{EngineRun, FloorRun, OpTimes, Replay, Timed, measure, ratio};
use crate::output::{Document, Row, Table, count, fixed, nanoseconds};
use crate::report::{Drawn, Replayed};
use freehold::units::Bytes;

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
) -> anyhow::Result<(Document, Vec<Replayed>)> {
    let mut document = Document::default();
    let mut replays = Vec::new();
    for name in names {
        replays.push(one(name, engines, rounds, &mut document, progress)?);
    }
    Ok((document, replays))
}

/// Replays a workload, and adds its tables, rows and notes.
///
/// # Errors
/// As [`run`].
pub fn one(
    name: &str,
    engines: &[String],
    rounds: usize,
    document: &mut Document,
    progress: &mut Progress,
) -> anyhow::Result<Replayed> {
    match Suite::of_workload(name)? {
        Suite::Kva => replay::<Kva>(name, engines, rounds, document, progress),
        Suite::Percpu => replay::<Percpu>(name, engines, rounds, document, progress),
        Suite::Maple => replay::<Maple>(name, engines, rounds, document, progress),
    }
}

fn replay<F: Drawn>(
    name: &str,
    engines: &[String],
    rounds: usize,
    document: &mut Document,
    progress: &mut Progress,
) -> anyhow::Result<Replayed> {
    let engines = F::engines(engines)?;
    let mut replay = measure(F::workload(name)?, &engines, rounds, &mut |what| progress.tick(what))?;
    describe::<F>(document, &mut replay);
    Ok(Replayed::new(replay))
}

/// Adds a replay's tables, rows and notes.
fn describe<F: Replayable>(document: &mut Document, replay: &mut Replay<F>) {
    let workload = &replay.workload;
    let title = workload.title();
    let measured = count(workload.ops.len() as u64);
    let heading = format!("{title}: {} ({measured} operations)", workload.description);
    document.tables.push(time_table(&heading, &mut replay.runs, replay.floor.as_mut()));
    document.tables.push(work_table(&format!("{title}: work and space"), &mut replay.runs));
    for (kind, skipped) in &workload.skipped {
        document.notes.push(format!("{title}: not replayed: {} x {kind}", count(*skipped)));
    }
    for (entry, reason) in &replay.refused {
        document.notes.push(format!("{title}: {} left out: {reason}", entry.label()));
    }
    for run in replay.runs.iter().filter(|run| run.counted.nodes_taken.iter().any(|&nodes| nodes > 0)) {
        let kinds = F::KINDS.iter().zip(&run.counted.nodes_taken).zip(&run.counted.work);
        let taken = kinds.map(|((kind, &nodes), work)| {
            format!("{} nodes in {} x {}", count(nodes), count(work.len() as u64), kind.op)
        });
        let taken: Vec<String> = taken.collect();
        document.notes.push(format!("{title}: {} took {}", run.entry.label(), taken.join(", ")));
    }
    if replay.floor.is_some() && document.notes.iter().all(|note| note != FLOOR_NOTE) {
        document.notes.push(FLOOR_NOTE.to_owned());
    }
    add_rows(document, replay);
}

/// Adds the rows: for each engine those of its kinds of operations, and that of the loop.
fn add_rows<F: Replayable>(document: &mut Document, replay: &mut Replay<F>) {
    let workload = &replay.workload;
    let base = |entry: &F::Entry| {
        let row = F::scene_row(&workload.scene, entry.row());
        Row { workload: Some(workload.name.clone()), file: workload.file.clone(), n: workload.n, ..row }
    };
    let operations = workload.ops.len() as u64;
    let first_loop = replay.runs.first().map(|run| run.timed.loop_median_ns());
    let mut firsts: Vec<f64> = Vec::new();
    for (at, run) in replay.runs.iter_mut().enumerate() {
        let base = base(&run.entry);
        for kind in 0..F::KINDS.len() {
            let row = kind_row(base.clone(), run, kind);
            let ns = row.ns_median.unwrap_or(0.0);
            if at == 0 {
                firsts.push(ns);
            }
            document.rows.push(Row { ratio: ratio(ns, firsts.get(kind).copied()), ..row });
        }
        let ratio = ratio(run.timed.loop_median_ns(), first_loop);
        document.rows.push(Row { ratio, ..loop_row(base, &run.timed, operations) });
    }
    if let Some(floor) = &replay.floor {
        let of_kind = (0..F::KINDS.len()).map(|kind| times_row::<F>(base(&floor.entry), &floor.timed, kind));
        document.rows.extend(of_kind);
        document.rows.push(loop_row(base(&floor.entry), &floor.timed, operations));
    }
}

fn range(values: impl Iterator<Item = f64> + Clone) -> Option<[f64; 2]> {
    let (least, most) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
    Some([least, most])
}

/// A time relative to the first engine's.
fn times(value: f64, first: f64) -> String {
    if first > 0.0 { format!("{}x", fixed(value / first)) } else { "-".to_owned() }
}

fn time_table<F: Replayable>(
    title: &str,
    runs: &mut [EngineRun<F>],
    floor: Option<&mut FloorRun<F>>,
) -> Table {
    let mut table = Table::new(title, &["engine"]);
    for kind in F::KINDS {
        table.header.extend([format!("{} p50", kind.op), "p99".into(), "p99.9".into(), "ratio".into()]);
    }
    table.header.extend(["loop/op".to_owned(), "ratio".to_owned()]);
    let mut first: Option<Vec<f64>> = None;
    for run in runs {
        let medians = medians(&mut run.timed);
        let first = first.get_or_insert_with(|| medians.clone());
        let ratios = medians.iter().zip(first.iter()).map(|(&ns, &first)| times(ns, first)).collect();
        table.row(time_cells(run.entry.table_label(), &mut run.timed, ratios));
    }
    if let Some(floor) = floor {
        let none = vec!["-".to_owned(); F::KINDS.len() + 1];
        table.row(time_cells(floor.entry.table_label(), &mut floor.timed, none));
    }
    table
}

/// The median of each kind of operation, and the loop's.
fn medians(timed: &mut Timed) -> Vec<f64> {
    let mut medians: Vec<f64> = timed.kinds.iter_mut().map(OpTimes::median_ns).collect();
    medians.push(timed.loop_median_ns());
    medians
}

/// A line of the table: `ratios` are those of the kinds of operations and of the loop.
fn time_cells(label: String, timed: &mut Timed, ratios: Vec<String>) -> Vec<String> {
    let mut cells = vec![label];
    let medians = medians(timed);
    let mut spreads = timed
        .kinds
        .iter_mut()
        .map(|kind| [990, 999].map(|per_mille| nanoseconds(kind.all_ns.percentile(per_mille) as f64)));
    for (ns, ratio) in medians.into_iter().zip(ratios) {
        cells.push(nanoseconds(ns));
        cells.extend(spreads.next().into_iter().flatten());
        cells.push(ratio);
    }
    cells
}

fn work_table<F: Replayable>(title: &str, runs: &mut [EngineRun<F>]) -> Table {
    let mut table = Table::new(title, &["engine", "operations", "failures"]);
    for kind in F::KINDS {
        table.header.extend([format!("work/{}", kind.op), "p99".to_owned(), "max".to_owned()]);
    }
    table.header.extend(F::SEEN.iter().map(|&name| name.to_owned()));
    table.header.push("metadata".to_owned());
    for run in runs {
        let mut cells =
            vec![run.entry.label(), count(run.counted.answers.len() as u64), count(run.counted.failures)];
        for work in &mut run.counted.work {
            cells.extend([fixed(work.mean()), count(work.percentile(990)), count(work.percentile(1000))]);
        }
        cells.extend(F::seen_cells(run));
        cells.push(Bytes::from(run.counted.metadata_peak_bytes as u64).to_string());
        table.row(cells);
    }
    table
}

/// The row of a kind of operation. What concerns the whole run is in that of the first kind.
fn kind_row<F: Replayable>(base: Row, run: &mut EngineRun<F>, kind: usize) -> Row {
    let mut work = run.counted.work_of(kind);
    let row = Row {
        work_mean: Some(work.mean()),
        work_p99: Some(work.percentile(990)),
        work_p999: Some(work.percentile(999)),
        work_max: Some(work.percentile(1000)),
        nodes_used: run.counted.nodes_taken.get(kind).copied().filter(|&nodes| nodes > 0),
        ..times_row::<F>(base, &run.timed, kind)
    };
    if kind > 0 {
        return row;
    }
    let row = F::seen_row(run, row);
    Row {
        failures: Some(run.counted.failures),
        metadata_peak_bytes: Some(run.counted.metadata_peak_bytes as u64),
        ..row
    }
}

/// The times of a kind of operation.
fn times_row<F: Replayable>(base: Row, timed: &Timed, kind: usize) -> Row {
    let mut times = timed.of(kind);
    Row {
        op: F::KINDS.get(kind).map(|kind| kind.op),
        count: Some((times.all_ns.len() / timed.loop_ns.len().max(1)) as u64),
        ns_median: Some(times.median_ns()),
        ns_median_range: range(times.medians_ns.iter().map(|&ns| ns as f64)),
        ns_p99: Some(times.all_ns.percentile(990)),
        ns_p999: Some(times.all_ns.percentile(999)),
        ..base
    }
}

/// The time of the whole run for each operation.
fn loop_row(base: Row, timed: &Timed, operations: u64) -> Row {
    Row {
        op: Some("loop"),
        count: Some(operations),
        ns_median: Some(timed.loop_median_ns()),
        ns_median_range: range(timed.loop_ns.iter().copied()),
        ..base
    }
}
