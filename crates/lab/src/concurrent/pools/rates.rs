//! Whether one lock matters: for how long it would be held, at most, at the rates of recorded workloads.

use super::engines::ONE_LOCK;
use super::{Bench, SUITE};
use crate::family::Kva;
use crate::record::{Field, Metric, Stat};
use crate::run::Demand;
use crate::traces;
use crate::workload::{Workload, from_file};

/// What files of recorded kernel areas end with.
const ENDING: &str = ".kva.csv.zst";
/// The shortest window in which allocations were counted, in nanoseconds: the first of `Demand::busiest`.
const WINDOW_NS: f64 = 1e6;

/// Sets the recorded rates against replacements under one lock, if these were measured.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    // A replacement on one thread holds the lock for most of its time.
    let section = bench.results.records.iter().find(|record| {
        record.key.workload == "replace"
            && record.key.engine == ONE_LOCK
            && record.metric == Metric::Time
            && record.field(Field::Threads).as_deref() == Some("1")
    });
    let Some(section_ns) = section.map(|record| record.value) else { return Ok(()) };
    for file in traces(None, &[ENDING])? {
        bench.progress.tick(&format!("recorded rates: {}", file.display()));
        let workload: Workload<Kva> = from_file(&file)?;
        let demand = Demand::of(&workload);
        let Some(rate) = demand.rate() else { continue };
        let held = [rate * section_ns / 1e9, demand.busiest[0] as f64 * section_ns / WINDOW_NS];
        for (op, share, per_second) in [
            ("whole recording", held[0], rate),
            ("busiest millisecond", held[1], demand.busiest[0] as f64 * 1e9 / WINDOW_NS),
        ] {
            let key = crate::record::Key::new(SUITE, "recorded rates")
                .op(op)
                .param(Field::File, workload.name.clone());
            bench.results.of(key).put(Metric::Rate, Stat::Total, per_second, demand.allocations).put(
                Metric::Share,
                Stat::Total,
                share,
                demand.allocations,
            );
        }
    }
    Ok(())
}
