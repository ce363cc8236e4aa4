//! Sums are exact in every mode.

use super::*;
use crate::ends::all_of;
use crate::heap::tests::valid;
use crate::heap::{AddMode, Builder, HeapError, Index, PerCpuHeap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::vec::Vec;

/// A heap that is never dropped, and that no leak check reports.
fn heap(builder: Builder) -> Result<&'static PerCpuHeap, HeapError> {
    static ALL: Mutex<Vec<&'static PerCpuHeap>> = Mutex::new(Vec::new());
    let heap = builder.capacity(1 << 18).build()?.leak();
    ALL.lock().unwrap().push(heap);
    Ok(heap)
}

/// A heap of each mode and index that this machine has.
fn heaps() -> Vec<&'static PerCpuHeap> {
    let builder = PerCpuHeap::builder();
    let kinds = [AddMode::Sequence, AddMode::Indexed]
        .map(|mode| [Index::CpuId, Index::MmCid].map(|index| heap(builder.add_mode(mode).index(index)).ok()));
    let mut heaps: Vec<_> = kinds.into_iter().flatten().flatten().collect();
    heaps.push(heap(builder.add_mode(AddMode::Sticky)).unwrap());
    heaps
}

#[test]
fn each_lies_in_the_heap_that_it_is_made_in() {
    let heap = heap(PerCpuHeap::builder().add_mode(AddMode::Sticky)).unwrap();
    let placed = || heap.stats().placed;
    let before = placed();
    let _counter = Counter::in_heap(heap).unwrap();
    let with_counter = placed();
    let _histogram = Histogram::in_heap(heap).unwrap();
    let with_histogram = placed();
    let _gauge = Gauge::in_heap(heap).unwrap();
    assert!(
        before < with_counter && with_counter < with_histogram,
        "{before} {with_counter} {with_histogram}"
    );
}

const ADDS: u64 = if cfg!(miri) { 50 } else { 100_000 };
const THREADS: u64 = 4;

#[test]
fn sums_are_exact() {
    for heap in heaps() {
        let counters = Counter::bulk(heap, 3).unwrap();
        let gauge = Gauge::in_heap(heap).unwrap();
        let histogram = Histogram::in_heap(heap).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for add in 0..ADDS {
                        counters[0].add(1);
                        counters[2].add(add);
                        gauge.add(if add % 3 == 0 { -5 } else { 2 });
                        histogram.record(add % 100);
                    }
                });
            }
        });
        let mut values = [7; 3];
        snapshot(&counters, &mut values).unwrap();
        let sum = THREADS * ADDS * (ADDS - 1) / 2;
        assert_eq!(values, [THREADS * ADDS, 0, sum], "{}", heap.add_mode());
        assert_eq!(counters[2].get(), sum);
        let each: i64 = (0..ADDS).map(|add| if add % 3 == 0 { -5 } else { 2 }).sum();
        assert_eq!(gauge.get(), each * THREADS as i64);
        let seen = histogram.snapshot();
        assert_eq!(seen.count(), THREADS * ADDS);
        assert_eq!(all_of(seen.buckets()).into_iter().map(|(_, _, count)| count).sum::<u64>(), seen.count());
        assert_eq!(seen.sum(), u128::from(THREADS * (0..ADDS).map(|add| add % 100).sum::<u64>()));
        drop((gauge, histogram));
        Counter::free_bulk(counters);
        heap.trim();
        valid(heap);
        assert_eq!(heap.stats().placed, 0);
    }
}

#[test]
fn resets_lose_nothing() {
    for heap in heaps() {
        let counter = Counter::in_heap(heap).unwrap();
        let done = AtomicBool::new(false);
        let taken = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        taken.fetch_add(counter.reset(), Relaxed);
                        let now = counter.get();
                        assert!(now <= 3 * 2 * ADDS, "{now} is below 0");
                    }
                });
            }
            let adders: Vec<_> =
                (0..3).map(|_| scope.spawn(|| (0..ADDS).for_each(|add| counter.add(add % 3)))).collect();
            adders.into_iter().for_each(|adder| adder.join().unwrap());
            done.store(true, Relaxed);
        });
        let each: u64 = (0..ADDS).map(|add| add % 3).sum();
        assert_eq!(taken.load(Relaxed) + counter.get(), 3 * each, "{}", heap.add_mode());
    }
}

#[test]
fn a_gauge_is_set() {
    for heap in heaps() {
        let gauge = Gauge::in_heap(heap).unwrap();
        gauge.add(-3);
        for value in [0, 7, -7, i64::MIN, i64::MAX] {
            gauge.set(value);
            assert_eq!(gauge.get(), value);
            gauge.add(5);
            assert_eq!(gauge.get(), value.wrapping_add(5));
        }
        // Each add is in what a set replaced, or on top of it, wholly: so what is on top is a sum of some of them.
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..ADDS).for_each(|add| gauge.add([3, -3][add as usize % 2])));
            }
            (0..100).for_each(|value| gauge.set(value));
        });
        let on_top = gauge.get() - 99;
        assert!(on_top % 3 == 0 && on_top.unsigned_abs() <= 3 * THREADS * ADDS / 2, "{on_top}");
        // Once nobody adds, it is exact again.
        gauge.set(-42);
        assert_eq!(gauge.get(), -42);
    }
}

#[test]
fn resets_of_a_histogram_lose_nothing() {
    for heap in heaps() {
        let histogram = Histogram::in_heap(heap).unwrap();
        let done = AtomicBool::new(false);
        let mut taken = (0, 0_u128);
        std::thread::scope(|scope| {
            let resetting = scope.spawn(|| {
                let mut taken = (0, 0_u128);
                while !done.load(Relaxed) {
                    let (reset, now) = (histogram.reset(), histogram.snapshot());
                    taken = (taken.0 + reset.count(), taken.1 + reset.sum());
                    assert!(
                        now.count() <= THREADS * ADDS && now.sum() <= u128::from(THREADS * ADDS * 2),
                        "below 0"
                    );
                }
                taken
            });
            let recorders: Vec<_> = (0..THREADS)
                .map(|_| scope.spawn(|| (0..ADDS).for_each(|add| histogram.record(add % 3))))
                .collect();
            recorders.into_iter().for_each(|recorder| recorder.join().unwrap());
            done.store(true, Relaxed);
            taken = resetting.join().unwrap();
        });
        let rest = histogram.reset();
        let sum = THREADS * (0..ADDS).map(|add| add % 3).sum::<u64>();
        assert_eq!(
            (taken.0 + rest.count(), taken.1 + rest.sum()),
            (THREADS * ADDS, u128::from(sum)),
            "{}",
            heap.add_mode()
        );
    }
}

#[test]
fn approximate_reads_stay_within_their_bound() {
    for heap in heaps() {
        let counter = ApproxCounter::in_heap(heap, 5).unwrap();
        let gauge = ApproxGauge::in_heap(heap, 4).unwrap();
        // The sums that each thread has begun to add, and has added.
        let progress: Vec<_> = (0..THREADS).map(|_| (AtomicU64::new(0), AtomicU64::new(0))).collect();
        let done = AtomicBool::new(false);
        // The reader starts before the first add, so that it reads concurrently.
        let begin = Barrier::new(THREADS as usize + 1);
        std::thread::scope(|scope| {
            let adders: Vec<_> = progress
                .iter()
                .map(|(begun, added)| {
                    let (counter, gauge, begin) = (&counter, &gauge, &begin);
                    scope.spawn(move || {
                        let mut sum = 0;
                        begin.wait();
                        for add in 0..ADDS {
                            let value = [1, 1, 7, 100][add as usize % 4];
                            sum += value;
                            begun.store(sum, std::sync::atomic::Ordering::SeqCst);
                            counter.add(value);
                            gauge.add(if add % 2 == 0 { 3 } else { -3 });
                            added.store(sum, std::sync::atomic::Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            let (counter, progress, done, begin) = (&counter, &progress, &done, &begin);
            let reader = scope.spawn(move || {
                begin.wait();
                loop {
                    let load = |of: &AtomicU64| of.load(std::sync::atomic::Ordering::SeqCst);
                    let least: u64 = progress.iter().map(|(_, added)| load(added)).sum();
                    let approx = counter.approx();
                    let most: u64 = progress.iter().map(|(begun, _)| load(begun)).sum();
                    assert!(approx <= most, "{approx} of at most {most}");
                    let error = counter.max_error(THREADS as u32);
                    assert!(approx + error >= least, "{approx} of at least {least}, error {error}");
                    if done.load(Relaxed) {
                        break;
                    }
                }
            });
            adders.into_iter().for_each(|adder| adder.join().unwrap());
            done.store(true, Relaxed);
            reader.join().unwrap();
        });
        let sum: u64 = THREADS * (0..ADDS).map(|add| [1, 1, 7, 100][add as usize % 4]).sum::<u64>();
        assert_eq!(counter.get(), sum);
        assert!(counter.approx() <= sum && counter.approx() + counter.max_error(0) >= sum);
        assert!(counter.approx() > 0, "batches were handed on");
        assert_eq!(gauge.get(), 0);
        assert!(gauge.approx().unsigned_abs() <= gauge.max_error(0));
        gauge.add(-7);
        assert_eq!(gauge.get(), -7);
    }
}

#[test]
fn statics_take_memory_when_first_used() {
    static COUNTER: Counter = Counter::new();
    static GAUGE: Gauge = Gauge::new();
    static HISTOGRAM: Histogram = Histogram::new();
    static APPROX: ApproxCounter = ApproxCounter::new(70);
    assert_eq!((COUNTER.get(), GAUGE.get(), HISTOGRAM.snapshot().count(), APPROX.approx()), (0, 0, 0, 0));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                COUNTER.add(2);
                GAUGE.add(-1);
                HISTOGRAM.record(9);
                APPROX.add(1);
            });
        }
    });
    assert_eq!((COUNTER.get(), GAUGE.get(), HISTOGRAM.snapshot().sum(), APPROX.get()), (8, -4, 36, 4));
    assert_eq!((COUNTER.reset(), COUNTER.get()), (8, 0));
    APPROX.add(1 << 63);
    assert_eq!(APPROX.approx(), 1 << 63);
}

#[test]
fn a_value_is_set_and_added_to() {
    let value = Value::new();
    value.set(2.5);
    value.add(0.5);
    value.add(-4.0);
    assert_eq!(value.get().to_bits(), (-1.0_f64).to_bits());
}

#[test]
fn a_snapshot_is_of_counters_of_several_heaps_and_none() {
    let heaps = heaps();
    let mut counters: Vec<Counter> = Vec::new();
    for at in 0..if cfg!(miri) { 40 } else { 3000 } {
        let heap = heaps[at / 7 % heaps.len()];
        counters.push(if at % 5 == 0 { Counter::new() } else { Counter::in_heap(heap).unwrap() });
        if at % 5 != 0 || at % 50 == 0 {
            counters[at].add(at as u64);
        }
    }
    counters[1].reset();
    let mut values = std::vec![1; counters.len()];
    snapshot(&counters, &mut values).unwrap();
    for (at, (counter, value)) in counters.iter().zip(&values).enumerate() {
        let counted = (at % 5 != 0 || at % 50 == 0) && at != 1;
        assert_eq!((counter.get(), *value), if counted { (at as u64, at as u64) } else { (0, 0) }, "{at}");
    }
    let differ = snapshot(&counters, &mut values[1..]).unwrap_err();
    assert_eq!(differ, LengthsDiffer { counters: counters.len(), values: counters.len() - 1 });
    Counter::free_bulk(counters);
    heaps.iter().for_each(|heap| valid(heap));
}
