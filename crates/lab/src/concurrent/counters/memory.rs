//! `counter-memory`: what many counters take, as the page tables of this process say.

use super::engines::{OURS, Ours, default_heap};
use super::{Bench, SUITE, counters};
use crate::concurrent::Who;
use crate::concurrent::place::{cpus, on_each_cpu, resident_bytes};
use crate::record::{Field, Metric, Stat};
use freehold_percpu::Counter;
use freehold_rivals::counters::{
    Contatori, Counts, FastCounter, MetricsUtil, PaddedThreads, Prometheus, SharedAtomic, ThreadLocals,
};
use std::any::Any;

/// CPUs that add, one after the other.
const MOST_CPUS: usize = 2;

/// Bytes that the process has more: with the counters made, and by each CPU that then added to all of them.
struct Grown {
    made: u64,
    by_cpu: Vec<u64>,
    /// The counters: what is freed would be used again by the next engine, and would not show.
    _kept: Box<dyn Any>,
}

/// An engine, and what so many of its counters take.
type Measured = (Who, fn(usize) -> anyhow::Result<Grown>);

const ENGINES: [Measured; 8] = [
    (Who::default(OURS), |n| {
        grown(|| Ok(Counter::bulk(default_heap()?, n)?.into_iter().map(Ours).collect()))
    }),
    (Who::other("shared-atomic"), of::<SharedAtomic>),
    (Who::other("padded-threads"), |n| {
        let cpus = cpus();
        grown(|| many(n, || PaddedThreads::new(cpus)))
    }),
    (Who::other("contatori"), of::<Contatori>),
    (Who::other("fast-counter"), |n| {
        let cpus = cpus();
        grown(|| many(n, || FastCounter::new(cpus)))
    }),
    (Who::other("thread_local"), of::<ThreadLocals>),
    (Who::other("prometheus-client"), of::<Prometheus>),
    (Who::other("metrics-util"), of::<MetricsUtil>),
];

fn of<T: Counts + Default + 'static>(n: usize) -> anyhow::Result<Grown> {
    grown(|| many(n, T::default))
}

fn many<T>(n: usize, make: impl Fn() -> T) -> anyhow::Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(n)?;
    all.extend((0..n).map(|_| make()));
    Ok(all)
}

fn grown<T: Counts + 'static>(make: impl FnOnce() -> anyhow::Result<Vec<T>>) -> anyhow::Result<Grown> {
    let before = resident_bytes()?;
    let counters = make()?;
    let mut at = resident_bytes()?;
    let (made, mut by_cpu) = (at.saturating_sub(before), Vec::new());
    let ran = on_each_cpu(MOST_CPUS, &|| counters.iter().for_each(|counter| counter.add(1)), &mut || {
        let now = resident_bytes()?;
        by_cpu.push(now.saturating_sub(at));
        at = now;
        Ok(())
    })?;
    let right = counters.iter().all(|counter| counter.total() == ran as u64);
    anyhow::ensure!(right, "a counter has another value than was added");
    Ok(Grown { made, by_cpu, _kept: Box::new(counters) })
}

/// The case.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let n = counters(bench);
    // The first thread on each CPU takes memory of its own.
    of::<SharedAtomic>(1)?;
    let mut all = Vec::new();
    for (who, measured) in bench.wanted(ENGINES) {
        bench.progress.tick(&format!("counter-memory: {}", who.label()));
        let grown = measured(n).map_err(|wrong| wrong.context(who.label()))?;
        let mut put = |op: &str, bytes: u64| {
            let mut figures =
                bench.results.of(who.key(SUITE, "counter-memory", op).param(Field::N, n as u64));
            figures.put(Metric::Resident, Stat::Mean, bytes as f64 / n as f64, n as u64);
            figures.total(Metric::Resident, bytes);
        };
        put("made", grown.made);
        for (op, bytes) in ["by the first CPU", "by the second CPU"].into_iter().zip(&grown.by_cpu) {
            put(op, *bytes);
        }
        put("all", grown.made + grown.by_cpu.iter().sum::<u64>());
        all.push(grown);
    }
    Ok(())
}
