//! `freehold replay`: workloads on engines, side by side.

use super::{Progress, default_mark};
use crate::engine::{Compared, find_engines};
use crate::measure::{EngineRun, OpTimes, Replay, measure};
use crate::output::{Document, Row, Table, count, fixed, nanoseconds};
use crate::workload;
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
) -> anyhow::Result<(Document, Vec<Replay>)> {
    let engines = find_engines(engines, Compared::Always)?;
    let mut document = Document::default();
    let mut replays = Vec::new();
    for name in names {
        let workload = workload::named(name)?;
        let mut replay = measure(workload, &engines, rounds, &mut |what| progress.tick(what))?;
        describe(&mut document, &mut replay);
        replays.push(replay);
    }
    Ok((document, replays))
}

/// Adds a replay's tables, rows and notes.
pub fn describe(document: &mut Document, replay: &mut Replay) {
    let workload = &replay.workload;
    let title = match workload.n {
        Some(n) => format!("{} at {} live", workload.name, count(n)),
        None => workload.name.clone(),
    };
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
    let allocs: Vec<f64> = replay.runs.iter_mut().map(|run| median(&mut run.timed.alloc)).collect();
    let frees: Vec<f64> = replay.runs.iter_mut().map(|run| median(&mut run.timed.free)).collect();
    let loops: Vec<f64> = replay.runs.iter().map(|run| run.timed.loop_median_ns()).collect();
    for (at, run) in replay.runs.iter_mut().enumerate() {
        let ratio = |times: &[f64]| Some(times.get(at)? / times.first().filter(|&&first| first > 0.0)?);
        let base = base_row(&replay.workload, run);
        document.rows.push(alloc_row(base.clone(), run, ratio(&allocs)));
        document.rows.push(free_row(base.clone(), run, ratio(&frees)));
        document.rows.push(Row {
            op: Some("loop"),
            count: Some(replay.workload.ops.len() as u64),
            ns_median: loops.get(at).copied(),
            ns_median_range: range(run.timed.loop_ns.iter().copied()),
            ratio: ratio(&loops),
            ..base
        });
    }
}

/// The median over every round.
pub fn median(times: &mut OpTimes) -> f64 {
    times.all_ns.percentile(500) as f64
}

fn range(values: impl Iterator<Item = f64> + Clone) -> Option<[f64; 2]> {
    let (least, most) = (values.clone().reduce(f64::min)?, values.reduce(f64::max)?);
    Some([least, most])
}

/// A time relative to the first engine's.
fn times(value: f64, first: f64) -> String {
    if first > 0.0 { format!("{}x", fixed(value / first)) } else { "-".to_owned() }
}

fn time_table(title: &str, runs: &mut [EngineRun]) -> Table {
    let header = [
        "engine",
        "alloc p50",
        "p99",
        "p99.9",
        "ratio",
        "free p50",
        "p99",
        "p99.9",
        "ratio",
        "loop/op",
        "ratio",
    ];
    let mut table = Table::new(title, &header);
    let mut first: Option<[f64; 3]> = None;
    for run in runs {
        let timed = &mut run.timed;
        let medians = [median(&mut timed.alloc), median(&mut timed.free), timed.loop_median_ns()];
        let [alloc, free, whole] = *first.get_or_insert(medians);
        let ns = |value: u64| nanoseconds(value as f64);
        table.row(vec![
            run.entry.label(),
            nanoseconds(medians[0]),
            ns(timed.alloc.all_ns.percentile(990)),
            ns(timed.alloc.all_ns.percentile(999)),
            times(medians[0], alloc),
            nanoseconds(medians[1]),
            ns(timed.free.all_ns.percentile(990)),
            ns(timed.free.all_ns.percentile(999)),
            times(medians[1], free),
            nanoseconds(medians[2]),
            times(medians[2], whole),
        ]);
    }
    table
}

fn work_table(title: &str, runs: &mut [EngineRun]) -> Table {
    let header = [
        "engine",
        "operations",
        "failures",
        "work/alloc",
        "p99",
        "max",
        "free blocks",
        "largest/free",
        "span/used",
        "B/free block",
        "metadata",
    ];
    let mut table = Table::new(title, &header);
    for run in runs {
        let counted = &mut run.counted;
        let state = counted.last_state();
        table.row(vec![
            run.entry.label(),
            count(counted.answers.len() as u64),
            count(counted.failures),
            fixed(counted.alloc_work.mean()),
            count(counted.alloc_work.percentile(990)),
            count(counted.alloc_work.percentile(1000)),
            count(state.free_blocks),
            format!("{:.4}", state.largest_ratio()),
            format!("{:.3}", state.span_ratio()),
            counted.bytes_per_free_block.map_or_else(|| "-".to_owned(), fixed),
            Bytes::from(counted.metadata_peak_bytes as u64).to_string(),
        ]);
    }
    table
}

fn base_row(workload: &workload::Workload, run: &EngineRun) -> Row {
    Row {
        suite: "kva",
        workload: Some(workload.name.clone()),
        engine: Some(run.entry.engine),
        placement: run.entry.placement,
        default: default_mark(&run.entry),
        file: workload.file.clone(),
        n: workload.n,
        ..Row::default()
    }
}

fn alloc_row(base: Row, run: &mut EngineRun, ratio: Option<f64>) -> Row {
    let state = run.counted.last_state();
    let counted = &mut run.counted;
    Row {
        failures: Some(counted.failures),
        work_mean: Some(counted.alloc_work.mean()),
        work_p99: Some(counted.alloc_work.percentile(990)),
        work_p999: Some(counted.alloc_work.percentile(999)),
        work_max: Some(counted.alloc_work.percentile(1000)),
        free_blocks: Some(state.free_blocks),
        largest_free_ratio: Some(state.largest_ratio()),
        span_ratio: Some(state.span_ratio()),
        bytes_per_item: counted.bytes_per_free_block,
        metadata_peak_bytes: Some(counted.metadata_peak_bytes as u64),
        ratio,
        ..time_row(base, "alloc", counted.alloc_work.len(), &mut run.timed.alloc)
    }
}

fn free_row(base: Row, run: &mut EngineRun, ratio: Option<f64>) -> Row {
    let counted = &mut run.counted;
    Row {
        work_mean: Some(counted.free_work.mean()),
        work_p99: Some(counted.free_work.percentile(990)),
        work_p999: Some(counted.free_work.percentile(999)),
        work_max: Some(counted.free_work.percentile(1000)),
        ratio,
        ..time_row(base, "free", counted.free_work.len(), &mut run.timed.free)
    }
}

fn time_row(base: Row, op: &'static str, operations: usize, times: &mut OpTimes) -> Row {
    Row {
        op: Some(op),
        count: Some(operations as u64),
        ns_median: Some(median(times)),
        ns_median_range: range(times.medians_ns.iter().map(|&ns| ns as f64)),
        ns_p99: Some(times.all_ns.percentile(990)),
        ns_p999: Some(times.all_ns.percentile(999)),
        ..base
    }
}
