//! `read`, `store`, `erase`: what an operation takes on one thread, while nobody else is there.

use super::engines::{Filled, Guarded};
use super::ranges::{self, Seen};
use super::{Bench, SUITE};
use crate::concurrent::place::cpu_ns;
use crate::record::{Field, Key};
use crate::workload::SplitMix;
use std::time::Instant;

/// Look-ups at random indexes, with a guard each and with a guard held.
pub(super) fn reads(bench: &mut Bench) -> anyhow::Result<()> {
    let reads = bench.amount.operations;
    for count in bench.sizes() {
        let maps = bench.filled("read", count, false)?;
        for (op, guarded) in [("guard each", Guarded::Each), ("guard held", Guarded::Held)] {
            let able: Vec<&Filled> = maps.iter().filter(|map| map.map.read(&[], guarded).is_some()).collect();
            let indexes = |map: &&Filled| ranges::reads(0..count, map.entry.exact, 1);
            let indexes: Vec<_> = able.iter().map(indexes).collect();
            let keys = keys(able.iter().copied(), "read", [op], count);
            bench.time(&format!("read: {count} ranges, {op}"), keys, [reads], |_, at| {
                Ok([read_ns(able[at], &indexes[at], guarded, reads)?])
            })?;
        }
    }
    Ok(())
}

/// The keys of operations on maps of so many ranges.
fn keys<'a, const N: usize>(
    maps: impl IntoIterator<Item = &'a Filled>,
    workload: &str,
    ops: [&str; N],
    count: u32,
) -> Vec<[Key; N]> {
    let key = |map: &Filled, op| map.entry.who.key(SUITE, workload, op).param(Field::N, count);
    maps.into_iter().map(|map| ops.map(|op| key(map, op))).collect()
}

/// CPU nanoseconds of a look-up, every answer of which is right.
fn read_ns(map: &Filled, indexes: &[u64], guarded: Guarded, reads: usize) -> anyhow::Result<f64> {
    let passes = reads.div_ceil(indexes.len());
    let mut all = Vec::with_capacity(passes);
    let ns = cpu_ns(|| all.extend((0..passes).map(|_| map.map.read(indexes, guarded))))?;
    let right = all.iter().all(|seen| *seen == Some(Seen::default()));
    anyhow::ensure!(right, "{}: a look-up found nothing, or another range's value", map.entry.who.label());
    Ok(ns / (passes * indexes.len()) as f64)
}

/// Stores over ranges that are there.
pub(super) fn stores(bench: &mut Bench) -> anyhow::Result<()> {
    for count in bench.sizes() {
        let mut maps = bench.filled("store", count, false)?;
        let numbers = ranges::stores(0..count, 2);
        let passes = bench.amount.operations.div_ceil(8 * numbers.len());
        let all = passes * numbers.len();
        let keys = keys(&maps, "store", ["replace"], count);
        bench.time(&format!("store: {count} ranges"), keys, [all], |round, at| {
            let (mut stored, version): (anyhow::Result<u64>, _) = (Ok(0), (round * passes) as u16);
            let ns = cpu_ns(|| {
                stored = (1..=passes as u16).try_fold(0, |refused, pass| {
                    Ok(refused + maps[at].store(&numbers, version.wrapping_add(pass))?)
                });
            })?;
            anyhow::ensure!(stored? == 0, "stores were refused, though nobody reads");
            maps[at].check()?;
            Ok([ns / all as f64])
        })?;
    }
    Ok(())
}

/// Half of the ranges, at random, removed, then stored into the gaps again.
pub(super) fn erases(bench: &mut Bench) -> anyhow::Result<()> {
    for count in bench.sizes() {
        let mut maps = bench.filled("erase", count, false)?;
        let mut half: Vec<u32> = (0..count).collect();
        SplitMix::new(3).shuffle(&mut half);
        half.truncate((count as usize / 2).max(1));
        let passes = bench.amount.operations.div_ceil(16 * half.len());
        let all = passes * half.len();
        let keys = keys(&maps, "erase", ["erase", "insert"], count);
        bench.time(&format!("erase: {count} ranges"), keys, [all; 2], |_, at| {
            let ns = erase_and_insert_ns(&mut maps[at], &half, passes as u16)?;
            maps[at].check()?;
            Ok(ns.map(|ns| ns / all as f64))
        })?;
    }
    Ok(())
}

/// Nanoseconds of all erases and of all inserts, by the wall clock. Between them, what was erased is looked for.
fn erase_and_insert_ns(map: &mut Filled, half: &[u32], passes: u16) -> anyhow::Result<[f64; 2]> {
    let mut ns = [0.0; 2];
    for pass in 0..passes {
        let started = Instant::now();
        map.map.erase(half)?;
        let erases = started.elapsed();
        map.check_erased(half)?;
        let erased = Instant::now();
        map.store(half, pass)?;
        let took = [erases, erased.elapsed()];
        ns.iter_mut().zip(took).for_each(|(all, took)| *all += took.as_nanos() as f64);
    }
    Ok(ns)
}
