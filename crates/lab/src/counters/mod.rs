//! `freehold bench counters` and `freehold stress counters`: counters and histograms of many threads, ours beside what a
//! program might use instead.
//!
//! ```text
//!   engines    who counts: our rungs, atomics, other crates          threads   CPU time of so many threads at once
//!   add, memory, snapshot, heap   the cases of the bench             promises  what is promised
//!   storm      exact sums under signals and moves
//! ```
//!
//! Sums are held against what was added before anything is timed, and after each timed round. Times are CPU time of the
//! threads that work, for one operation: what else runs on the machine takes turns with them, and is not in it.

mod add;
mod engines;
mod heap;
mod memory;
mod promises;
mod snapshot;
mod storm;
pub(crate) mod threads;

pub use storm::{Storm, stress};

use crate::Progress;
pub use crate::commands::bench::Options;
use crate::failure::Failure;
use crate::record::count;
use crate::record::{Key, Results};
use engines::Who;

/// The family in records.
const SUITE: &str = "counters";

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Amount {
    /// Timed rounds; engines take turns in each.
    rounds: usize,
    /// Operations of a thread in a round.
    operations: u64,
    /// Counters of which memory is measured.
    counters: usize,
    /// Counters of which snapshots are taken.
    in_snapshot: usize,
}

impl Amount {
    const QUICK: Self = Self { rounds: 7, operations: 1_000_000, counters: 100_000, in_snapshot: 1_000_000 };
    const USUAL: Self = Self { rounds: 31, ..Self::QUICK };
    /// Enough for a test of what is written.
    #[cfg(test)]
    const TINY: Self = Self { rounds: 2, operations: 1000, counters: 500, in_snapshot: 2000 };
}

/// A case of the bench.
struct Case {
    name: &'static str,
    run: fn(&Bench, &mut Results, &mut Progress) -> anyhow::Result<()>,
}

const CASES: [Case; 5] = [
    // First, while the process has freed nothing that would be used again.
    Case { name: "counter-memory", run: memory::run },
    Case { name: "add", run: add::adds },
    Case { name: "histogram", run: add::records },
    Case { name: "snapshot", run: snapshot::run },
    Case { name: "heap", run: heap::run },
];

/// What all cases know.
struct Bench {
    amount: Amount,
    engines: Vec<String>,
}

impl Bench {
    /// Whether the engine is asked for.
    fn wants(&self, who: &Who) -> bool {
        let is = |name: &String| *name == who.label() || *name == who.engine;
        self.engines.is_empty() || self.engines.iter().any(is)
    }

    /// Threads at once: one, two, as many as CPUs, and more.
    fn threads(&self) -> Vec<u32> {
        let cpus = threads::cpus();
        let mut all = vec![1, 2, cpus, 4 * cpus];
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The key of a case's figures by an engine.
fn key(case: &str, op: &str, who: &Who) -> Key {
    let key = Key::new(SUITE, case).op(op).engine(who.engine).param_if("placement", who.variant);
    Key { default: who.is_default(), ours: who.engine == engines::OURS, ..key }
}

/// Runs the cases.
///
/// # Errors
/// No case or engine has such a name, an engine counts wrong, or the machine lacks what is needed.
pub fn bench(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let amount = if options.quick { Amount::QUICK } else { Amount::USUAL };
    bench_of(amount, options, progress)
}

fn bench_of(amount: Amount, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    if let Some(name) = options.workloads.iter().find(|name| CASES.iter().all(|case| case.name != **name)) {
        let known = CASES.map(|case| case.name).join(", ");
        return Err(Failure::Usage(format!("no case {name:?}; there are {known}")).into());
    }
    let bench = Bench { amount, engines: options.engines.clone() };
    let known = engines::known();
    if let Some(name) = options
        .engines
        .iter()
        .find(|&name| !known.iter().any(|(label, engine)| label == name || engine == name))
    {
        let known: Vec<&str> = known.iter().map(|(label, _)| label.as_str()).collect();
        return Err(Failure::Usage(format!("no engine {name:?}; there are {}", known.join(", "))).into());
    }
    let mut results = Results::default();
    results.fact("counters", count(amount.counters as u64));
    results.fact("live", count(heap::LIVE as u64));
    results.fact("cpus", threads::cpus().to_string());
    let asked =
        |case: &&Case| options.workloads.is_empty() || options.workloads.iter().any(|name| name == case.name);
    for case in CASES.iter().filter(asked) {
        (case.run)(&bench, &mut results, progress)?;
    }
    crate::promises::add(SUITE, &promises::all(), &mut results);
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Metric;

    #[test]
    fn every_case_has_figures_of_every_engine_and_all_promises_a_row() {
        let results = bench_of(Amount::TINY, &Options::default(), &mut Progress::default()).unwrap();
        for case in &CASES {
            assert!(results.records.iter().any(|record| record.key.workload == case.name), "{}", case.name);
        }
        let shown: Vec<String> = results.records.iter().map(|record| record.key.label()).collect();
        let lacking = |label: &str| results.notes.iter().any(|note| note.starts_with(label));
        for (label, _) in engines::known() {
            assert!(shown.contains(&label) || lacking(&label), "{label}");
        }
        let promised = results.records.iter().filter(|record| record.metric == Metric::Ratio).count();
        assert!(
            promised == promises::all().len() || results.notes.iter().any(|note| note.contains("not here"))
        );
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let refused = |options: Options| bench(&options, &mut Progress::default()).unwrap_err().to_string();
        let case = refused(Options { workloads: vec!["ad".to_owned()], ..Options::default() });
        assert!(case.contains("no case \"ad\"; there are ") && case.contains("add, histogram"), "{case}");
        let engine = refused(Options { engines: vec!["percpu:rung-9".to_owned()], ..Options::default() });
        assert!(engine.contains("there are percpu, percpu:mm-cid, percpu:rung-2"), "{engine}");
    }

    #[test]
    fn a_storm_leaves_sums_exact() {
        let storm = Storm { threads: Some(5), adds: 4_000_000, duration: None };
        let results = stress(&storm, &mut Progress::default()).unwrap();
        assert!(!results.failed, "{:?}", results.notes);
        let adds = results.records.iter().filter(|record| record.key.op == "adds");
        assert!(adds.clone().count() > 0);
        assert!(adds.clone().all(|record| record.value == 4e6), "{:?}", adds.collect::<Vec<_>>());
    }
}
