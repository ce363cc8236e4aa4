//! `heap`: making and dropping counters, by threads at once; one by one beside many at once; and how often the heap's lock
//! is taken for it.

use super::engines::{OURS, Ours, default_heap, ours};
use super::{Bench, SUITE, threads};
use crate::concurrent::place::{cpu_ns, cpus, together_ns};
use crate::concurrent::{FLOOR, Who};
use crate::record::{Field, Key, Metric, Stat};
use crate::run::{clock, median};
use freehold_percpu::Counter;
use freehold_percpu::heap::{Builder, PerCpuHeap};
use freehold_rivals::counters::{Counts, FastCounter, PaddedThreads, ThreadLocals};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Counters that a thread makes, then drops.
const BATCH: usize = 64;
/// Batches of a heap that is filled for the first time.
const FIRST_FILL: usize = 250;
/// Counters that are live at once while locks are counted.
pub(super) const LIVE: usize = 20_000;

const BULK: Who = ours("bulk");

/// Makes a batch, uses one of it, and drops it. Returns whether the one had what was added, and so began at 0.
type MakeAndDrop = Box<dyn Fn() -> anyhow::Result<bool> + Sync>;

/// One by one.
fn singly<T: Counts>(make: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<bool> {
    let mut all = Vec::with_capacity(BATCH);
    for _ in 0..BATCH {
        all.push(make()?);
    }
    let last = black_box(&all).last().ok_or_else(|| anyhow::anyhow!("an empty batch"))?;
    last.add(1);
    Ok(last.total() == 1)
}

fn engines(heap: &'static PerCpuHeap) -> Vec<(Who, MakeAndDrop)> {
    let bulk = move || {
        let all = Counter::bulk(heap, BATCH)?;
        let last = all.last().ok_or_else(|| anyhow::anyhow!("an empty batch"))?;
        last.add(1);
        let used = last.get() == 1;
        Counter::free_bulk(all);
        Ok(used)
    };
    let cpus = cpus();
    vec![
        (Who::default(OURS), Box::new(move || singly(|| Ok(Ours(Counter::in_heap(heap)?))))),
        (BULK, Box::new(bulk)),
        (Who::other("padded-threads"), Box::new(move || singly(|| Ok(PaddedThreads::new(cpus))))),
        (Who::other("fast-counter"), Box::new(move || singly(|| Ok(FastCounter::new(cpus))))),
        (Who::other("thread_local"), Box::new(|| singly(|| Ok(ThreadLocals::default())))),
        (Who::other(FLOOR), Box::new(|| Ok(black_box(vec![0_u64; BATCH]).len() == BATCH))),
    ]
}

/// The case.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    by_threads(bench)?;
    if bench.options.wants(&Who::default(OURS)) {
        batches(bench)?;
        first_fill(bench)?;
        locks(bench)?;
    }
    Ok(())
}

fn by_threads(bench: &mut Bench) -> anyhow::Result<()> {
    let heap = default_heap()?;
    let engines = bench.wanted(engines(heap));
    let batches = bench.amount.operations / (4 * BATCH);
    for threads in threads() {
        let all = threads as usize * batches * BATCH;
        let key = |who: &Who| [who.key(SUITE, "heap", "make and drop").param(Field::Threads, threads)];
        let keys = engines.iter().map(|(who, _)| key(who)).collect();
        bench.time(&format!("heap: {threads} threads"), keys, [all], |_, at| {
            let (who, make_and_drop) = &engines[at];
            let right = AtomicBool::new(true);
            let (ns, _) = together_ns(threads, &|_| {
                let all_right = (0..batches).all(|_| make_and_drop().is_ok_and(|right| right));
                right.fetch_and(all_right, Relaxed);
            })?;
            anyhow::ensure!(right.load(Relaxed), "heap: {}: no memory, or not zero", who.label());
            Ok([ns / all as f64])
        })?;
    }
    heap.validate().map_err(|broken| anyhow::anyhow!("heap: {broken}"))
}

/// Makes a batch in one of two ways.
fn make(heap: &'static PerCpuHeap, who: &Who) -> anyhow::Result<Vec<Counter>> {
    if *who == BULK {
        return Ok(Counter::bulk(heap, BATCH)?);
    }
    let mut all = Vec::with_capacity(BATCH);
    for _ in 0..BATCH {
        all.push(Counter::in_heap(heap)?);
    }
    Ok(all)
}

/// One by one, and all at once.
const WAYS: [Who; 2] = [Who::default(OURS), BULK];

fn of_batch<const N: usize>(ops: [&str; N]) -> Vec<[Key; N]> {
    let key = |who: &Who, op| who.key(SUITE, "heap-batch", op).param(Field::N, BATCH as u64);
    WAYS.iter().map(|who| ops.map(|op| key(who, op))).collect()
}

/// Batches that magazines serve, on one thread: the median batch of each round, by the wall clock less its reading.
fn batches(bench: &mut Bench) -> anyhow::Result<()> {
    let heap = default_heap()?;
    let each = (bench.amount.operations / 1000).max(1);
    let reading_ns = clock::cost_ns() as f64;
    bench.time("heap: batches", of_batch(["make", "drop"]), [each; 2], |_, at| {
        let mut ns = [Vec::new(), Vec::new()];
        for _ in 0..each {
            let begin = Instant::now();
            let all = make(heap, &WAYS[at])?;
            let made = Instant::now();
            if WAYS[at] == BULK {
                Counter::free_bulk(all)
            } else {
                drop(all)
            }
            ns[0].push((made - begin).as_nanos() as f64);
            ns[1].push(made.elapsed().as_nanos() as f64);
        }
        Ok(ns.map(|ns| (median(&ns) - reading_ns).max(0.0)))
    })
}

/// Batches of places that were never used, on a heap of their own in each round, after the heap has its first chunk.
fn first_fill(bench: &mut Bench) -> anyhow::Result<()> {
    bench.time("heap: first fill", of_batch(["first fill"]), [FIRST_FILL], |_, at| {
        let heap = Builder::new().capacity(1 << 22).build()?.leak();
        let mut all = vec![Counter::in_heap(heap)?];
        let mut done = Ok(());
        let ns = cpu_ns(|| {
            for _ in 0..FIRST_FILL {
                match make(heap, &WAYS[at]) {
                    Ok(batch) => all.extend(batch),
                    Err(error) => done = Err(error),
                }
            }
        })?;
        Counter::free_bulk(all);
        done.map(|()| [ns / FIRST_FILL as f64])
    })
}

/// How often the heap's own lock is taken for an operation, where places come and go by the thousand.
fn locks(bench: &mut Bench) -> anyhow::Result<()> {
    let heap = default_heap()?;
    let mut visits = heap.stats().lock_visits;
    let mut since = || {
        let before = std::mem::replace(&mut visits, heap.stats().lock_visits);
        (visits - before) as f64 / LIVE as f64
    };
    let mut all = Vec::with_capacity(LIVE);
    for _ in 0..LIVE {
        all.push(Counter::in_heap(heap)?);
    }
    let made = since();
    drop(all);
    for (op, locks) in [("make", made), ("drop", since())] {
        let key = Who::default(OURS).key(SUITE, "heap-locks", op).param(Field::N, LIVE as u64);
        bench.results.of(key).put(Metric::Locks, Stat::Mean, locks, LIVE as u64);
    }
    Ok(())
}
