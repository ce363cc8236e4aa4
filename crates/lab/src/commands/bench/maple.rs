//! `freehold bench maple`: maps of ranges, ours beside what one might use instead.

use super::Options;
use crate::Progress;
use crate::commands::instructions::of_maps;
use crate::engine::maple::find_maps;
use crate::family::{Entry, Tree};
use crate::record::{Metric, Results, Stat};
use crate::run::describe;
use crate::run::maple::bench;
use crate::workload::maple::{Workload, find_cases};

/// From this size on, fewer rounds do: each is long.
const LARGE: u32 = 500_000;

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let engines = find_maps(&options.engines)?;
    let sizes = match (options.sizes.as_slice(), options.quick) {
        ([], true) => vec![100, 10_000, 100_000],
        ([], false) => vec![100, 10_000, 1_000_000],
        (asked, _) => asked.to_vec(),
    };
    let cases = find_cases(&options.workloads)?;
    if options.instructions {
        return of_maps(&cases, &sizes, &engines, progress);
    }
    let mut results = Results::default();
    describe::<Tree>(&mut results, engines.iter().map(|(entry, _)| *entry));
    for case in cases {
        for &n in Workload::fixed_sizes(&case).unwrap_or(&sizes) {
            let rounds = match (options.quick, n >= LARGE) {
                (true, false) => 7,
                (false, false) => 15,
                (true, true) => 3,
                (false, true) => 5,
            };
            let workload = Workload { case, n };
            let runs = bench(&workload, &engines, rounds, &mut |what| progress.tick(what));
            for run in runs.map_err(anyhow::Error::msg)? {
                let key = Entry::<Tree>::key(&run.entry, case.name).param("n", n);
                for ((op, ns), &timed) in run.ns.iter().zip(&run.counts) {
                    results.of(key.clone().op(*op)).rounds(Metric::Time, ns, timed);
                }
                let each = run.bytes as f64 / run.ranges.max(1) as f64;
                results
                    .of(key)
                    .origin(Entry::<Tree>::memory(&run.entry))
                    .put(Metric::BytesPerItem, Stat::Total, each, run.ranges as u64)
                    .put(Metric::Metadata, Stat::Max, run.bytes as f64, 1);
                if run.gap_is_linear && case.name.starts_with("gap-") {
                    results.note(format!("{}: {} looks at gap after gap", case.name, run.entry.engine));
                }
            }
        }
    }
    Ok(results)
}
