//! `heap`: making and dropping counters, by threads at once; one by one beside many at once; and how often the heap's lock
//! is taken for it.

use super::engines::{FLOOR, OURS, Ours, Who, default_heap};
use super::threads::{cpu_ns, cpus, in_turn, together_ns};
use super::{Bench, key};
use crate::Progress;
use crate::record::{Key, Metric, Results, Stat};
use freehold_percpu::Counter;
use freehold_percpu::heap::{Builder, PerCpuHeap};
use freehold_rivals::counters::{Counts, FastCounter, PaddedThreads, ThreadLocals};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Counters that a thread makes, then drops.
const BATCH: usize = 64;
/// Batches of a heap that is filled for the first time.
const FIRST_FILL: u64 = 250;
/// Counters that are live at once while locks are counted.
pub(super) const LIVE: usize = 20_000;

const BULK: Who = Who::ours("bulk");

/// Makes a batch, uses one of it, and drops it. Returns whether the one had what was added, and so began at 0.
type MakeAndDrop = Box<dyn Fn() -> anyhow::Result<bool> + Sync>;

/// One by one.
fn singly<T: Counts>(make: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<bool> {
    let mut all = Vec::with_capacity(BATCH);
    for _ in 0..BATCH {
        all.push(make()?);
    }
    is_used(black_box(&all))
}

fn is_used<T: Counts>(all: &[T]) -> anyhow::Result<bool> {
    let last = all.last().ok_or_else(|| anyhow::anyhow!("an empty batch"))?;
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
        (Who::of(OURS), Box::new(move || singly(|| Ok(Ours(Counter::in_heap(heap)?))))),
        (BULK, Box::new(bulk)),
        (Who::of("padded-threads"), Box::new(move || singly(|| Ok(PaddedThreads::new(cpus))))),
        (Who::of("fast-counter"), Box::new(move || singly(|| Ok(FastCounter::new(cpus))))),
        (Who::of("thread_local"), Box::new(|| singly(|| Ok(ThreadLocals::default())))),
        (Who::of(FLOOR), Box::new(|| Ok(black_box(vec![0_u64; BATCH]).len() == BATCH))),
    ]
}

/// The case.
pub(super) fn run(bench: &Bench, results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    by_threads(bench, results, progress)?;
    if bench.wants(&Who::of(OURS)) {
        progress.tick("heap: one by one and many at once");
        batches(bench, results)?;
        first_fill(bench, results)?;
        locks(results)?;
    }
    Ok(())
}

fn by_threads(bench: &Bench, results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let heap = default_heap()?;
    let wanted = |(who, _): &(Who, MakeAndDrop)| who.engine == FLOOR || bench.wants(who);
    let engines: Vec<(Who, MakeAndDrop)> = engines(heap).into_iter().filter(wanted).collect();
    let batches = bench.amount.operations / (4 * BATCH as u64);
    for threads in bench.threads() {
        let mut rounds_ns = vec![Vec::new(); engines.len()];
        // The first round only warms up.
        for round in 0..=bench.amount.rounds {
            progress.tick(&format!("heap: {threads} threads, round {round}"));
            for at in in_turn(round, engines.len()) {
                let (who, make_and_drop) = &engines[at];
                let right = AtomicBool::new(true);
                let ns = together_ns(threads, &|_| {
                    let all_right = (0..batches).all(|_| make_and_drop().is_ok_and(|right| right));
                    right.fetch_and(all_right, Relaxed);
                })?;
                anyhow::ensure!(right.load(Relaxed), "heap: {}: no memory, or not zero", who.label());
                if round > 0 {
                    rounds_ns[at].push(ns / (u64::from(threads) * batches * BATCH as u64) as f64);
                }
            }
        }
        for ((who, _), rounds_ns) in engines.iter().zip(&rounds_ns) {
            let key = key("heap", "make and drop", who).param("threads", threads);
            let samples = u64::from(threads) * batches * (BATCH * bench.amount.rounds) as u64;
            results.of(key).rounds(Metric::Time, rounds_ns, samples);
        }
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

fn of_batch(op: &str, who: &Who) -> Key {
    key("heap-batch", op, who).param("n", BATCH as u64)
}

/// Nanoseconds of reading the clock, the median of many.
fn reading_ns() -> f64 {
    let mut readings: Vec<u128> = (0..1001).map(|_| Instant::now().elapsed().as_nanos()).collect();
    readings.sort_unstable();
    readings[readings.len() / 2] as f64
}

/// Batches that magazines serve, on one thread: the median batch of each round, by the wall clock less its reading.
fn batches(bench: &Bench, results: &mut Results) -> anyhow::Result<()> {
    let heap = default_heap()?;
    let each = (bench.amount.operations / 1000).max(1);
    let reading_ns = reading_ns();
    for who in [Who::of(OURS), BULK] {
        let mut rounds = [Vec::new(), Vec::new()];
        for _ in 0..bench.amount.rounds {
            let mut ns = [Vec::new(), Vec::new()];
            for _ in 0..each {
                let begin = Instant::now();
                let all = make(heap, &who)?;
                let made = Instant::now();
                if who == BULK {
                    Counter::free_bulk(all)
                } else {
                    drop(all)
                }
                ns[0].push((made - begin).as_nanos() as f64);
                ns[1].push(made.elapsed().as_nanos() as f64);
            }
            for (rounds, ns) in rounds.iter_mut().zip(&mut ns) {
                ns.sort_unstable_by(f64::total_cmp);
                rounds.push((ns[ns.len() / 2] - reading_ns).max(0.0));
            }
        }
        for (op, rounds) in ["make", "drop"].into_iter().zip(&rounds) {
            results.of(of_batch(op, &who)).rounds(Metric::Time, rounds, each * rounds.len() as u64);
        }
    }
    Ok(())
}

/// Batches of places that were never used, on a heap of their own in each round, after the heap has its first chunk.
fn first_fill(bench: &Bench, results: &mut Results) -> anyhow::Result<()> {
    let ways = [Who::of(OURS), BULK];
    let mut rounds = [Vec::new(), Vec::new()];
    for round in 0..bench.amount.rounds {
        for at in in_turn(round, ways.len()) {
            let heap = Builder::new().capacity(1 << 22).build()?.leak();
            let mut all = vec![Counter::in_heap(heap)?];
            let mut done = Ok(());
            let ns = cpu_ns(|| {
                for _ in 0..FIRST_FILL {
                    match make(heap, &ways[at]) {
                        Ok(batch) => all.extend(batch),
                        Err(error) => done = Err(error),
                    }
                }
            })?;
            done?;
            rounds[at].push(ns / FIRST_FILL as f64);
            Counter::free_bulk(all);
        }
    }
    for (who, rounds) in ways.iter().zip(&rounds) {
        results.of(of_batch("first fill", who)).rounds(
            Metric::Time,
            rounds,
            FIRST_FILL * rounds.len() as u64,
        );
    }
    Ok(())
}

/// How often the heap's own lock is taken for an operation, where places come and go by the thousand.
fn locks(results: &mut Results) -> anyhow::Result<()> {
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
        let key = key("heap-locks", op, &Who::of(OURS)).param("n", LIVE as u64);
        results.of(key).put(Metric::Locks, Stat::Mean, locks, LIVE as u64);
    }
    Ok(())
}
