//! `transaction`, `snapshot`: what it takes that two stores are seen at once, and that a reader sees one moment.

use super::engines::{ENTRIES, MAPLE, OWNED};
use super::ranges::{self, Seen};
use super::{Bench, SUITE};
use crate::concurrent::Who;
use crate::concurrent::place::cpu_ns;
use crate::record::Field;
use freehold::maple::{MapleTree, WordMap};
use freehold::units::Span;

/// A map of ours, whose stores are seen two at once. A whole loop of stores is one call, so that no store is called through a
/// table.
trait Together {
    /// Stores these ranges in that version, each two of them as one.
    fn store_pairs(&mut self, numbers: &[u32], version: u16) -> anyhow::Result<()>;

    /// The value at an index.
    fn value_at(&self, index: u64) -> Option<u64>;
}

macro_rules! together {
    ($of:ident, |$map:ident| $view:expr) => {
        impl Together for $of<u64> {
            fn store_pairs(&mut self, numbers: &[u32], version: u16) -> anyhow::Result<()> {
                for pair in numbers.chunks(2) {
                    let mut both = self.transaction();
                    for &number in pair {
                        let (first, last) = ranges::bounds(number);
                        let span = Span::try_from(first..=last)?;
                        both.store(span, ranges::value(number, version))?;
                    }
                    both.commit();
                }
                Ok(())
            }

            fn value_at(&self, index: u64) -> Option<u64> {
                let $map = self;
                $view.get(index)
            }
        }
    };
}

together! { MapleTree, |map| map.read() }
together! { WordMap, |map| map }

impl Bench<'_> {
    /// Which of ours are asked for.
    fn ours(&self, names: &[&str]) -> Vec<Who> {
        let ours = ENTRIES.iter().map(|entry| entry.who);
        ours.filter(|who| names.contains(&who.engine) && self.options.wants(who)).collect()
    }
}

/// Two random ranges stored at once.
pub(super) fn transactions(bench: &mut Bench) -> anyhow::Result<()> {
    for count in bench.sizes() {
        let engines = bench.ours(&[MAPLE, OWNED]);
        let mut maps: Vec<Box<dyn Together>> = Vec::new();
        for who in &engines {
            let shared = who.engine == MAPLE;
            maps.push(if shared { Box::new(MapleTree::new()) } else { Box::new(WordMap::new()) });
        }
        let whole: Vec<u32> = (0..count).collect();
        maps.iter_mut().try_for_each(|map| map.store_pairs(&whole, 0))?;
        let numbers = ranges::stores(0..count, 4);
        let passes = bench.amount.operations.div_ceil(16 * numbers.len()).max(1);
        let stores = passes * numbers.len();
        let key = |who: &Who| [who.key(SUITE, "transaction", "two stores").param(Field::N, count)];
        let keys = engines.iter().map(key).collect();
        bench.time(&format!("transaction: {count} ranges"), keys, [stores / 2], |round, at| {
            let (map, version) = (&mut maps[at], round as u16 + 1);
            let mut stored = Ok(());
            let ns = cpu_ns(|| stored = (0..passes).try_for_each(|_| map.store_pairs(&numbers, version)))?;
            stored?;
            let newest = numbers.iter().all(|&number| {
                map.value_at(ranges::bounds(number).0) == Some(ranges::value(number, version))
            });
            anyhow::ensure!(newest, "{}: a transaction's store is not there", engines[at].label());
            Ok([2.0 * ns / stores as f64])
        })?;
    }
    Ok(())
}

/// A snapshot begun and ended; and stores while one is held.
pub(super) fn snapshots(bench: &mut Bench) -> anyhow::Result<()> {
    let Some(who) = bench.ours(&[MAPLE]).pop() else { return Ok(()) };
    for count in bench.sizes() {
        let map = MapleTree::<u64>::new();
        let store = |number, version| {
            let (first, last) = ranges::bounds(number);
            map.store(first..=last, ranges::value(number, version)).map_err(|refused| refused.cause)
        };
        (0..count).try_for_each(|number| store(number, 0))?;
        let numbers = ranges::stores(0..count, 5);
        // Fewer than a reader may hold back.
        let some = &numbers[..numbers.len().min(512)];
        let ops = ["begin, look up, end", "store beside one"];
        let keys = vec![ops.map(|op| who.key(SUITE, "snapshot", op).param(Field::N, count))];
        let each = [numbers.len(), some.len()];
        bench.time(&format!("snapshot: {count} ranges"), keys, each, |round, _| {
            let mut seen = Seen::default();
            let taken_ns = cpu_ns(|| {
                for &number in &numbers {
                    let first = ranges::bounds(number).0;
                    seen.note(first, map.snapshot().ok().and_then(|snapshot| snapshot.get(first)));
                }
            })?;
            let snapshot = map.snapshot()?;
            let mut stored = Ok(());
            let version = round as u16 + 1;
            let beside_ns = cpu_ns(|| stored = some.iter().try_for_each(|&number| store(number, version)))?;
            stored?;
            // Of the round before, or of the first stores.
            let old = |number| Some(ranges::value(number, version - 1));
            let is_old = |&number: &u32| snapshot.get(ranges::bounds(number).0) == old(number);
            let is_right = seen == Seen::default() && some.iter().all(is_old);
            anyhow::ensure!(is_right, "{}: a snapshot changed, or has another range's value", who.label());
            Ok([taken_ns / numbers.len() as f64, beside_ns / some.len() as f64])
        })?;
    }
    Ok(())
}
