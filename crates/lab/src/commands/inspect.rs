//! `freehold inspect`: what is in a trace or vector file, whichever family it is of.

use crate::family::Life;
use crate::kind::Kind;
use crate::record::{Counts, Field, LOST, Metric, Results, Stat, counted};
use crate::run::{Replayable, add_demand, add_sizes, of_family};
use crate::workload::Workload;
use freehold_trace::kva::EventKind;
use freehold_trace::{Lines, TraceHeader};
use std::collections::HashMap;
use std::path::Path;

/// Points of the live set's table.
const POINTS: usize = 16;

/// Describes a file.
///
/// # Errors
/// It cannot be read as a trace or vector file of a family that is known.
pub fn run(file: &Path) -> anyhow::Result<Results> {
    let mut results = of_family!(file, describe(file))?;
    note_losses(file, &mut results)?;
    Ok(results)
}

/// Says how many events were lost while a file was recorded, if it is a recording and some were.
///
/// # Errors
/// It cannot be read.
pub fn note_losses(file: &Path, results: &mut Results) -> anyhow::Result<()> {
    let Ok(Kind::Trace(_) | Kind::TreeEvents) = Kind::of(file) else { return Ok(()) };
    let header = TraceHeader::read(&mut Lines::open(file)?)?;
    if header.lost_records > 0 {
        let (title, lost) = (header.title(), counted(header.lost_records, "event"));
        results.note(format!("{LOST}{title}: {lost} while it was recorded; figures are of the others"));
    }
    Ok(())
}

fn describe<F: Replayable>(name: &Path) -> anyhow::Result<Results> {
    let workload = &F::workload(name)?;
    let mut results = Results::default();
    results.note(format!("{}: {}", workload.name, workload.description));
    events(workload, &mut results);
    add_demand(workload, &mut results);
    add_sizes(workload, &mut results);
    F::inspect(workload, &mut results);
    lives(workload, &mut results);
    Ok(results)
}

/// How many there are of each kind, and in a second.
fn events<F: Replayable>(workload: &Workload<F>, results: &mut Results) {
    let ends = workload.at_ns.as_ref().and_then(|at| at.first().zip(at.last()));
    let seconds = ends.map(|(first, last)| last.saturating_sub(*first) as f64 / 1e9).filter(|&s| s > 0.0);
    let of_kind = |kind| workload.ops.iter().filter(|op| F::kind(op) == kind).count() as u64;
    let kinds = F::KINDS.iter().enumerate().map(|(at, kind)| (kind.noun.to_owned(), of_kind(at), seconds));
    let setup = workload.setup.len() as u64;
    let setup = (setup > 0).then(|| ("live at the start, placed where they were".to_owned(), setup, None));
    let skipped = workload.skipped.iter().map(|(kind, number)| {
        // What is there at the start has no rate.
        let is_initial = EventKind::ALL.iter().any(|it| it.is_initial() && it.about() == *kind);
        (format!("{kind} (not replayed)"), *number, seconds.filter(|_| !is_initial))
    });
    for (event, number, seconds) in kinds.chain(setup).chain(skipped) {
        let mut figures = results.of(workload.key().param(Field::Event, event));
        figures.total(Metric::Count, number);
        figures.some(Metric::Rate, Stat::Total, seconds.map(|seconds| number as f64 / seconds));
    }
}

/// How long objects live, and how many at a time.
fn lives<F: Replayable>(workload: &Workload<F>, results: &mut Results) {
    let mut ended: Vec<(usize, usize)> = Vec::new();
    let mut live: Vec<(u64, u64)> = Vec::new();
    let mut open: HashMap<u32, (Option<usize>, u64)> = HashMap::new();
    let (mut bytes, mut named) = (0u64, false);
    let setup = workload.setup.iter().map(|op| (op, None));
    for (op, at) in setup.chain(workload.ops.iter().enumerate().map(|(at, op)| (op, Some(at)))) {
        match F::life(op) {
            Life::Ends(object) => {
                if let Some((from, size)) = open.remove(&object) {
                    bytes = bytes.saturating_sub(size);
                    ended.extend(from.zip(at));
                }
            }
            Life::Begins(object, size) => {
                bytes = bytes.saturating_add(size);
                open.insert(object, (at, size));
                named = true;
            }
            Life::Comes(_) | Life::Neither => {}
        }
        if at.is_some() {
            live.push((open.len() as u64, bytes));
        }
    }
    if !named {
        return;
    }
    let at = |op: usize| workload.at_ns.as_ref().map_or(Some(op as u64), |at| at.get(op).copied());
    let mut lifetimes: Counts =
        ended.iter().filter_map(|&(from, until)| at(until)?.checked_sub(at(from)?)).collect();
    let in_time = workload.at_ns.is_some();
    let key =
        workload.key().op("lifetime").param(Field::In, if in_time { "nanoseconds" } else { "operations" });
    for (stat, per_mille) in [(Stat::Min, 10), (Stat::Median, 500), (Stat::P99, 990), (Stat::Max, 1000)] {
        let value = lifetimes.percentile(per_mille) as f64;
        let metric = if in_time { Metric::Time } else { Metric::Lifetime };
        results.of(key.clone()).put(metric, stat, value, lifetimes.len() as u64);
    }
    let stretch = live.len().div_ceil(POINTS).max(1);
    let points = live
        .chunks(stretch)
        .enumerate()
        .filter_map(|(number, points)| Some((number * stretch + points.len() - 1, *points.last()?)));
    for (op, (objects, bytes)) in points {
        let key = workload.key().op("live set").param(Field::Operation, op as u64 + 1);
        let second =
            workload.at_ns.as_ref().and_then(|at| at.get(op)).map(|&ns| format!("{:.1}", ns as f64 / 1e9));
        results
            .of(key.param_if(Field::Second, second))
            .total(Metric::Live, objects)
            .total(Metric::Bytes, bytes);
    }
    // Two peaks: seldom at one moment.
    let peaks = live.into_iter().reduce(|peak, now| (peak.0.max(now.0), peak.1.max(now.1)));
    if let Some((objects, bytes)) = peaks {
        results.of(workload.key().op("peak")).total(Metric::Live, objects).total(Metric::Bytes, bytes);
    }
}
