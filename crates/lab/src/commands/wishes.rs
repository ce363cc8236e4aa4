//! `freehold bench kva --wishes`: what the 2019 talk wished for, each wish alone and together, in work, instructions and
//! time. Every variant gives the same answers, which is checked.

use super::instructions::UNDER_CALLGRIND;
use crate::Progress;
use crate::engine::{Compared, ENGINES, EngineEntry, VARIANTS, find_engines};
use crate::failure::Failure;
use crate::family::{Entry, Kva};
use crate::record::{Metric, Results, Stat};
use crate::run::bench::{BenchRun, Budget, bench};
use crate::run::instructions::{self, Instructions};
use crate::workload::bench::{BenchWorkload, cases};
use crate::workload::suite::CaseInfo;
use std::time::Duration;

/// Operations of a timed round.
const OPERATIONS: usize = 1 << 14;
const ROUNDS: usize = 9;
/// Operations whose instructions are counted.
const COUNTED: usize = 1 << 12;

/// The workloads, and the size of those that have one.
const WORKLOADS: [(&str, u32); 9] = [
    ("fix_size", 1),
    ("full_fit", 1),
    ("random_size", 1),
    ("long_busy_list", 1),
    ("churn", 10_000),
    ("churn", 100_000),
    ("holes", 10_000),
    ("zone", 10_000),
    ("burst", 10_000),
];

/// The plain tree, and the engines that have a wish each: a hot block, lazy fix-ups, both, a B-tree, a splay tree.
const WISHES: [&str; 6] = [
    "rbtree:lowest",
    "rbtree:lowest+hot",
    "rbtree:lowest+lazy",
    "rbtree:lowest+hot+lazy",
    "btree:lowest",
    "splay",
];

/// More than any of these engines needs, on a machine that others use too.
const BUDGET: Budget = Budget {
    setup: Duration::from_secs(5),
    per_setup_op: Duration::from_micros(10),
    rounds: Duration::from_secs(20),
    per_round_op: Duration::from_micros(10),
};

/// Measures all of them.
///
/// # Errors
/// An engine answers wrong, or valgrind fails.
pub fn run(progress: &mut Progress) -> anyhow::Result<Results> {
    let listed = |name: &&str| ENGINES.iter().chain(VARIANTS).any(|entry| entry.label() == *name);
    let mut engines: Vec<EngineEntry> = Vec::new();
    for name in WISHES.iter().filter(|name| listed(name)) {
        engines.extend(find_engines(&[(*name).to_owned()], Compared::IfNamed)?);
    }
    let can_count = instructions::can_count();
    let mut results = Results::default();
    for (name, n) in WORKLOADS {
        let workload = BenchWorkload::new(case(name)?, n, OPERATIONS, ROUNDS)?;
        let bench = bench(workload, &engines, ROUNDS, &BUDGET, &mut |what| progress.tick(what))?;
        for run in &bench.runs {
            let pairs: Vec<f64> = run.pair_ns.iter().map(|ns| ns / 2.0).collect();
            let mut figures = results.of(run.entry.key(name).op("loop").param_if("n", bench.workload.n));
            figures.rounds(Metric::Time, &pairs, (run.round * pairs.len()) as u64).put(
                Metric::Work,
                Stat::Mean,
                work(run),
                (run.alloc_work.len() + run.free_work.len()) as u64,
            );
            if can_count {
                progress.tick(&format!("{name}: counting instructions of {}", run.entry.label()));
                let counted = BenchWorkload::new(bench.workload.case, n, COUNTED, 1)?;
                let size = format!("--n={n}");
                let arguments = [UNDER_CALLGRIND, name, &run.entry.label(), &size];
                let counted = Instructions::sum(&instructions::count::<Kva>(&arguments, &counted.ops)?);
                figures.some(Metric::Instructions, Stat::Mean, counted.mean());
            }
        }
    }
    if !can_count {
        results.note("Instructions are not counted, for valgrind is not installed.");
    }
    Ok(results)
}

fn case(name: &str) -> Result<&'static CaseInfo, Failure> {
    let case = cases().find(|case| case.name == name);
    case.ok_or_else(|| Failure::Usage(format!("no workload {name:?}")))
}

/// Mean work of allocations and frees together.
fn work(run: &BenchRun) -> f64 {
    let kinds = [&run.alloc_work, &run.free_work];
    let (sum, operations) = kinds.iter().fold((0.0, 0), |(sum, operations), work| {
        (sum + work.mean() * work.len() as f64, operations + work.len())
    });
    sum / operations.max(1) as f64
}

/// What is run under callgrind: the operations whose instructions are counted, on an engine.
///
/// # Errors
/// No workload or engine has such a name, or the engine answers otherwise in another run.
pub fn run_under_callgrind(workload: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let workload = BenchWorkload::new(case(workload)?, n, COUNTED, 1)?.into_workload();
    for entry in find_engines(&[engine.to_owned()], Compared::IfNamed)? {
        instructions::run::<Kva>(&entry, &workload).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}
