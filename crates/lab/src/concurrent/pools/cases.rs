//! `pair`, `replace`, `locate`: what an operation takes by threads at once, by the wall clock, and what locks it takes.

use super::engines::{ENTRIES, Entry, Held, Loops, PAGE, REFERENCE};
use super::lock::Used;
use super::{Bench, SUITE};
use crate::concurrent::Who;
use crate::concurrent::place::{threads, wall_clock};
use crate::counters::threads::in_turn;
use crate::record::{Metric, Stat, count};
use crate::workload::SplitMix;
use freehold::units::Span;
use std::sync::{Mutex, PoisonError};

/// Pages of the block of a pair: 64 KiB.
pub(super) const PAIR_PAGES: u64 = 16;
/// Blocks that a thread holds while it replaces some.
pub(super) const HELD: usize = 1024;
/// Blocks that are looked for.
pub(super) const LOCATED: usize = 100_000;
/// Addresses that are looked for before the same come again.
const ADDRESSES: usize = 8192;

/// What is timed of an engine.
struct Run {
    who: Who,
    times_ns: Vec<f64>,
    rates: Vec<f64>,
    used: Used,
    operations: u64,
}

impl Run {
    fn new(who: Who) -> Self {
        Self { who, times_ns: Vec::new(), rates: Vec::new(), used: Used::default(), operations: 0 }
    }

    fn note(&mut self, threads: u32, operations: usize, took: std::time::Duration) {
        let all = f64::from(threads) * operations as f64;
        self.operations += u64::from(threads) * operations as u64;
        self.times_ns.push(took.as_nanos() as f64 / operations as f64);
        self.rates.push(all / took.as_secs_f64());
    }

    fn add(&self, bench: &mut Bench, workload: &str, op: &str, threads: u32, has_locks: bool) {
        let key = self.who.key(SUITE, workload, op).param("threads", threads);
        let mut figures = bench.results.of(key);
        figures.rounds(Metric::Time, &self.times_ns, self.operations).rounds(
            Metric::Rate,
            &self.rates,
            self.operations,
        );
        if has_locks && self.operations > 0 {
            let mean = |count: u64| count as f64 / self.operations as f64;
            figures.put(Metric::Locks, Stat::Mean, mean(self.used.taken), self.operations).put(
                Metric::LockWaits,
                Stat::Mean,
                mean(self.used.waits),
                self.operations,
            );
        }
    }
}

/// All locks of a space together.
fn all_locks(pool: &dyn Loops) -> Used {
    pool.used().into_iter().fold(Used::default(), |all, (_, used)| Used {
        taken: all.taken + used.taken,
        waits: all.waits + used.waits,
        held_ns: all.held_ns + used.held_ns,
    })
}

fn wanted(bench: &Bench, allocates: bool) -> Vec<&'static Entry> {
    ENTRIES.iter().filter(|entry| bench.wants(&entry.who) && (entry.allocates || !allocates)).collect()
}

/// Blocks of 64 KiB, taken and given back one at a time; beside them two locks that nobody else takes.
pub(super) fn pairs(bench: &mut Bench) -> anyhow::Result<()> {
    let entries = wanted(bench, true);
    let with_locks = bench.wants(&REFERENCE);
    let operations = bench.amount.operations / 4;
    for threads in threads() {
        let pools = entries.iter().map(|entry| (entry.make)(None)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut runs: Vec<Run> = entries.iter().map(|entry| Run::new(entry.who)).collect();
        let mut locks = Run::new(REFERENCE);
        for round in 0..=bench.amount.rounds {
            bench.progress.tick(&format!("pair: {threads} threads, round {round}"));
            for at in in_turn(round, pools.len()) {
                let pool = pools[at].as_ref();
                let before = all_locks(pool);
                let took = wall_clock(threads, &|_| {
                    let right = pool.pairs(operations, PAIR_PAGES);
                    anyhow::ensure!(right, "pair: {}: a block was refused", entries[at].who.label());
                    Ok(())
                })?;
                let used = all_locks(pool).since(before);
                settled(pool, &entries[at].who)?;
                // The first round only warms up.
                if round > 0 {
                    runs[at].note(threads, operations, took);
                    runs[at].used.taken += used.taken;
                    runs[at].used.waits += used.waits;
                }
            }
            if with_locks {
                let took = wall_clock(threads, &|_| two_locks(operations))?;
                if round > 0 {
                    locks.note(threads, operations, took);
                }
            }
        }
        runs.iter().for_each(|run| run.add(bench, "pair", "take and give back", threads, true));
        if with_locks {
            locks.add(bench, "pair", "take and give back", threads, false);
        }
    }
    Ok(())
}

/// Two locks that are this thread's, one after the other.
fn two_locks(operations: usize) -> anyhow::Result<()> {
    let locks = [Mutex::new(0_u64), Mutex::new(0_u64)];
    let locks = std::hint::black_box(&locks);
    for _ in 0..operations {
        for lock in locks {
            *lock.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        }
    }
    let counted = locks.iter().all(|lock| lock.lock().is_ok_and(|count| *count == operations as u64));
    anyhow::ensure!(counted, "a lock lost an addition");
    Ok(())
}

/// What a thread holds is given back and something else taken, at random.
pub(super) fn replacements(bench: &mut Bench) -> anyhow::Result<()> {
    let entries = wanted(bench, true);
    let operations = bench.amount.operations / 4;
    for threads in threads() {
        let pools = entries.iter().map(|entry| (entry.make)(None)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut runs: Vec<Run> = entries.iter().map(|entry| Run::new(entry.who)).collect();
        let mut held = Vec::new();
        for pool in &pools {
            let of_thread = |thread: u32| Held::new(pool.as_ref(), HELD, u64::from(thread)).map(Mutex::new);
            held.push((0..threads).map(of_thread).collect::<anyhow::Result<Vec<_>>>()?);
        }
        for round in 0..=bench.amount.rounds {
            bench.progress.tick(&format!("replace: {threads} threads, round {round}"));
            for at in in_turn(round, pools.len()) {
                let (pool, held, who) = (pools[at].as_ref(), &held[at], &entries[at].who);
                let before = all_locks(pool);
                let took = wall_clock(threads, &|thread| {
                    let mut mine = held[thread as usize].lock().unwrap_or_else(PoisonError::into_inner);
                    let right = pool.replace(&mut mine, operations);
                    anyhow::ensure!(right, "replace: {}: a block was refused", who.label());
                    Ok(())
                })?;
                let used = all_locks(pool).since(before);
                apart(pool, held, who)?;
                if round > 0 {
                    runs[at].note(threads, operations, took);
                    runs[at].used.taken += used.taken;
                    runs[at].used.waits += used.waits;
                }
            }
        }
        for ((pool, held), entry) in pools.iter().zip(&held).zip(&entries) {
            give_all_back(pool.as_ref(), held, &entry.who)?;
        }
        runs.iter().for_each(|run| run.add(bench, "replace", "one for another", threads, true));
    }
    Ok(())
}

/// Whether what threads hold is apart from each other, and found where it is.
pub(super) fn apart(pool: &dyn Loops, held: &[Mutex<Held>], who: &Who) -> anyhow::Result<()> {
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for held in held {
        blocks.extend(&held.lock().unwrap_or_else(PoisonError::into_inner).blocks);
    }
    blocks.sort_unstable();
    for pair in blocks.windows(2) {
        let [(first, pages), (next, _)] = pair else { continue };
        anyhow::ensure!(first + pages * PAGE <= *next, "{}: blocks overlap at {next:#x}", who.label());
    }
    for &(first, pages) in &blocks {
        let whole = Span::from_size(first, pages * PAGE);
        for address in [first, first + pages * PAGE - 1] {
            let found = pool.locate(address);
            let right = found.zip(whole).is_some_and(|(found, whole)| found.covers(whole));
            anyhow::ensure!(right, "{}: {found:?} at {address:#x}, not {whole:?}", who.label());
        }
    }
    Ok(())
}

fn give_all_back(pool: &dyn Loops, held: &[Mutex<Held>], who: &Who) -> anyhow::Result<()> {
    for held in held {
        for (first, _) in held.lock().unwrap_or_else(PoisonError::into_inner).blocks.drain(..) {
            let [freed, again] = [(); 2].map(|()| pool.free(first));
            anyhow::ensure!(freed && !again, "{}: {first:#x} was freed {freed}, then {again}", who.label());
        }
    }
    settled(pool, who)
}

/// Whether a space that holds nothing is one free block.
pub(super) fn settled(pool: &dyn Loops, who: &Who) -> anyhow::Result<()> {
    let blocks = pool.settle();
    anyhow::ensure!(blocks == 1, "{}: {blocks} free blocks, though nothing is held", who.label());
    Ok(())
}

/// Finding the block of any address, among many.
pub(super) fn locates(bench: &mut Bench) -> anyhow::Result<()> {
    let entries = wanted(bench, false);
    let located = if bench.amount.operations < LOCATED { bench.amount.operations } else { LOCATED };
    let mut pools = Vec::new();
    for entry in &entries {
        bench.progress.tick(&format!("locate: filling {}", entry.who.label()));
        let pool = (entry.make)(None)?;
        let held = Held::new(pool.as_ref(), located, 1)?;
        let mut random = SplitMix::new(2);
        let addresses: Vec<u64> = (0..ADDRESSES)
            .map(|_| {
                let (first, pages) = held.blocks[random.uniform(located as u64) as usize];
                first + random.uniform(pages * PAGE)
            })
            .collect();
        let held = [Mutex::new(held)];
        apart(pool.as_ref(), &held, &entry.who)?;
        pools.push((pool, held, addresses));
    }
    let passes = bench.amount.operations.div_ceil(4 * ADDRESSES);
    for threads in threads() {
        let mut runs: Vec<Run> = entries.iter().map(|entry| Run::new(entry.who)).collect();
        for round in 0..=bench.amount.rounds {
            let regions = count(located as u64);
            bench.progress.tick(&format!("locate: {regions} regions, {threads} threads, round {round}"));
            for at in in_turn(round, pools.len()) {
                let (pool, _, addresses) = &pools[at];
                let took = wall_clock(threads, &|_| {
                    let missed: u64 = (0..passes).map(|_| pool.locates(addresses)).sum();
                    anyhow::ensure!(missed == 0, "locate: {}: not found", entries[at].who.label());
                    Ok(())
                })?;
                if round > 0 {
                    runs[at].note(threads, passes * ADDRESSES, took);
                }
            }
        }
        runs.iter().for_each(|run| run.add(bench, "locate", "any address", threads, false));
    }
    pools
        .iter()
        .zip(&entries)
        .try_for_each(|((pool, held, _), entry)| give_all_back(pool.as_ref(), held, &entry.who))
}
