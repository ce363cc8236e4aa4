//! `freehold replay`: workloads on engines, side by side, whichever family each workload is of.

use super::Progress;
use crate::family::{Entry, Kva, Maple, Percpu, Replayable, Suite};
use crate::measure::{EngineRun, OpTimes, Replay, measure};
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
    document.tables.push(time_table(&heading, &mut replay.runs));
    document.tables.push(work_table(&format!("{title}: work and space"), &mut replay.runs));
    for (kind, skipped) in &workload.skipped {
        document.notes.push(format!("{title}: not replayed: {} x {kind}", count(*skipped)));
    }
    for (entry, reason) in &replay.refused {
        document.notes.push(format!("{title}: {} left out: {reason}", entry.label()));
    }
    let loops: Vec<f64> = replay.runs.iter().map(|run| run.timed.loop_median_ns()).collect();
    let mut firsts: Vec<f64> = Vec::new();
    for (at, run) in replay.runs.iter_mut().enumerate() {
        let workload = &replay.workload;
        let base = Row {
            workload: Some(workload.name.clone()),
            file: workload.file.clone(),
            n: workload.n,
            ..F::scene_row(&workload.scene, run.entry.row())
        };
        for kind in 0..F::KINDS.len() {
            let row = kind_row(base.clone(), run, kind);
            let ns = row.ns_median.unwrap_or(0.0);
            if at == 0 {
                firsts.push(ns);
            }
            let first = firsts.get(kind).filter(|&&first| first > 0.0);
            document.rows.push(Row { ratio: first.map(|first| ns / first), ..row });
        }
        let first = loops.first().filter(|&&first| first > 0.0);
        document.rows.push(Row {
            op: Some("loop"),
            count: Some(workload.ops.len() as u64),
            ns_median: loops.get(at).copied(),
            ns_median_range: range(run.timed.loop_ns.iter().copied()),
            ratio: loops.get(at).zip(first).map(|(ns, first)| ns / first),
            ..base
        });
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

fn time_table<F: Replayable>(title: &str, runs: &mut [EngineRun<F>]) -> Table {
    let mut table = Table::new(title, &["engine"]);
    for kind in F::KINDS {
        table.header.extend([format!("{} p50", kind.op), "p99".into(), "p99.9".into(), "ratio".into()]);
    }
    table.header.extend(["loop/op".to_owned(), "ratio".to_owned()]);
    let mut first: Option<Vec<f64>> = None;
    for run in runs {
        let timed = &mut run.timed;
        let mut medians: Vec<f64> = timed.kinds.iter_mut().map(OpTimes::median_ns).collect();
        medians.push(timed.loop_median_ns());
        let first = first.get_or_insert_with(|| medians.clone());
        let ratios = medians.iter().zip(first.iter()).map(|(&ns, &first)| times(ns, first));
        let mut cells = vec![run.entry.label()];
        let mut spreads = timed
            .kinds
            .iter_mut()
            .map(|kind| [990, 999].map(|per_mille| nanoseconds(kind.all_ns.percentile(per_mille) as f64)));
        for (&ns, ratio) in medians.iter().zip(ratios) {
            cells.push(nanoseconds(ns));
            cells.extend(spreads.next().into_iter().flatten());
            cells.push(ratio);
        }
        table.row(cells);
    }
    table
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
    let (mut work, mut times) = (run.counted.work_of(kind), run.timed.of(kind));
    let row = Row {
        op: F::KINDS.get(kind).map(|kind| kind.op),
        count: Some(work.len() as u64),
        ns_median: Some(times.median_ns()),
        ns_median_range: range(times.medians_ns.iter().map(|&ns| ns as f64)),
        ns_p99: Some(times.all_ns.percentile(990)),
        ns_p999: Some(times.all_ns.percentile(999)),
        work_mean: Some(work.mean()),
        work_p99: Some(work.percentile(990)),
        work_p999: Some(work.percentile(999)),
        work_max: Some(work.percentile(1000)),
        ..base
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
