//! `freehold inspect`: what is in a trace or vector file, whichever family it is of.

use crate::family::{Kva, Life, Maple, Percpu, Replayable, Suite};
use crate::measure::{Counts, Demand, WINDOWS_NS};
use crate::output::{Document, Row, Table, count, fixed, nanoseconds};
use crate::workload::Workload;
use freehold::units::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Points of the live set's table.
const POINTS: usize = 16;

/// Describes a file.
///
/// # Errors
/// It cannot be read as a trace or vector file of a family that is known.
pub fn run(file: &Path) -> anyhow::Result<Document> {
    let name = file.to_string_lossy();
    match Suite::of_workload(&name)? {
        Suite::Kva => describe(&Kva::workload(&name)?),
        Suite::Percpu => describe(&Percpu::workload(&name)?),
        Suite::Maple => describe(&Maple::workload(&name)?),
    }
}

fn describe<F: Replayable>(workload: &Workload<F>) -> anyhow::Result<Document> {
    let mut document = Document::default();
    let lives = Lives::of(workload);
    document.tables.push(events(workload, &mut document.rows));
    document.tables.push(rates(workload));
    document.tables.push(sizes(workload));
    F::inspect(workload, &mut document);
    if lives.named {
        document.tables.push(lifetimes(workload, &lives));
        document.tables.push(live_set(workload, &lives));
    }
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
    /// Whether there are objects that operations name.
    named: bool,
}

impl Lives {
    fn of<F: Replayable>(workload: &Workload<F>) -> Self {
        let mut lives = Self::default();
        let mut open: HashMap<u32, (Option<usize>, u64)> = HashMap::new();
        let mut bytes = 0u64;
        let setup = workload.setup.iter().map(|op| (op, None));
        let ops = workload.ops.iter().enumerate().map(|(at, op)| (op, Some(at)));
        for (op, at) in setup.chain(ops) {
            match F::life(op) {
                Life::Ends(object) => {
                    if let Some((from, size)) = open.remove(&object) {
                        bytes = bytes.saturating_sub(size);
                        lives.ended.extend(from.zip(at));
                    }
                }
                Life::Begins(object, size) => {
                    bytes = bytes.saturating_add(size);
                    open.insert(object, (at, size));
                    lives.named = true;
                }
                Life::Comes(_) | Life::Neither => {}
            }
            if at.is_some() {
                lives.live.push((open.len() as u64, bytes));
            }
        }
        lives
    }
}

fn events<F: Replayable>(workload: &Workload<F>, rows: &mut Vec<Row>) -> Table {
    let mut table = Table::new(format!("{}: events", workload.name), &["event", "count", "per second"]);
    let seconds = workload.at_ns.as_ref().and_then(|at| Some(*at.last()? as f64 / 1e9));
    let mut kinds: Vec<(&str, u64)> = F::KINDS.iter().map(|kind| (kind.noun, 0)).collect();
    for op in &workload.ops {
        if let Some((_, number)) = kinds.get_mut(F::kind(op)) {
            *number += 1;
        }
    }
    let initial = ("live at the start, placed where they were", workload.setup.len() as u64);
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
            suite: F::SUITE.name(),
            workload: Some(workload.name.clone()),
            file: workload.file.clone(),
            count: Some(number),
            note: Some(name),
            ..Row::default()
        });
    }
    table
}

/// How the allocations come: how many within a time, and how many of one size in a row.
fn rates<F: Replayable>(workload: &Workload<F>) -> Table {
    let demand = Demand::of(workload);
    let title = format!("{}: rate of allocations, and runs of one size", workload.name);
    let mut table = Table::new(title, &["per second"]);
    table.name_columns = 0;
    let mut cells = vec![demand.rate().map_or_else(|| "-".to_owned(), fixed)];
    for (window, most) in WINDOWS_NS.into_iter().zip(demand.busiest) {
        table.header.push(format!("most in {}", nanoseconds(window as f64)));
        cells.push(demand.rate().map_or_else(|| "-".to_owned(), |_| count(most)));
    }
    table.header.extend(["as the one before", "longest run"].map(str::to_owned));
    cells.extend([format!("{:.1} %", 100.0 * demand.repeats()), count(demand.longest_run())]);
    table.row(cells);
    table
}

fn sizes<F: Replayable>(workload: &Workload<F>) -> Table {
    let mut classes: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut total = 0u64;
    for op in &workload.ops {
        let (Life::Begins(_, size) | Life::Comes(size)) = F::life(op) else { continue };
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

fn lifetimes<F: Replayable>(workload: &Workload<F>, lives: &Lives) -> Table {
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
        row.push(if timed { nanoseconds(value as f64) } else { count(value) });
    }
    table.row(row);
    table
}

fn live_set<F: Replayable>(workload: &Workload<F>, lives: &Lives) -> Table {
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
