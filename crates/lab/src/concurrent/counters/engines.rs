//! Who counts: our rungs, atomics, other crates, and one that does nothing.

use crate::concurrent::place::cpus;
use crate::concurrent::{FLOOR, Who};
use freehold_harness::threads;
use freehold_percpu::heap::{AddMode, Builder, HeapError, Index, PerCpuHeap};
use freehold_percpu::{AllocError, ApproxCounter, Counter, Histogram};
use freehold_rivals::counters::{
    AtomicBuckets, Contatori, Counts, FastCounter, MetricsUtil, MetricsUtilHistogram, Padded, PaddedThreads,
    Prometheus, PrometheusHistogram, Records, SharedAtomic, ThreadLocals,
};
use freehold_sys::topology;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The engine that is ours.
pub(super) const OURS: &str = "percpu";
/// One of ours that users get if they ask for it.
pub(super) const fn ours(variant: &'static str) -> Who {
    Who::ours(OURS).variant(variant)
}

/// The variants of ours: the rungs and indexes below the best.
pub(super) const RUNGS: [(Who, AddMode, Index); 4] = [
    (Who::default(OURS), AddMode::Sequence, Index::CpuId),
    (ours("mm-cid"), AddMode::Sequence, Index::MmCid),
    (ours("rung-2"), AddMode::Indexed, Index::CpuId),
    (ours("rung-3"), AddMode::Sticky, Index::CpuId),
];

/// Who may be asked for.
pub(super) fn whos() -> Vec<Who> {
    let forms = ["static", "approximate", "one-by-one", "bulk"].map(ours);
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
    RUNGS.map(|(who, ..)| who).into_iter().chain(forms).chain(others.map(Who::other)).collect()
}

/// A heap that lives as long as the program.
pub(super) fn heap(rung: AddMode, index: Index) -> Result<&'static PerCpuHeap, HeapError> {
    Ok(Builder::new().add_mode(rung).index(index).build()?.leak())
}

/// The heap that users get.
pub(super) fn default_heap() -> Result<&'static PerCpuHeap, HeapError> {
    Ok(PerCpuHeap::new()?.leak())
}

/// Operations in a loop; one for each type, so that they are not called through a table.
pub trait Loops: Sync {
    /// Does so many operations of a round as this thread. Returns the sum of what they bring.
    fn many(&self, round: usize, thread: u32, count: u64) -> u64;

    /// How many operations are there since the start, and the sum of what they brought.
    fn seen(&self) -> (u64, u64);
}

/// Counters that take turns, round by round: where one happens to lie, a store of the loop may look like its own to the
/// processor, which then waits.
struct InTurn<T>(Vec<T>);

/// How many take turns.
const TURNS: usize = 7;

impl<T> InTurn<T> {
    fn of(make: impl Fn() -> T) -> Self {
        Self((0..TURNS).map(|_| make()).collect())
    }
}

impl<T: Counts> Loops for InTurn<T> {
    fn many(&self, round: usize, _: u32, count: u64) -> u64 {
        let one = &self.0[round % self.0.len()];
        (0..count).for_each(|_| black_box(one).add(1));
        count
    }

    fn seen(&self) -> (u64, u64) {
        let total = self.0.iter().map(Counts::total).fold(0, u64::wrapping_add);
        (total, total)
    }
}

/// Records numbers below 2^20 at random.
impl<T: Records> Loops for T {
    fn many(&self, _: usize, thread: u32, count: u64) -> u64 {
        let (mut state, mut sum) = (u64::from(thread), 0);
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = state >> 44;
            sum += value;
            black_box(self).record(value);
        }
        sum
    }

    fn seen(&self) -> (u64, u64) {
        self.collect();
        Records::seen(self)
    }
}

/// One of ours. Its operations are inlined, so that the loop has the call that a program has, and no other.
pub(super) struct Ours<T>(pub(super) T);

macro_rules! counts {
    ($($of:ty),*) => {
        $(impl Counts for Ours<$of> {
            #[inline(always)]
            fn add(&self, value: u64) {
                self.0.add(value);
            }

            fn total(&self) -> u64 {
                self.0.get()
            }
        })*
    };
}

counts! { Counter, ApproxCounter }

impl Records for Ours<Histogram> {
    #[inline(always)]
    fn record(&self, value: u64) {
        self.0.record(value);
    }

    fn seen(&self) -> (u64, u64) {
        let seen = self.0.snapshot();
        // The low bits: others' sums have no more.
        (seen.count(), seen.sum() as u64)
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
        let cpu = threads::current_cpu().unwrap_or(0) as usize;
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

/// Engines of a case, and which of ours this machine lacks and why.
pub(super) type Engines = (Vec<(Who, Box<dyn Loops>)>, Vec<(Who, String)>);

/// Ours on each rung and index that this machine has.
fn on_rungs(
    make: impl Fn(&'static PerCpuHeap) -> Result<Box<dyn Loops>, AllocError>,
) -> anyhow::Result<Engines> {
    let (mut all, mut lacking) = (Vec::new(), Vec::new());
    for (who, rung, index) in RUNGS {
        match heap(rung, index) {
            Ok(heap) => all.push((who, make(heap)?)),
            // Users get the best that there is.
            Err(_) if who.default => all.push((who, make(default_heap()?)?)),
            Err(reason) => lacking.push((who, reason.to_string())),
        }
    }
    Ok((all, lacking))
}

/// All counters.
pub(super) fn counters() -> anyhow::Result<Engines> {
    let (cpus, default_heap) = (cpus(), default_heap()?);
    let (mut all, lacking) =
        on_rungs(|heap| Ok(Box::new(InTurn(Counter::bulk(heap, TURNS)?.into_iter().map(Ours).collect()))))?;
    let approximate = (0..TURNS).map(|_| ApproxCounter::in_heap(default_heap, 10).map(Ours));
    let approximate = InTurn(approximate.collect::<Result<Vec<_>, AllocError>>()?);
    let others: [(Who, Box<dyn Loops>); 11] = [
        (ours("static"), Box::new(InTurn(vec![OfStatic]))),
        (ours("approximate"), Box::new(approximate)),
        (Who::other("shared-atomic"), Box::new(InTurn::of(SharedAtomic::default))),
        (Who::other("padded-threads"), Box::new(InTurn::of(|| PaddedThreads::new(cpus)))),
        (Who::other("sched_getcpu"), Box::new(InTurn::of(SchedGetcpu::new))),
        (Who::other("contatori"), Box::new(InTurn::of(Contatori::default))),
        (Who::other("fast-counter"), Box::new(InTurn::of(|| FastCounter::new(cpus)))),
        (Who::other("thread_local"), Box::new(InTurn::of(ThreadLocals::default))),
        (Who::other("prometheus-client"), Box::new(InTurn::of(Prometheus::default))),
        (Who::other("metrics-util"), Box::new(InTurn::of(MetricsUtil::default))),
        (Who::other(FLOOR), Box::new(InTurn(vec![Nothing]))),
    ];
    all.extend(others);
    Ok((all, lacking))
}

/// All histograms.
pub(super) fn histograms() -> anyhow::Result<Engines> {
    let (mut all, lacking) = on_rungs(|heap| Ok(Box::new(Ours(Histogram::in_heap(heap)?))))?;
    let others: [(Who, Box<dyn Loops>); 4] = [
        (Who::other("shared-atomic"), Box::new(AtomicBuckets::default())),
        (Who::other("prometheus-client"), Box::new(PrometheusHistogram::default())),
        (Who::other("metrics-util"), Box::new(MetricsUtilHistogram::default())),
        (Who::other(FLOOR), Box::new(Nothing)),
    ];
    all.extend(others);
    Ok((all, lacking))
}
