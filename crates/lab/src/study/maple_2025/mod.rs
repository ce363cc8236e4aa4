//! `freehold reproduce maple-2025`: the series that made the kernel's maple tree ask for fewer nodes: how many nodes a store
//! asks for, over the kernel's own tests and under `stress-ng --mmap`; what of that is used; what calls take; and what
//! recorded programs' calls ask for.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", v2, February 2025; and streams of
//! stores recorded from the kernel's tests, of 6.12 (before) and 6.16 (after).

pub mod ledger;
mod planned;
mod rates;
mod streams;

use super::Options;
use crate::engine::maple::{AskAs, PLANNERS, PlannedRanges, TYPES};
use crate::engine::vma::{Make, SpacesFacts};
use crate::failure::Failure;
use crate::family::{Family, Maple};
use crate::record::{Field, Key, Metric, Results, Stat, count};
use crate::run::{describe, measure};
use crate::workload::Workload;
use crate::workload::vma::from_file;
use crate::{Progress, data_folder, published, traces};
use freehold_trace::vma::{Fault, Spaces, contradictions};
use ledger::Histogram;
use planned::{Point, Program};
use streams::StreamRun;

/// How traces of programs end, and those of the kernel's tree.
const ENDINGS: [&str; 2] = [".vma.csv.zst", ".mt.csv.zst"];
/// The posting's workload.
const STRESS: &str = "stress_mmap.vma.csv.zst";
/// The main job's program.
pub const BRIEF: &str = "chromium.vma.csv.zst";
/// Into how many samples a stream or a trace is cut; if not all are wanted, its end is left out.
const SAMPLES: usize = 120;
/// Timed rounds of the stress test.
const ROUNDS: usize = 3;
/// Of the kinds of operations, those that are shown: the calls.
const CALLS: usize = 4;
/// Spaces on the default map, whose stores ask for nodes as each of [`PLANNERS`] does.
const ASKING: [Make; 3] = [
    |kinds| Box::new(Spaces::<PlannedRanges<AskAs<0>>>::new(kinds)),
    |kinds| Box::new(Spaces::<PlannedRanges<AskAs<1>>>::new(kinds)),
    |kinds| Box::new(Spaces::<PlannedRanges<AskAs<2>>>::new(kinds)),
];

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let samples = options.samples(SAMPLES)?;
    let data = data_folder()?;
    let files = traces(options.traces.as_deref(), &ENDINGS)?;
    let (vma, mt): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.to_string_lossy().ends_with(ENDINGS[0]));
    let mut results = Results::default();
    describe::<Maple>(&mut results, Maple::engines(&[])?);
    let mut tick = |what: &str| progress.tick(what);
    let versions: &[&str] = if options.full { &["6.12", "6.16"] } else { &["6.16"] };
    for version in versions {
        let file = data.join(format!("vectors/maple/seed_stream_{version}.mstream.zst"));
        stream(&StreamRun::of(&file, samples, &mut tick)?, &mut results);
    }
    let mut stress = None;
    for file in &vma {
        tick(&format!("{}: every store planned", file.display()));
        let mut workload = from_file(file)?;
        let ops = (workload.ops.len() * samples / SAMPLES).max(1);
        workload.ops.truncate(ops);
        workload.at_ns.iter_mut().for_each(|at_ns| at_ns.truncate(ops));
        let of = Program::of(workload);
        program(&of, &mut results);
        results.note(format!("{}: {}.", of.workload.name, of.workload.description));
        if file.ends_with(STRESS) {
            stress = Some(of);
        }
    }
    let stress =
        stress.ok_or_else(|| Failure::Lacking(format!("{STRESS} is not among the bundled traces")))?;
    bulk(&stress, &mut results);
    latency(&stress.workload, &mut results, &mut tick)?;
    rates::add(&mt, &stress, &mut results)?;
    results.records.extend(published::records("maple"));
    published::conclude("maple", &mut results)?;
    Ok(results)
}

/// What a real program's stores ask for, and its trees: what the main job has time for.
///
/// # Errors
/// The bundled data cannot be read.
pub fn brief(results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let file = data_folder()?.join("traces").join(BRIEF);
    progress.tick(&format!("{}: every store planned", file.display()));
    let of = Program::of(from_file(&file)?);
    program(&of, results);
    Ok(())
}

/// A record about our trees.
fn ours(workload: &str, planner: &str) -> Key {
    let key = Key::new("maple", workload).engine("range-map").param(Field::Planner, planner);
    Key { default: true, ..key.param(Field::Who, format!("ours, {planner}")) }
}

fn add_histogram(results: &mut Results, key: &Key, histogram: &Histogram) {
    for (&value, &times) in &histogram.0 {
        results.of(key.clone().param(Field::N, value)).total(Metric::Requests, times);
    }
}

/// Stores, what they asked for and what they took.
fn totals(
    results: &mut Results,
    key: Key,
    [stores, requested, taken]: [u64; 3],
    (metric, more): (Metric, u64),
) {
    results
        .of(key.op("total"))
        .total(Metric::Count, stores)
        .total(Metric::NodesRequested, requested)
        .total(Metric::NodesUsed, taken)
        .total(metric, more);
}

/// A stream: what was asked for and taken, by the kernel and on our trees.
fn stream(stream: &StreamRun, results: &mut Results) {
    let workload = format!("stream-{}", stream.version);
    let [own, worst] = &stream.recorded;
    let mut kernel = vec![("worst", "kernel, worst".to_owned(), worst)];
    if stream.version != "6.12" {
        kernel.push(("vacancy", format!("kernel {}", stream.version), own));
    }
    let [taken, returned] = stream.kernel_used;
    for (planner, who, requests) in kernel {
        let key = Key::new("maple", &*workload).param(Field::Planner, planner).param(Field::Who, who);
        add_histogram(results, &key.clone().op("prealloc"), requests);
        let totalled = [stream.stores, requests.total(), taken];
        totals(results, key, totalled, (Metric::NodesReturned, returned));
    }
    for ((_, planner), requests) in PLANNERS.iter().zip(&stream.ours.requests) {
        let key = ours(&workload, planner);
        add_histogram(results, &key.clone().op("prealloc"), requests);
        // A plan of the exact planner is made for the same stores that take the nodes; the kernel reckons fewer stores than
        // there are.
        let totalled = [stream.stores, requests.total(), stream.taken];
        totals(results, key, totalled, (Metric::Mismatches, stream.contents[1]));
    }
    for ((_, name), of_type) in TYPES.iter().zip(&stream.ours.types) {
        for ((_, planner), requested) in PLANNERS.iter().zip(of_type.requested) {
            let key = ours(&workload, planner).op(*name);
            results.of(key).total(Metric::Stores, of_type.calls).total(Metric::NodesRequested, requested);
        }
    }
    results.failed |= stream.largest_difference > 0 || stream.contents[1] > 0;
    results.note(format!(
        "Stream of {}: {} stores, content of {} trees right at their end, of {} wrong; the largest difference between \
         a plan's nodes and those taken is {}.",
        stream.version,
        count(stream.stores),
        count(stream.contents[0]),
        count(stream.contents[1]),
        stream.largest_difference
    ));
    let at: Vec<f64> = stream.points.iter().map(|point| point.stores as f64).collect();
    let mut line = |line: &str, figure: fn(&streams::Point) -> u64| {
        let values = vec![stream.points.iter().map(|point| Some(figure(point) as f64)).collect()];
        results.line("nodes-so-far", &workload, line, &at, values);
    };
    line("kernel, worst", |point| point.kernel[1]);
    if stream.version != "6.12" {
        line("kernel, the series", |point| point.kernel[0]);
    }
    line("kernel, taken", |point| point.kernel_taken);
    line("ours, worst", |point| point.ours[0]);
    line("ours, vacancy", |point| point.ours[1]);
    line("ours, exact", |point| point.ours[2]);
}

/// A recorded program: what its stores ask for, its trees over time, what met something else than it was recorded to.
fn program(program: &Program, results: &mut Results) {
    let name = program.workload.name.clone();
    let most = |figure: fn(&Point) -> u64| program.points.iter().map(figure).max().unwrap_or(0) as f64;
    let mismatches = contradictions(&program.faults);
    for ((_, planner), requests) in PLANNERS.iter().zip(&program.ledger.requests) {
        let key = program.workload.with_params(ours(&name, planner));
        let totalled = [program.ledger.stores(), requests.total(), program.taken];
        totals(results, key.clone(), totalled, (Metric::Mismatches, mismatches));
        add_histogram(results, &key.op("asked for"), requests);
    }
    results
        .of(Key::new("maple", name.clone()).op("program"))
        .total(Metric::Count, program.workload.ops.len() as u64)
        .put(Metric::Spaces, Stat::Max, most(|point| point.footprint.spaces), 1)
        .put(Metric::Areas, Stat::Max, most(|point| point.footprint.areas), 1)
        .put(Metric::AreasMost, Stat::Max, most(|point| point.footprint.areas_most), 1)
        .put(Metric::Nodes, Stat::Max, most(|point| point.footprint.nodes.in_use), 1)
        .put(Metric::Height, Stat::Max, most(|point| point.footprint.nodes.height), 1);
    for fault in Fault::ALL {
        let number = program.faults.get(fault).copied().unwrap_or(0);
        let key = Key::new("maple", name.clone()).op("met").param(Field::Met, fault.name());
        results.of(key).total(Metric::Count, number);
    }
    let at: Vec<f64> = program.points.iter().map(|point| point.op as f64).collect();
    let mut line = |id, line: &str, figure: &dyn Fn(&Point) -> f64| {
        let values = vec![program.points.iter().map(|point| Some(figure(point))).collect()];
        results.line(id, &name, line, &at, values);
    };
    for (planner, (_, of)) in PLANNERS.iter().enumerate() {
        line("asked-so-far", &format!("ours, {of}"), &|point| point.requested[planner] as f64);
    }
    line("tree-areas", "range-map", &|point| point.footprint.areas as f64);
    line("tree-nodes", "range-map", &|point| point.footprint.nodes.in_use as f64);
    line("tree-height", "range-map", &|point| point.footprint.nodes.height as f64);
    line("tree-fill", "range-map", &|point| {
        point.footprint.areas as f64 / point.footprint.nodes.in_use.max(1) as f64
    });
}

/// The posting's stress test: nodes asked for at once, and which calls ask for them.
fn bulk(stress: &Program, results: &mut Results) {
    const WORKLOAD: &str = "stress-mmap";
    let mapped = stress.by_call.get("mmap()").map_or(0, |call| call.calls);
    for ((_, planner), requests) in PLANNERS.iter().zip(&stress.ledger.requests) {
        let key = ours(WORKLOAD, planner);
        let bulk = requests.bulk();
        add_histogram(results, &key.clone().op("bulk"), &bulk);
        results
            .of(key.clone().op("total"))
            .total(Metric::Count, requests.calls())
            .total(Metric::NodesRequested, requests.total())
            .total(Metric::NodesUsed, stress.taken);
        let each = bulk.total() as f64 / mapped.max(1) as f64;
        results.of(key.op("in bulk")).total(Metric::NodesRequested, bulk.total()).put(
            Metric::NodesRequested,
            Stat::Mean,
            each,
            mapped,
        );
    }
    for (name, call) in &stress.by_call {
        let stores = call.ledger.stores();
        let key = Key::new("maple", WORKLOAD).param(Field::Call, *name);
        results.of(key.clone()).total(Metric::Count, call.calls).total(Metric::Stores, stores);
        for ((_, planner), requests) in PLANNERS.iter().zip(&call.ledger.requests) {
            results
                .of(key.clone().param(Field::Planner, *planner))
                .total(Metric::NodesRequested, requests.total());
        }
    }
    results.fact("calls", count(stress.workload.ops.len() as u64));
    results.fact("stores", count(stress.ledger.stores()));
}

/// What a call costs on maps alone, and where every store asks for nodes as a planner does.
fn latency(
    stress: &Workload<Maple>,
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    let mut engines = Maple::engines(&[])?;
    let plain = engines.len();
    let first = engines.first().copied();
    engines.extend(first.into_iter().flat_map(|first| ASKING.map(|make| first.with(SpacesFacts { make }))));
    let mut replay = measure(stress.clone(), &engines, ROUNDS, tick)?;
    for (at, run) in replay.runs.iter_mut().enumerate() {
        let planner = at.checked_sub(plain).and_then(|at| PLANNERS.get(at)).map(|(_, name)| *name);
        let key = run.entry.key("stress_mmap").param(Field::AsksAs, planner.unwrap_or("without plans"));
        let key = key.param_if(Field::Planner, planner);
        for (kind, of) in Maple::KINDS.iter().enumerate().take(CALLS) {
            let mut times = run.timed.of(kind);
            let mean = (!times.all_ns.is_empty()).then(|| times.all_ns.mean());
            let mut figures = results.of(key.clone().op(of.op));
            figures.singles(&mut times.all_ns, &[]).some(Metric::Time, Stat::Mean, mean);
        }
        let operations = stress.ops.len() * run.timed.loop_ns.len();
        results.of(key.op("loop")).rounds(Metric::Time, &run.timed.loop_ns, operations as u64);
    }
    Ok(())
}
