//! Throughput beyond the CPUs that there are: a closed network of queues, one for each lock, by mean value analysis.
//!
//! ```text
//!   a thread    works alone, Z ns  -->  lock 1, D1 ns  -->  lock 2, D2 ns  --> again
//!   throughput of n threads    X = n / (Z + sum of Dk (1 + those before it at lock k, with n - 1 threads))
//! ```
//!
//! Sections are measured on one thread, where nobody waits and no cache line moves: what that costs is not in the model, so
//! that it is held against what two threads did.
//!
//! Source: Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks" (1980).

use super::cases::{HELD, PAIR_PAGES};
use super::engines::{ENTRIES, Entry, Held, POOLED};
use super::pool::{PAGE, whole};
use super::{Bench, SUITE};
use crate::record::{Metric, Origin, Record, Stat};
use crate::run::clock;
use freehold::kva::{PooledSpace, Request};
use freehold::units::Align;
use std::time::Instant;

/// Threads that the model is asked for.
pub const THREADS: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// Rounds in which sections are measured.
const ROUNDS: usize = 5;
/// Pages of a block that no slot serves: the core's lock is taken for each.
const EXTENT_PAGES: u64 = 512;

/// A lock of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Nanoseconds of an operation under it.
    pub ns: f64,
    /// Whether there is one for each CPU, which share what is asked.
    pub each_cpu: bool,
}

/// Operations in a second by so many threads, each with a CPU, of which each works `alone_ns` between its sections.
pub fn throughput(threads: u32, alone_ns: f64, demands: &[Demand]) -> f64 {
    let mut queues = Vec::new();
    for demand in demands {
        let stations = if demand.each_cpu { threads } else { 1 };
        queues.extend((0..stations).map(|_| (demand.ns / f64::from(stations), 0.0)));
    }
    let mut per_ns = 0.0;
    for customers in 1..=threads {
        let responses: Vec<f64> = queues.iter().map(|(ns, before)| ns * (1.0 + before)).collect();
        per_ns = f64::from(customers) / (alone_ns + responses.iter().sum::<f64>());
        queues.iter_mut().zip(&responses).for_each(|((_, queue), response)| *queue = per_ns * response);
    }
    1e9 * per_ns
}

/// What an operation asks of all locks, in nanoseconds.
fn under_locks_ns(demands: &[Demand]) -> f64 {
    demands.iter().map(|demand| demand.ns).sum()
}

/// What an operation of an engine asks of each of its locks, on one thread: the median of some rounds by all locks together.
fn demands(bench: &Bench, entry: &Entry, workload: &str) -> anyhow::Result<Vec<Demand>> {
    let round = |_| round(bench, entry, workload);
    let mut rounds = (0..ROUNDS).map(round).collect::<anyhow::Result<Vec<_>>>()?;
    rounds.sort_by(|a, b| under_locks_ns(a).total_cmp(&under_locks_ns(b)));
    Ok(rounds.swap_remove(ROUNDS / 2))
}

fn round(bench: &Bench, entry: &Entry, workload: &str) -> anyhow::Result<Vec<Demand>> {
    let operations = bench.amount.operations / 4;
    let (who, make) = entry;
    let pool = make(Some(clock::cost_ns()))?;
    // As the workload: a pair is taken from a space that holds nothing else.
    let held = if workload == "pair" { 0 } else { HELD };
    let mut held = Held::new(pool.as_ref(), held, 1)?;
    let before = pool.used();
    let right = match workload {
        "pair" => pool.pairs(operations, PAIR_PAGES),
        _ => pool.replace(&mut held, operations),
    };
    anyhow::ensure!(right, "model: {}: a block was refused", who.label());
    let used =
        pool.used().into_iter().zip(before).map(|((name, after), (_, before))| (name, after.since(before)));
    if who.engine == POOLED {
        let section_ns = extent_section_ns(operations / 4)?;
        let core = used.map(|(_, used)| Demand {
            ns: section_ns * used.taken as f64 / operations as f64,
            each_cpu: false,
        });
        return Ok(core.collect());
    }
    // Locks of one name are those of nodes.
    let mut names: Vec<(&str, f64, u32)> = Vec::new();
    for (name, used) in used {
        match names.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, ns, locks)) => (*ns, *locks) = (*ns + used.held_ns, *locks + 1),
            None => names.push((name, used.held_ns, 1)),
        }
    }
    let per_op = |ns: f64| ns / operations as f64;
    Ok(names.iter().map(|&(_, ns, locks)| Demand { ns: per_op(ns), each_cpu: locks > 1 }).collect())
}

/// Nanoseconds that the pooled space holds its core's lock, at most: an extent taken or given back, all of it.
fn extent_section_ns(operations: usize) -> anyhow::Result<f64> {
    let space = PooledSpace::new(whole(), Align::PAGE)?;
    let request = Request::new(EXTENT_PAGES * PAGE);
    let (before, started) = (space.stats().core_locks, Instant::now());
    for _ in 0..operations {
        space.free(space.alloc_request(&request)?.first())?;
    }
    let took = started.elapsed().as_nanos() as f64;
    let taken = space.stats().core_locks - before;
    anyhow::ensure!(taken >= 2 * operations as u64, "an extent was served without the core's lock");
    Ok(took / taken as f64)
}

/// Adds what the model says of the workloads that were measured.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for (workload, op) in [("pair", "take and give back"), ("replace", "one for another")] {
        for entry in &ENTRIES {
            let (who, _) = entry;
            let label = who.label();
            let measured = |threads: u32| {
                let is = |record: &&Record| {
                    (record.key.workload.as_str(), record.key.op.as_str()) == (workload, op)
                        && record.key.label() == label
                        && record.field("threads") == Some(threads.to_string())
                        && record.metric == Metric::Rate
                };
                bench.results.records.iter().find(is).map(|record| record.value)
            };
            let Some(alone) = measured(1) else { continue };
            let two = measured(2);
            bench.progress.tick(&format!("model: sections of {label}"));
            let demands = demands(bench, entry, workload)?;
            let under_locks_ns = under_locks_ns(&demands);
            let alone_ns = (1e9 / alone - under_locks_ns).max(0.0);
            let key = who.key(SUITE, "model", workload);
            let sections = who.key(SUITE, "sections", workload);
            bench.results.of(sections).put(Metric::Time, Stat::Mean, under_locks_ns, 1);
            for threads in THREADS {
                let rate = throughput(threads, alone_ns, &demands);
                let mut figures = bench.results.of(key.clone().param("threads", threads));
                figures.origin(Origin::Estimated).put(Metric::Rate, Stat::Total, rate, 1);
            }
            if let Some(two) = two {
                let ratio = throughput(2, alone_ns, &demands) / two;
                let key = who.key(SUITE, "model by measured, 2 threads", workload);
                bench.results.of(key).put(Metric::Ratio, Stat::Total, ratio, 1);
            }
        }
    }
    Ok(())
}
