//! `freehold bench kva`: our engines beside the allocators that one might use instead.

mod tables;

use super::Progress;
use crate::engine::{Compared, EngineEntry, find_engines};
use crate::failure::Failure;
use crate::measure::bench::{Bench, Budget, bench};
use crate::output::Document;
use crate::workload::bench::{BenchWorkload, cases};
use crate::workload::suite::{CaseInfo, MOST_N, find_cases};
use std::collections::HashMap;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Done within a minute, rather than ten.
    pub quick: bool,
    /// Engines by name; none is all that are benched.
    pub engines: Vec<String>,
    /// Workloads by name; none is all.
    pub workloads: Vec<String>,
    /// Sizes of the sized workloads; none is the usual ones.
    pub sizes: Vec<u32>,
}

/// How much is done.
struct Plan {
    sizes: Vec<u32>,
    operations: usize,
    rounds: usize,
    budget: Budget,
}

impl Plan {
    fn of(options: &Options) -> Self {
        let (sizes, operations, rounds): (&[u32], _, _) = if options.quick {
            (&[1000, 10_000, 100_000], 1 << 13, 5)
        } else {
            (&[1000, 10_000, 100_000, 1_000_000], 1 << 15, 5)
        };
        let sizes = if options.sizes.is_empty() { sizes.to_vec() } else { options.sizes.clone() };
        let micros = |quick, full| Duration::from_micros(if options.quick { quick } else { full });
        // Time for a million objects on a slow machine, where it need not be quick.
        let budget = Budget {
            setup: micros(50_000, 400_000),
            per_setup_op: micros(1, 3),
            rounds: micros(50_000, 600_000),
            per_round_op: micros(1, 3),
        };
        Self { sizes, operations, rounds, budget }
    }
}

/// Benches and describes.
///
/// # Errors
/// No engine or workload has such a name, or an engine answers wrong.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Document> {
    let engines = find_engines(&options.engines, Compared::InBench)?;
    let cases = find_cases(&options.workloads, cases())?;
    if let Some(n) = options.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
        return Err(Failure::Usage(format!("--n {n}: sizes are from 1 to {MOST_N}")).into());
    }
    let plan = Plan::of(options);
    let mut benches = Vec::new();
    for case in cases {
        let mut too_slow = HashMap::new();
        let sizes = if case.sized { plan.sizes.as_slice() } else { &[1] };
        for &n in sizes {
            benches.push(one(case, n, &engines, &plan, &mut too_slow, progress)?);
        }
    }
    let mut document = Document::default();
    tables::describe(&mut document, &mut benches, &engines);
    Ok(document)
}

/// One workload of one size, on the engines that were not too slow for a smaller one.
fn one(
    case: &'static CaseInfo,
    n: u32,
    engines: &[EngineEntry],
    plan: &Plan,
    too_slow: &mut HashMap<String, String>,
    progress: &mut Progress,
) -> anyhow::Result<Bench> {
    progress.tick(&format!("{}: setting up", case.name));
    let workload = BenchWorkload::new(case, n, plan.operations, plan.rounds)?;
    let in_time: Vec<EngineEntry> =
        engines.iter().filter(|entry| !too_slow.contains_key(&entry.label())).copied().collect();
    let mut bench = bench(workload, &in_time, plan.rounds, &plan.budget, &mut |what| progress.tick(what))?;
    for (entry, reason) in &bench.left_out {
        too_slow.insert(entry.label(), reason.clone());
    }
    bench.left_out =
        engines.iter().filter_map(|entry| Some((*entry, too_slow.get(&entry.label())?.clone()))).collect();
    Ok(bench)
}
