//! `freehold bench kva --wishes`: what the 2019 talk wished for, each wish alone and together, in work, instructions and
//! time. Every variant gives the same answers, which is checked.

use crate::Progress;
use crate::engine::{Compared, EngineEntry};
use crate::failure::Failure;
use crate::family::Kva;
use crate::record::{Field, Metric, Results, Stat};
use crate::run::bench::{Budget, bench};
use crate::run::instructions::{self, Instructions, sized};
use crate::workload::bench::{BenchWorkload, cases};
use crate::workload::suite::{CaseInfo, find_cases};
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
    setup: [Duration::from_secs(5), Duration::from_micros(10)],
    rounds: [Duration::from_secs(20), Duration::from_micros(10)],
};

/// Measures all of them, on the workloads named, or on all.
///
/// # Errors
/// No workload has such a name, an engine answers wrong, or valgrind fails.
pub fn run(workloads: &[String], progress: &mut Progress) -> anyhow::Result<Results> {
    let engines = EngineEntry::find(&WISHES.map(str::to_owned), Compared::IfNamed)?;
    let can_count = instructions::can_count();
    let mut results = Results::default();
    for (name, n) in find_cases("workload", workloads, WORKLOADS, |(name, _)| name)? {
        let workload = BenchWorkload::new(case(name)?, n, OPERATIONS, ROUNDS)?;
        let (runs, _) = bench(&workload, &engines, ROUNDS, &BUDGET, &mut |what| progress.tick(what))?;
        for run in &runs {
            let pairs = run.sheet.lines.iter().find(|line| line.timed == ("pair", None));
            let each: Vec<f64> = pairs.iter().flat_map(|line| &line.ns).map(|ns| ns / 2.0).collect();
            let mut work = run.work[0].clone();
            work.extend(&run.work[1]);
            let mut figures = results.of(run.entry.key(name).op("loop").param_if(Field::N, workload.n));
            figures.rounds(Metric::Time, &each, (run.round * each.len()) as u64).put(
                Metric::Work,
                Stat::Mean,
                work.mean(),
                work.len() as u64,
            );
            if can_count {
                progress.tick(&format!("{name}: counting instructions of {}", run.entry.label()));
                let counted = BenchWorkload::new(workload.case, n, COUNTED, 1)?;
                let arguments = sized(name, n, &run.entry.label());
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
    let found = find_cases("workload", &[name.to_owned()], cases(), |case| case.name)?;
    found.first().copied().ok_or_else(|| Failure::Usage(format!("no workload {name:?}")))
}

/// What is run under callgrind: the operations whose instructions are counted, on an engine.
///
/// # Errors
/// No workload or engine has such a name, or the engine answers otherwise in another run.
pub fn run_under_callgrind(workload: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let workload = BenchWorkload::new(case(workload)?, n, COUNTED, 1)?.into_workload();
    for entry in EngineEntry::find(&[engine.to_owned()], Compared::IfNamed)? {
        instructions::run::<Kva>(&entry, &workload).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}
