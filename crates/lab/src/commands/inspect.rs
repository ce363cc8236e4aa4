//! `freehold inspect`: what is in a trace or vector file.

use crate::measure::Counts;
use crate::output::{Document, Row, Table, count, fixed};
use crate::workload::{self, Workload};
use freehold::units::Bytes;
use freehold_trace::kva::Op;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Points of the live set's table.
const POINTS: usize = 16;

/// Describes a file.
///
/// # Errors
/// It cannot be read as a trace or vector file of a family that is known.
pub fn run(file: &Path) -> anyhow::Result<Document> {
    let workload = workload::from_file(file)?;
    let mut document = Document::default();
    let seconds = workload.at_ns.as_ref().and_then(|at| Some(*at.last()? as f64 / 1e9));
    let lives = Lives::of(&workload);
    document.tables.push(events(&workload, seconds, &mut document.rows));
    document.tables.push(sizes(&workload));
    document.tables.push(lifetimes(&workload, &lives));
    document.tables.push(live_set(&workload, &lives));
    document.notes.push(format!("{}: {}", workload.name, workload.description));
    Ok(document)
}

/// When objects live, in operations, and the set of live objects over time.
#[derive(Default)]
struct Lives {
    /// For each object that was freed: the operations at which it came and went.
    ended: Vec<(usize, usize)>,
    /// Live objects and bytes after each operation.
    live: Vec<(u64, u64)>,
}

impl Lives {
    fn of(workload: &Workload) -> Self {
        let mut lives = Self::default();
        let mut open: HashMap<u32, (Option<usize>, u64)> = HashMap::new();
        let mut bytes = 0u64;
        let setup = workload.setup.iter().map(|op| (op, None));
        let ops = workload.ops.iter().enumerate().map(|(at, op)| (op, Some(at)));
        for (op, at) in setup.chain(ops) {
            match op {
                Op::Free { object } => {
                    if let Some((from, size)) = open.remove(object) {
                        bytes = bytes.saturating_sub(size);
                        lives.ended.extend(from.zip(at));
                    }
                }
                Op::Alloc { object, .. } | Op::Congruent { object, .. } => {
                    let size = size_of_op(op);
                    bytes = bytes.saturating_add(size);
                    open.insert(*object, (at, size));
                }
            }
            if at.is_some() {
                lives.live.push((open.len() as u64, bytes));
            }
        }
        lives
    }
}

fn size_of_op(op: &Op) -> u64 {
    match op {
        Op::Alloc { size_bytes, .. } => *size_bytes,
        Op::Congruent { areas, .. } => {
            areas.iter().fold(0u64, |sum, area| sum.saturating_add(area.size_saturating()))
        }
        Op::Free { .. } => 0,
    }
}

fn events(workload: &Workload, seconds: Option<f64>, rows: &mut Vec<Row>) -> Table {
    let mut table = Table::new(format!("{}: events", workload.name), &["event", "count", "per second"]);
    let frees = workload.ops.iter().filter(|op| op.is_free()).count() as u64;
    let allocs = workload.ops.len() as u64 - frees;
    let initial = ("live at the start, placed where they were", workload.setup.len() as u64);
    let mut kinds = vec![("allocation", allocs), ("free", frees)];
    if initial.1 > 0 {
        kinds.push(initial);
    }
    let replayed = kinds.len();
    kinds.extend(&workload.skipped);
    for (at, (kind, number)) in kinds.into_iter().enumerate() {
        let per_second = seconds.filter(|&seconds| seconds > 0.0).map(|seconds| number as f64 / seconds);
        let name = if at < replayed { kind.to_owned() } else { format!("{kind} (not replayed)") };
        table.row(vec![name.clone(), count(number), per_second.map_or_else(|| "-".to_owned(), fixed)]);
        rows.push(Row {
            suite: "kva",
            workload: Some(workload.name.clone()),
            file: workload.file.clone(),
            count: Some(number),
            note: Some(name),
            ..Row::default()
        });
    }
    table
}

fn sizes(workload: &Workload) -> Table {
    let mut classes: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut total = 0u64;
    for op in workload.ops.iter().filter(|op| !op.is_free()) {
        let size = size_of_op(op);
        let class = classes.entry(size.max(1).ilog2()).or_default();
        *class = (class.0 + 1, class.1.saturating_add(size));
        total += 1;
    }
    let title = format!("{}: sizes of allocations", workload.name);
    let mut table = Table::new(title, &["from", "count", "share", "bytes"]);
    for (log2, (number, bytes)) in classes {
        let share = 100.0 * number as f64 / total.max(1) as f64;
        let from = Bytes(1 << log2).to_string();
        table.row(vec![from, count(number), format!("{share:.1} %"), Bytes::from(bytes).to_string()]);
    }
    table
}

fn lifetimes(workload: &Workload, lives: &Lives) -> Table {
    let at = |op: usize| workload.at_ns.as_ref().map_or(Some(op as u64), |at| at.get(op).copied());
    let spans = lives.ended.iter().filter_map(|&(from, until)| at(until)?.checked_sub(at(from)?));
    let mut lifetimes: Counts = spans.collect();
    let timed = workload.at_ns.is_some();
    let unit = if timed { "lifetime" } else { "lifetime in operations" };
    let mut table =
        Table::new(format!("{}: {unit}", workload.name), &["objects", "p1", "p50", "p90", "p99", "max"]);
    let mut row = vec![count(lifetimes.len() as u64)];
    for per_mille in [10, 500, 900, 990, 1000] {
        let value = lifetimes.percentile(per_mille);
        row.push(if timed { crate::output::nanoseconds(value as f64) } else { count(value) });
    }
    table.row(row);
    table
}

fn live_set(workload: &Workload, lives: &Lives) -> Table {
    let when = if workload.at_ns.is_some() { "seconds" } else { "operation" };
    let title = format!("{}: live objects over time", workload.name);
    let mut table = Table::new(title, &[when, "objects", "bytes"]);
    let stretch = lives.live.len().div_ceil(POINTS).max(1);
    for (number, points) in lives.live.chunks(stretch).enumerate() {
        let Some(&(objects, bytes)) = points.last() else { continue };
        let op = number * stretch + points.len() - 1;
        let at = match &workload.at_ns {
            Some(at) => format!("{:.1}", at.get(op).copied().unwrap_or(0) as f64 / 1e9),
            None => count(op as u64 + 1),
        };
        table.row(vec![at, count(objects), Bytes::from(bytes).to_string()]);
    }
    if let Some(peak) = lives.live.iter().max() {
        table.row(vec!["peak".to_owned(), count(peak.0), Bytes::from(peak.1).to_string()]);
    }
    table
}
