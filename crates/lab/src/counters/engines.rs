//! Who counts: our rungs, atomics, other crates, and one that does nothing.

use super::threads::cpus;
use freehold_percpu::heap::{Builder, HeapError, Index, PerCpuHeap, Rung};
use freehold_percpu::{AllocError, ApproxCounter, Counter, Histogram};
use freehold_rivals::counters::{
    AtomicBuckets, Contatori, Counts, FastCounter, MetricsUtil, MetricsUtilHistogram, Padded, PaddedThreads,
    Prometheus, PrometheusHistogram, Records, SharedAtomic, ThreadLocals,
};
use freehold_sys::{harness, topology};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The engine that is ours.
pub(super) const OURS: &str = "percpu";
/// The engine that does no work.
pub(super) const FLOOR: &str = "floor";

/// An engine, and which of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) engine: &'static str,
    pub(super) variant: Option<&'static str>,
}

impl Who {
    pub(super) const fn of(engine: &'static str) -> Self {
        Self { engine, variant: None }
    }

    pub(super) const fn ours(variant: &'static str) -> Self {
        Self { engine: OURS, variant: Some(variant) }
    }

    /// The one that users get unless they ask for another.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::of(OURS)
    }

    /// As users write it.
    pub(super) fn label(&self) -> String {
        self.variant.map_or_else(|| self.engine.to_owned(), |variant| format!("{}:{variant}", self.engine))
    }
}

/// The variants of ours: the rungs and indexes below the best.
pub(super) const RUNGS: [(Who, Rung, Index); 4] = [
    (Who::of(OURS), Rung::Sequence, Index::CpuId),
    (Who::ours("mm-cid"), Rung::Sequence, Index::MmCid),
    (Who::ours("rung-2"), Rung::Indexed, Index::CpuId),
    (Who::ours("rung-3"), Rung::Sticky, Index::CpuId),
];

/// Labels and names of all engines of all cases.
pub(super) fn known() -> Vec<(String, &'static str)> {
    let ours = RUNGS.map(|(who, ..)| who).into_iter();
    let forms = ["static", "approximate", "one-by-one", "bulk"].map(Who::ours);
    let others = [
        "shared-atomic",
        "padded-threads",
        "sched_getcpu",
        "contatori",
        "fast-counter",
        "thread_local",
        "prometheus-client",
        "metrics-util",
        "copy",
    ];
    ours.chain(forms).chain(others.map(Who::of)).map(|who| (who.label(), who.engine)).collect()
}

/// A heap that lives as long as the program.
pub(super) fn heap(rung: Rung, index: Index) -> Result<&'static PerCpuHeap, HeapError> {
    Ok(Builder::new().rung(rung).index(index).build()?.leak())
}

/// The heap that users get.
pub(super) fn default_heap() -> Result<&'static PerCpuHeap, HeapError> {
    Ok(PerCpuHeap::new()?.leak())
}

/// Adds in a loop; one for each type, so that adds are not called through a table.
pub(super) trait Adds: Sync {
    fn add_many(&self, count: u64);
    fn total(&self) -> u64;
}

impl<T: Counts> Adds for T {
    fn add_many(&self, count: u64) {
        (0..count).for_each(|_| black_box(self).add(1));
    }

    fn total(&self) -> u64 {
        Counts::total(self)
    }
}

/// Records in a loop.
pub(super) trait RecordMany: Sync {
    /// Numbers below 2^20 at random, from a seed. Returns their sum.
    fn record_many(&self, seed: u64, count: u64) -> u64;
    fn seen(&self) -> (u64, u64);
    fn collect(&self);
}

impl<T: Records> RecordMany for T {
    fn record_many(&self, seed: u64, count: u64) -> u64 {
        let (mut state, mut sum) = (seed, 0);
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = state >> 44;
            sum += value;
            black_box(self).record(value);
        }
        sum
    }

    fn seen(&self) -> (u64, u64) {
        Records::seen(self)
    }

    fn collect(&self) {
        Records::collect(self);
    }
}

/// One of ours. Its operations are inlined, so that the loop has the call that a program has, and no other.
pub(super) struct Ours<T>(pub(super) T);

impl Counts for Ours<Counter> {
    #[inline(always)]
    fn add(&self, value: u64) {
        self.0.add(value);
    }

    fn total(&self) -> u64 {
        self.0.get()
    }
}

impl Counts for Ours<ApproxCounter> {
    #[inline(always)]
    fn add(&self, value: u64) {
        self.0.add(value);
    }

    fn total(&self) -> u64 {
        self.0.get()
    }
}

impl Records for Ours<Histogram> {
    #[inline(always)]
    fn record(&self, value: u64) {
        self.0.record(value);
    }

    fn seen(&self) -> (u64, u64) {
        let seen = self.0.snapshot();
        (seen.count(), seen.sum())
    }
}

/// A counter that is a static of the program.
struct OfStatic;

static COUNTER: Counter = Counter::new();

impl Counts for OfStatic {
    #[inline(always)]
    fn add(&self, value: u64) {
        COUNTER.add(value);
    }

    fn total(&self) -> u64 {
        COUNTER.get()
    }
}

/// An atomic for each CPU, which the C library is asked for.
struct SchedGetcpu(Box<[Padded<AtomicU64>]>);

impl SchedGetcpu {
    fn new() -> Self {
        Self((0..topology::possible_cpus()).map(|_| Padded::default()).collect())
    }
}

impl Counts for SchedGetcpu {
    #[inline]
    fn add(&self, value: u64) {
        let cpu = harness::current_cpu().unwrap_or(0) as usize;
        self.0[cpu].0.fetch_add(value, Relaxed);
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|slot| slot.0.load(Relaxed)).fold(0, u64::wrapping_add)
    }
}

/// Does nothing: what the loop costs.
pub(super) struct Nothing;

impl Counts for Nothing {
    #[inline]
    fn add(&self, value: u64) {
        black_box(value);
    }

    fn total(&self) -> u64 {
        0
    }
}

impl Records for Nothing {
    #[inline]
    fn record(&self, value: u64) {
        black_box(value);
    }

    fn seen(&self) -> (u64, u64) {
        (0, 0)
    }
}

/// Why one of ours is not here.
pub(super) type Lacking = (Who, String);

/// Engines of a case, and which of ours this machine lacks.
pub(super) type Engines<T> = (Vec<(Who, Box<T>)>, Vec<Lacking>);

/// Ours on each rung and index that this machine has.
fn ours<T: ?Sized>(
    make: impl Fn(&'static PerCpuHeap) -> Result<Box<T>, AllocError>,
) -> anyhow::Result<Engines<T>> {
    let (mut all, mut lacking) = (Vec::new(), Vec::new());
    for (who, rung, index) in RUNGS {
        match heap(rung, index) {
            Ok(heap) => all.push((who, make(heap)?)),
            // Users get the best that there is.
            Err(_) if who.is_default() => all.push((who, make(default_heap()?)?)),
            Err(reason) => lacking.push((who, reason.to_string())),
        }
    }
    Ok((all, lacking))
}

/// All counters.
pub(super) fn counters() -> anyhow::Result<Engines<dyn Adds>> {
    let (mut all, lacking) = ours::<dyn Adds>(|heap| Ok(Box::new(Ours(Counter::in_heap(heap)?))))?;
    let approximate = Ours(ApproxCounter::in_heap(default_heap()?, 10)?);
    let others: [(Who, Box<dyn Adds>); 11] = [
        (Who::ours("static"), Box::new(OfStatic)),
        (Who::ours("approximate"), Box::new(approximate)),
        (Who::of("shared-atomic"), Box::new(SharedAtomic::default())),
        (Who::of("padded-threads"), Box::new(PaddedThreads::new(cpus()))),
        (Who::of("sched_getcpu"), Box::new(SchedGetcpu::new())),
        (Who::of("contatori"), Box::new(Contatori::default())),
        (Who::of("fast-counter"), Box::new(FastCounter::new(cpus()))),
        (Who::of("thread_local"), Box::new(ThreadLocals::default())),
        (Who::of("prometheus-client"), Box::new(Prometheus::default())),
        (Who::of("metrics-util"), Box::new(MetricsUtil::default())),
        (Who::of(FLOOR), Box::new(Nothing)),
    ];
    all.extend(others);
    Ok((all, lacking))
}

/// All histograms.
pub(super) fn histograms() -> anyhow::Result<Engines<dyn RecordMany>> {
    let (mut all, lacking) = ours::<dyn RecordMany>(|heap| Ok(Box::new(Ours(Histogram::in_heap(heap)?))))?;
    let others: [(Who, Box<dyn RecordMany>); 4] = [
        (Who::of("shared-atomic"), Box::new(AtomicBuckets::default())),
        (Who::of("prometheus-client"), Box::new(PrometheusHistogram::default())),
        (Who::of("metrics-util"), Box::new(MetricsUtilHistogram::default())),
        (Who::of(FLOOR), Box::new(Nothing)),
    ];
    all.extend(others);
    Ok((all, lacking))
}
