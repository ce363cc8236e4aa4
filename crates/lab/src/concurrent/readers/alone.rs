//! `read`, `store`, `erase`: what an operation takes on one thread, while nobody else is there.

use super::engines::{Filled, Guarded};
use super::ranges;
use super::{Bench, SUITE};
use crate::counters::threads::{cpu_ns, in_turn};
use crate::record::Metric;
use crate::workload::SplitMix;
use std::time::Instant;

/// Look-ups at random indexes, with a guard each and with a guard held.
pub(super) fn reads(bench: &mut Bench) -> anyhow::Result<()> {
    for count in bench.sizes() {
        let maps = bench.filled("read", count, false)?;
        for (op, guarded) in [("guard each", Guarded::Each), ("guard held", Guarded::Held)] {
            let indexes = |map: &Filled| ranges::reads(0..count, map.entry.exact, 1);
            let indexes: Vec<_> = maps.iter().map(indexes).collect();
            let mut rounds_ns = vec![Vec::new(); maps.len()];
            for round in 0..=bench.amount.rounds {
                bench.progress.tick(&format!("read: {count} ranges, {op}, round {round}"));
                for at in in_turn(round, maps.len()) {
                    if let Some(ns) = read_ns(&maps[at], &indexes[at], guarded, bench.amount.operations)?
                        && round > 0
                    {
                        rounds_ns[at].push(ns);
                    }
                }
            }
            for (map, rounds_ns) in maps.iter().zip(&rounds_ns) {
                let key = map.entry.who.key(SUITE, "read", op).param("n", count);
                let samples = (bench.amount.operations * rounds_ns.len()) as u64;
                bench.results.of(key).rounds(Metric::Time, rounds_ns, samples);
            }
        }
    }
    Ok(())
}

/// CPU nanoseconds of a look-up, every answer of which is right; `None` if it has no such guards.
fn read_ns(map: &Filled, indexes: &[u64], guarded: Guarded, reads: usize) -> anyhow::Result<Option<f64>> {
    let passes = reads.div_ceil(indexes.len());
    let mut all = Vec::with_capacity(passes);
    let ns = cpu_ns(|| all.extend((0..passes).map(|_| map.map.read(indexes, guarded))))?;
    let Some(seen) = all.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let right = seen.iter().all(|seen| *seen == ranges::Seen::default());
    anyhow::ensure!(right, "{}: a look-up found nothing, or another range's value", map.entry.who.label());
    Ok(Some(ns / (passes * indexes.len()) as f64))
}

/// Stores over ranges that are there.
pub(super) fn stores(bench: &mut Bench) -> anyhow::Result<()> {
    for count in bench.sizes() {
        let mut maps = bench.filled("store", count, false)?;
        let numbers = ranges::stores(0..count, 2);
        let passes = bench.amount.operations.div_ceil(8 * numbers.len());
        let (mut version, mut rounds_ns) = (0_u16, vec![Vec::new(); maps.len()]);
        for round in 0..=bench.amount.rounds {
            bench.progress.tick(&format!("store: {count} ranges, round {round}"));
            for at in in_turn(round, maps.len()) {
                let mut stored: anyhow::Result<u64> = Ok(0);
                let ns = cpu_ns(|| {
                    stored = (1..=passes as u16).try_fold(0, |refused, pass| {
                        Ok(refused + maps[at].store(&numbers, version.wrapping_add(pass))?)
                    });
                })?;
                let refused = stored?;
                anyhow::ensure!(refused == 0, "stores were refused, though nobody reads");
                maps[at].check()?;
                if round > 0 {
                    rounds_ns[at].push(ns / (passes * numbers.len()) as f64);
                }
            }
            version = version.wrapping_add(passes as u16);
        }
        for (map, rounds_ns) in maps.iter().zip(&rounds_ns) {
            let key = map.entry.who.key(SUITE, "store", "replace").param("n", count);
            let samples = (passes * numbers.len() * rounds_ns.len()) as u64;
            bench.results.of(key).rounds(Metric::Time, rounds_ns, samples);
        }
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
        let passes = bench.amount.operations.div_ceil(16 * half.len()) as u16;
        let mut rounds_ns = vec![[Vec::new(), Vec::new()]; maps.len()];
        for round in 0..=bench.amount.rounds {
            bench.progress.tick(&format!("erase: {count} ranges, round {round}"));
            for at in in_turn(round, maps.len()) {
                let ns = erase_and_insert_ns(&mut maps[at], &half, passes)?;
                maps[at].check()?;
                if round > 0 {
                    let per_op = ns.map(|ns| ns / (f64::from(passes) * half.len() as f64));
                    rounds_ns[at].iter_mut().zip(per_op).for_each(|(all, ns)| all.push(ns));
                }
            }
        }
        for (map, rounds_ns) in maps.iter().zip(&rounds_ns) {
            for (op, rounds_ns) in ["erase", "insert"].into_iter().zip(rounds_ns) {
                let key = map.entry.who.key(SUITE, "erase", op).param("n", count);
                let samples = usize::from(passes) * half.len() * rounds_ns.len();
                bench.results.of(key).rounds(Metric::Time, rounds_ns, samples as u64);
            }
        }
    }
    Ok(())
}

/// Nanoseconds of all erases and of all inserts, by the wall clock.
fn erase_and_insert_ns(map: &mut Filled, half: &[u32], passes: u16) -> anyhow::Result<[f64; 2]> {
    let mut ns = [0.0; 2];
    for pass in 0..passes {
        let started = Instant::now();
        map.map.erase(half)?;
        let erased = Instant::now();
        map.store(half, pass)?;
        let took = [erased - started, erased.elapsed()];
        ns.iter_mut().zip(took).for_each(|(all, took)| *all += took.as_nanos() as f64);
    }
    Ok(ns)
}
