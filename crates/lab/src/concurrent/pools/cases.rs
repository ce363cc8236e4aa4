//! `pair`, `replace`, `locate`: what an operation takes by threads at once, by the wall clock, and what locks it takes.

use super::engines::{ENTRIES, Entry, FINDS, REFERENCE};
use super::lock::Used;
use super::pool::{Held, PAGE, Pool};
use super::{Bench, SUITE};
use crate::concurrent::place::{Work, threads, wall_clock};
use crate::concurrent::{self, Who};
use crate::record::{Field, Metric, Stat, count};
use crate::workload::SplitMix;
use freehold::units::Span;
use parking_lot::Mutex;
use std::sync::{self, PoisonError};

/// Pages of the block of a pair: 64 KiB.
pub(super) const PAIR_PAGES: u64 = 16;
/// Blocks that a thread holds while it replaces some.
pub(super) const HELD: usize = 1024;
/// Blocks that are looked for.
pub(super) const LOCATED: usize = 100_000;
/// Addresses that are looked for before the same come again.
const ADDRESSES: usize = 8192;

/// What is timed: what a thread does, the locks that are counted meanwhile, and what is looked at behind each round.
struct Timed<'a> {
    who: Who,
    locks: Option<&'a dyn Pool>,
    work: Box<Work<'a>>,
    check: Box<dyn Fn() -> anyhow::Result<()> + 'a>,
}

/// Times operations of so many threads, engine by engine in turn.
fn time(
    bench: &mut Bench,
    [workload, op]: [&str; 2],
    threads: u32,
    operations: usize,
    all: &[Timed],
) -> anyhow::Result<()> {
    let what = format!("{workload}: {threads} threads");
    let rounds = bench.rounds(&what, 0..=bench.amount.rounds, all.len(), |_, at| {
        let Timed { locks, work, check, .. } = &all[at];
        let before = locks.map(Pool::used);
        let (took, _) = wall_clock(threads, &|_| Ok(()), work)?;
        let used = locks.zip(before).map(|(pool, before)| pool.used().since(before));
        check()?;
        Ok((took, used))
    })?;
    let each_round = f64::from(threads) * operations as f64;
    for (of, rounds) in all.iter().zip(rounds) {
        let samples = u64::from(threads) * (operations * rounds.len()) as u64;
        let of_rounds = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            rounds.iter().map(|(took, _)| of(took.as_nanos() as f64)).collect()
        };
        let mut figures = bench.results.of(of.who.key(SUITE, workload, op).param(Field::Threads, threads));
        figures.rounds(Metric::Time, &of_rounds(&|ns| ns / operations as f64), samples);
        figures.rounds(Metric::Rate, &of_rounds(&|ns| each_round / (ns / 1e9)), samples);
        let used: Option<Used> = rounds.iter().map(|(_, used)| *used).sum();
        if let Some(used) = used.filter(|_| samples > 0) {
            figures.put(Metric::Locks, Stat::Mean, used.taken as f64 / samples as f64, samples);
            figures.put(Metric::LockWaits, Stat::Mean, used.waits as f64 / samples as f64, samples);
        }
    }
    Ok(())
}

/// The spaces that are asked for, made anew.
fn made(bench: &Bench, all: impl IntoIterator<Item = Entry>) -> anyhow::Result<Vec<(Who, Box<dyn Pool>)>> {
    bench.wanted(all).into_iter().map(|(who, make)| Ok((who, make()?))).collect()
}

fn ensure(right: bool, who: Who, what: &str) -> anyhow::Result<()> {
    anyhow::ensure!(right, "{}: {what}", who.label());
    Ok(())
}

const REFUSED: &str = "a block was refused";

/// Blocks of 64 KiB, taken and given back one at a time; beside them two locks that nobody else takes.
pub(super) fn pairs(bench: &mut Bench) -> anyhow::Result<()> {
    let operations = bench.amount.operations / 4;
    for threads in threads() {
        let pools = made(bench, ENTRIES)?;
        let mut all: Vec<Timed> = Vec::new();
        for (who, pool) in &pools {
            let (who, pool) = (*who, pool.as_ref());
            all.push(Timed {
                who,
                locks: Some(pool),
                work: Box::new(move |_| ensure(pool.pairs(operations, PAIR_PAGES), who, REFUSED)),
                check: Box::new(move || settled(pool, &who)),
            });
        }
        if bench.options.wants(&REFERENCE) {
            let (work, check) = (Box::new(move |_| two_locks(operations)), Box::new(|| Ok(())));
            all.push(Timed { who: REFERENCE, locks: None, work, check });
        }
        time(bench, ["pair", "take and give back"], threads, operations, &all)?;
    }
    Ok(())
}

/// Two locks that are this thread's, one after the other.
fn two_locks(operations: usize) -> anyhow::Result<()> {
    let locks = [sync::Mutex::new(0_u64), sync::Mutex::new(0_u64)];
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
    let operations = bench.amount.operations / 4;
    for threads in threads() {
        let mut pools = Vec::new();
        for (who, pool) in made(bench, ENTRIES)? {
            let of_thread = |thread: u32| Held::new(pool.as_ref(), HELD, thread.into()).map(Mutex::new);
            let held = (0..threads).map(of_thread).collect::<anyhow::Result<Vec<_>>>()?;
            pools.push((who, pool, held));
        }
        let mut all: Vec<Timed> = Vec::new();
        for (who, pool, held) in &pools {
            let (who, pool) = (*who, pool.as_ref());
            all.push(Timed {
                who,
                locks: Some(pool),
                work: Box::new(move |thread| {
                    let right = pool.replace(&mut held[thread as usize].lock(), operations);
                    ensure(right, who, REFUSED)
                }),
                check: Box::new(move || apart(pool, held, &who)),
            });
        }
        time(bench, ["replace", "one for another"], threads, operations, &all)?;
        pools.iter().try_for_each(|(who, pool, held)| give_all_back(pool.as_ref(), held, who))?;
    }
    Ok(())
}

/// Whether what threads hold is apart from each other, and found where it is.
pub fn apart(pool: &dyn Pool, held: &[Mutex<Held>], who: &Who) -> anyhow::Result<()> {
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    held.iter().for_each(|held| blocks.extend(&held.lock().blocks));
    let lengths = blocks.iter().map(|(first, pages)| (*first, pages * PAGE));
    concurrent::apart(lengths).map_err(|wrong| anyhow::anyhow!("{}: {wrong}", who.label()))?;
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

fn give_all_back(pool: &dyn Pool, held: &[Mutex<Held>], who: &Who) -> anyhow::Result<()> {
    for held in held {
        for (first, _) in held.lock().blocks.drain(..) {
            let [freed, again] = [(); 2].map(|()| pool.free(first));
            anyhow::ensure!(freed && !again, "{}: {first:#x} was freed {freed}, then {again}", who.label());
        }
    }
    settled(pool, who)
}

/// Whether a space that holds nothing is one free block.
pub fn settled(pool: &dyn Pool, who: &Who) -> anyhow::Result<()> {
    let blocks = pool.settle();
    anyhow::ensure!(blocks == 1, "{}: {blocks} free blocks, though nothing is held", who.label());
    Ok(())
}

/// Finding the block of any address, among many.
pub(super) fn locates(bench: &mut Bench) -> anyhow::Result<()> {
    let located = bench.amount.operations.min(LOCATED);
    let mut pools = Vec::new();
    for (who, pool) in made(bench, ENTRIES.into_iter().chain([FINDS]))? {
        let regions = count(located as u64);
        bench.progress.tick(&format!("locate: filling {} with {regions} regions", who.label()));
        let held = Held::new(pool.as_ref(), located, 1)?;
        let mut random = SplitMix::new(2);
        let addresses: Vec<u64> = (0..ADDRESSES)
            .map(|_| {
                let (first, pages) = held.blocks[random.uniform(located as u64) as usize];
                first + random.uniform(pages * PAGE)
            })
            .collect();
        let held = [Mutex::new(held)];
        apart(pool.as_ref(), &held, &who)?;
        pools.push((who, pool, held, addresses));
    }
    let passes = bench.amount.operations.div_ceil(4 * ADDRESSES);
    for threads in threads() {
        let mut all: Vec<Timed> = Vec::new();
        for (who, pool, _, addresses) in &pools {
            let (who, pool) = (*who, pool.as_ref());
            let work = Box::new(move |_| {
                let missed: u64 = (0..passes).map(|_| pool.locates(addresses)).sum();
                ensure(missed == 0, who, "an address was not found")
            });
            all.push(Timed { who, locks: None, work, check: Box::new(|| Ok(())) });
        }
        time(bench, ["locate", "any address"], threads, passes * ADDRESSES, &all)?;
    }
    pools.iter().try_for_each(|(who, pool, held, _)| give_all_back(pool.as_ref(), held, who))
}
