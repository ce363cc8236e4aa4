//! `freehold bench kva`: our engines beside the allocators that one might use instead.

use super::{Options, that_fit};
use crate::Progress;
use crate::engine::{Compared, EngineEntry, FLOOR};
use crate::family::{FLOOR_NOTE, Kva};
use crate::record::{Field, Key, Metric, Results, Stat, count};
use crate::run::bench::{BenchRun, Budget, bench};
use crate::run::describe;
use crate::workload::bench::{BenchWorkload, cases};
use crate::workload::suite::find_cases;
use std::collections::HashMap;
use std::time::Duration;

/// Sizes, operations of a round, and what an engine may take: in microseconds the setup, each operation of it, all rounds,
/// and each operation of them. Time for a million objects on a slow machine, where it need not be quick.
const QUICK: (&[u32], usize, [[u64; 2]; 2]) = (&[1000, 10_000, 100_000], 1 << 13, [[50_000, 1]; 2]);
const FULL: (&[u32], usize, [[u64; 2]; 2]) =
    (&[1000, 10_000, 100_000, 1_000_000], 1 << 15, [[400_000, 3], [600_000, 3]]);
const ROUNDS: usize = 5;
/// Bytes of an object, about: in the lab's operations and its checker, and in an engine and its driver.
const LAB_BYTES: u64 = 512;
const ENGINE_BYTES: u64 = 80;

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let engines = EngineEntry::find(&options.engines, Compared::InBench)?;
    let (sizes, operations, micros) = if options.quick { QUICK } else { FULL };
    let sizes = if options.sizes.is_empty() { sizes } else { &options.sizes };
    let [setup, rounds] = micros.map(|of| of.map(Duration::from_micros));
    let budget = Budget { setup, rounds };
    let mut results = Results::default();
    describe::<Kva>(&mut results, engines.iter().copied());
    let bytes_each = LAB_BYTES + ENGINE_BYTES * engines.len() as u64;
    let cases = find_cases("workload", &options.workloads, cases(), |case| case.name)?;
    let sized = cases.iter().any(|case| case.sized);
    let sizes = that_fit(sizes, sized, bytes_each, options, &mut results)?;
    for case in cases {
        let mut too_slow: HashMap<String, String> = HashMap::new();
        for &n in if case.sized { &sizes[..] } else { &[1] } {
            progress.tick(&format!("{}: setting up", case.name));
            let workload = BenchWorkload::new(case, n, operations, ROUNDS)?;
            // Who is too slow for one size is not tried on a larger one.
            let in_time = engines.iter().filter(|entry| !too_slow.contains_key(&entry.label()));
            let in_time: Vec<EngineEntry> = in_time.copied().chain([FLOOR]).collect();
            let (runs, left_out) =
                bench(&workload, &in_time, ROUNDS, &budget, &mut |what| progress.tick(what))?;
            for (entry, reason) in left_out {
                let size = if case.sized { format!(" at n {}", count(n.into())) } else { String::new() };
                results.note(format!("{}: {} left out{size}: {reason}", case.name, entry.label()));
                too_slow.insert(entry.label(), reason);
            }
            runs.into_iter().for_each(|run| add(&mut results, &workload, run));
        }
    }
    results.note(FLOOR_NOTE);
    Ok(results)
}

/// A workload's figures on an engine.
fn add(results: &mut Results, workload: &BenchWorkload, mut run: BenchRun) {
    let (name, label) = (workload.case.name, run.entry.label());
    if run.natural {
        results.note(format!("{name}: set up without fixed addresses, so otherwise laid out: {label}"));
    }
    if run.round < workload.round {
        let (did, of) = (count(run.round as u64), count(workload.round as u64));
        let n = workload.n.map_or_else(String::new, |n| format!(" at n {}", count(n)));
        results.note(format!("{name}: {label} is slow{n}: {did} of {of} operations a round"));
    }
    let key = run.entry.key(name).param_if(Field::N, workload.n);
    run.sheet.record(results, &key);
    if workload.case.sized && !run.entry.is_floor() {
        counted(results, &mut run, &key);
    }
}

/// What is the same in every run: work, searches, memory.
fn counted(results: &mut Results, run: &mut BenchRun, key: &Key) {
    // No step at all is what somebody tells who does not count.
    if run.work.iter_mut().any(|work| work.percentile(1000) > 0) {
        for (op, work) in ["alloc", "free"].into_iter().zip(&mut run.work) {
            results.of(key.clone().op(op)).counts(Metric::Work, work);
        }
    }
    let mut figures = results.of(key.clone().op("alloc"));
    figures.total(Metric::Refused, run.failures);
    let nodes = Some(run.alloc_nodes.percentile(999)).filter(|&nodes| nodes > 0);
    figures.some(Metric::NodesVisited, Stat::P999, nodes.map(|nodes| nodes as f64));
    // What an engine cannot tell and was reckoned from its items is marked so.
    figures.origin(run.entry.memory());
    if run.metadata_bytes > 0 {
        let each = run.metadata_bytes as f64 / run.live as f64;
        figures.put(Metric::Metadata, Stat::Max, run.metadata_bytes as f64, 1);
        figures.some(Metric::BytesPerItem, Stat::Total, (run.live > 0).then_some(each));
    }
    if let Some((block, region)) = run.bytes_each() {
        figures.put(Metric::BytesPerFreeBlock, Stat::Total, block, 1);
        figures.put(Metric::BytesPerRegion, Stat::Total, region, 1);
    }
}
