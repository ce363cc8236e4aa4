//! `freehold bench maple`: maps of ranges, ours beside what one might use instead.

use super::{Options, that_fit};
use crate::Progress;
use crate::commands::instructions::of_maps;
use crate::engine::maple::{find_benched, find_maps};
use crate::family::Tree;
use crate::record::{Field, Metric, Results, Stat};
use crate::run::describe;
use crate::run::maple::bench;
use crate::workload::maple::Workload;
use crate::workload::suite::{Benched, MAPS_BENCHED, find_cases};

/// Bytes of a range, about: in the lab's steps, and in the two maps of an engine.
const LAB_BYTES: u64 = 160;
const ENGINE_BYTES: u64 = 128;
/// From this size on, fewer rounds do: each is long.
const LARGE: u32 = 500_000;

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let find = if options.instructions { find_maps } else { find_benched };
    let engines = find(&options.engines)?;
    let sizes = match (options.sizes.as_slice(), options.quick) {
        ([], true) => vec![100, 10_000, 100_000],
        ([], false) => vec![100, 10_000, 1_000_000],
        (asked, _) => asked.to_vec(),
    };
    let cases = find_cases("workload", &options.workloads, MAPS_BENCHED, |case| case.name)?;
    let mut results = Results::default();
    let bytes_each = LAB_BYTES + ENGINE_BYTES * engines.len() as u64;
    let sized = cases.iter().any(|case| Workload::fixed_sizes(case.kind).is_none());
    let sizes = that_fit(&sizes, sized, bytes_each, options, &mut results)?;
    if options.instructions {
        of_maps(&cases, &sizes, &engines, &mut results, progress)?;
        return Ok(results);
    }
    describe::<Tree>(&mut results, engines.iter().copied());
    for case in cases {
        let &Benched { name, kind } = case;
        for &n in Workload::fixed_sizes(kind).unwrap_or(&sizes) {
            let rounds = match (options.quick, n >= LARGE) {
                (true, false) => 7,
                (false, false) => 15,
                (true, true) => 3,
                (false, true) => 5,
            };
            let workload = Workload { name, kind, n };
            let (runs, left_out) = bench(&workload, &engines, rounds, &mut |what| progress.tick(what))?;
            for (entry, reason) in left_out {
                results.note(format!("{name}: {} left out: {reason}", entry.label()));
            }
            for run in runs {
                let key = run.entry.key(name).param(Field::N, n);
                run.sheet.record(&mut results, &key);
                let mut work = run.work.clone();
                if work.percentile(1000) > 0 {
                    results.of(key.clone().op("checked")).counts(Metric::Work, &mut work);
                }
                let each = run.bytes as f64 / run.ranges.max(1) as f64;
                results
                    .of(key)
                    .origin(run.entry.memory())
                    .put(Metric::BytesPerItem, Stat::Total, each, run.ranges as u64)
                    .put(Metric::Metadata, Stat::Max, run.bytes as f64, 1);
                let linear = run.entry.map.is_some_and(|make| make().gap_is_linear());
                if linear && name.starts_with("gap-") {
                    results.note(format!("{name}: {} looks at gap after gap", run.entry.engine));
                }
            }
        }
    }
    Ok(results)
}
