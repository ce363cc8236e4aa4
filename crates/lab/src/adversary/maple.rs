//! Sequences against maps of ranges. No probe can be passed to them: instructions are counted.

use super::growth::Bound;
use super::meter::Meter;
use super::sequence::{Run, Sequence};
use anyhow::{Context, Result, ensure};
use freehold::maple::{MapleTree, RangeMap, RangeSet, Request, WordMap};
use freehold::units::{Align, Span};

/// All sequences.
pub(super) const SEQUENCES: &[Sequence] = &[
    of("one-short", "lowest_gap", |n, meter| search(n, Gaps::new(11, 16), &Request::new(12), meter)),
    of("one-short", "highest_gap", one_short_from_above),
    of("long-gaps", "lowest_gap", long_gaps),
    // Documented as linear in the gaps that are long enough and misaligned.
    of("wrong-alignment", "lowest_gap", wrong_alignment).single(Bound::Linear, Bound::Linear),
    of("last-window", "lowest_gap", last_window),
    of("cyclic-windows", "alloc_lowest", cyclic_windows),
    of("cyclic", "alloc_cyclic", cyclic),
    of("mass-erases", "lowest_gap", mass_erases),
    of("borders", "erase, insert", borders),
    of("two-ends", "both ends", two_ends),
    // Linear by nature: what is removed grows with n.
    of("all-at-once", "store", store_over_all).single(Bound::Linear, Bound::Linear),
    of("no-neighbour", "store_merging", |n, meter| store_merging(n, false, meter)),
    of("both-neighbours", "store_merging", |n, meter| store_merging(n, true, meter)),
    of("full-leaves", "update_slots", update_one),
    of("full-leaves", "transaction", transaction),
    of("full-leaves", "set insert, remove", set),
    of("shared-borders", "erase, store", shared_borders),
    of("shared-look-up", "entry_at", shared_look_up),
];

const fn of(name: &'static str, op: &'static str, run: Run) -> Sequence {
    Sequence::amortized(name, op, run).in_instructions().single(Bound::Log, Bound::Log)
}

const MEASURED: u64 = 16;

/// Gaps of `gap` indexes behind ranges, one in each `period`.
#[derive(Clone, Copy)]
struct Gaps {
    gap: u64,
    period: u64,
}

impl Gaps {
    const fn new(gap: u64, period: u64) -> Self {
        Self { gap, period }
    }

    /// A map with n gaps; everything behind the last range is free. Gaps start one behind a multiple of the period.
    fn map(self, n: u32) -> Result<(RangeMap<u32>, u64)> {
        let mut map = RangeMap::new();
        map.insert(0..=0, 0)?;
        for at in 1..=u64::from(n) {
            let (first, last) = (at * self.period + 1 - (self.period - self.gap), at * self.period);
            map.insert(first..=last, at as u32)?;
        }
        Ok((map, u64::from(n) + 1))
    }

    fn end(self, n: u32) -> u64 {
        u64::from(n) * self.period + 1
    }
}

fn right(found: Option<u64>, right: u64) -> Result<()> {
    ensure!(found == Some(right), "{found:x?}, but {right:#x} is right");
    Ok(())
}

/// A place is behind all gaps, again and again.
fn search(n: u32, gaps: Gaps, request: &Request, meter: &mut Meter) -> Result<()> {
    let map = meter.ready(|_| gaps.map(n))?;
    for _ in 0..MEASURED {
        let found = meter.measure(|_| map.lowest_gap(request));
        let first = found?.first();
        ensure!(
            (gaps.end(n)..=gaps.end(n) + gaps.period).contains(&first),
            "{first:#x} is not the first place behind the gaps"
        );
    }
    Ok(map.validate()?)
}

fn wrong_alignment(n: u32, meter: &mut Meter) -> Result<()> {
    let align = Align::new(16).context("no alignment")?;
    search(n, Gaps::new(12, 16), &Request::new(12).align(align), meter)
}

fn long_gaps(n: u32, meter: &mut Meter) -> Result<()> {
    search(n, Gaps::new((1 << 40) - 1, 1 << 40), &Request::new(1 << 40), meter)
}

/// A place is below all gaps.
fn one_short_from_above(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::new(11, 16);
    let (map, window) = meter.ready(|_| {
        let (mut map, ops) = gaps.map(n)?;
        map.erase(0).context("there is a range at 0")?;
        map.erase(16).context("there is a range at 16")?;
        let window = Span::new(0, gaps.end(n)).context("no window")?;
        Ok(((map, window), ops + 2))
    })?;
    for _ in 0..MEASURED {
        let found = meter.measure(|_| map.highest_gap(&Request::new(12).window(window)));
        let last = found?.last();
        ensure!(last < 32, "{last:#x}, but the gaps are too short");
    }
    Ok(map.validate()?)
}

/// Every gap would do, and the window has the last alone.
fn last_window(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::new(12, 16);
    let map = meter.ready(|_| gaps.map(n))?;
    let first = gaps.end(n) - 16;
    for at in 0..MEASURED {
        let window = Span::new(first - at % 4, first + 11).context("no window")?;
        let found = meter.measure(|_| map.lowest_gap(&Request::new(12).window(window)));
        right(found.ok().map(|span| span.first()), first)?;
    }
    Ok(map.validate()?)
}

/// Windows go round, each from the middle of one gap to the end; every gap is one short for what is asked.
fn cyclic_windows(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::new(11, 16);
    let mut map = meter.ready(|_| gaps.map(n))?;
    let mut end = gaps.end(n);
    for at in 0..MEASURED {
        let window = Span::new(at * u64::from(n) / MEASURED * 16 + 5, u64::MAX).context("no window")?;
        let found = meter.measure(|_| map.alloc_lowest(&Request::new(12).window(window), 7));
        right(found.ok().map(|span| span.first()), end)?;
        end += 12;
    }
    Ok(map.validate()?)
}

/// All but one index of the window are taken, far below where the search begins.
fn cyclic(n: u32, meter: &mut Meter) -> Result<()> {
    let n = u64::from(n);
    let window = Span::new(0, n - 1).context("no window")?;
    let mut map = meter.ready(|_| {
        let mut map = WordMap::new();
        for at in 0..n {
            map.insert(at..=at, at as u32)?;
        }
        Ok((map, n))
    })?;
    for at in 0..MEASURED {
        let hole = at * 5 % n.min(64);
        map.erase(hole).context("nothing to erase")?;
        let mut next = hole + 1;
        let found = meter.measure(|_| map.alloc_cyclic(window, &mut next, 1));
        right(found.ok().map(|(index, _)| index), hole)?;
    }
    Ok(map.validate()?)
}

/// n ranges of four indexes without gaps.
fn dense(n: u32) -> Result<RangeMap<u32>> {
    let mut map = RangeMap::new();
    for at in 0..u64::from(n) {
        map.insert(at * 4..=at * 4 + 3, at as u32)?;
    }
    Ok(map)
}

/// All ranges but one in 8 are erased; then a search that fits nowhere between them.
fn mass_erases(n: u32, meter: &mut Meter) -> Result<()> {
    let map = meter.ready(|_| {
        let (mut map, mut erased) = (dense(n)?, 0);
        for at in (0..u64::from(n)).filter(|at| at % 8 != 0) {
            erased += u64::from(map.erase(at * 4).is_some());
        }
        Ok((map, u64::from(n) + erased))
    })?;
    for _ in 0..MEASURED {
        let found = meter.measure(|_| map.lowest_gap(&Request::new(4 * 7 + 1)));
        right(found.ok().map(|span| span.first()), u64::from(n - 1) / 8 * 32 + 4)?;
    }
    Ok(map.validate()?)
}

/// Ranges without gaps, of which those at the borders of nodes are erased and inserted by turns.
fn borders(n: u32, meter: &mut Meter) -> Result<()> {
    let mut map = meter.ready(|_| Ok((dense(n)?, n.into())))?;
    for at in 0..MEASURED {
        // Eight different places of a leaf, in the middle of the map.
        let first = (u64::from(n) / 2 + at % 8 * 2) * 4;
        meter.measure(|_| map.erase(first)).context("nothing to erase")?;
        meter.measure(|_| map.insert(first..=first + 3, 1))?;
    }
    Ok(map.validate()?)
}

/// An iterator that goes from both ends by turns.
fn two_ends(n: u32, meter: &mut Meter) -> Result<()> {
    let map = meter.ready(|_| Gaps::new(11, 16).map(n))?;
    let mut all = map.iter();
    for at in 0..3 * MEASURED {
        let (low, high) = meter.measure(|_| (all.next(), all.next_back()));
        let ends = low.zip(high).map(|((low, _), (high, _))| (low.last(), high.last()));
        ensure!(
            ends == Some((at * 16, (u64::from(n) - at) * 16)),
            "{ends:x?} are not the ends after {at} steps"
        );
    }
    Ok(map.validate()?)
}

/// A range without a gap on either side is stored again: with a value of its own, or with that of both neighbours.
fn store_merging(n: u32, merges: bool, meter: &mut Meter) -> Result<()> {
    let mut map = meter.ready(|_| Ok((dense(n)?, n.into())))?;
    for at in 0..MEASURED {
        let first = (u64::from(n) / 2 + at % 8 * 3 + 1) % u64::from(n - 2) * 4 + 4;
        let value = if merges { u32::MAX } else { u32::MAX - at as u32 };
        if merges {
            for neighbour in [first - 4, first + 4] {
                map.store(neighbour..neighbour + 4, value)?;
            }
        }
        let stored = meter.measure(|_| map.store_merging(first..first + 4, value))?;
        let right = if merges { first - 4..first + 8 } else { first..first + 4 };
        ensure!(stored == Span::try_from(right.clone())?, "stored as {stored}, not as {right:?}");
        for back in right.step_by(4) {
            map.store(back..back + 4, (back / 4) as u32)?;
        }
    }
    Ok(map.validate()?)
}

/// The middle of an entry is changed, which makes three of it.
fn update_one(n: u32, meter: &mut Meter) -> Result<()> {
    let mut map = meter.ready(|_| Ok((dense(n)?, n.into())))?;
    for at in 0..MEASURED {
        let first = (u64::from(n) / 2 + at % 8 * 2) % u64::from(n) * 4;
        let before = map.len();
        meter.measure(|_| map.update_slots(first + 1..first + 3, |_, _| Some(u32::MAX)))?;
        ensure!(map.len() == before + 2, "{} entries, not {}", map.len(), before + 2);
        map.store(first..first + 4, (first / 4) as u32)?;
    }
    Ok(map.validate()?)
}

/// Two stores of a transaction, which is dropped, and again, which is committed.
fn transaction(n: u32, meter: &mut Meter) -> Result<()> {
    let mut map = meter.ready(|_| Ok((dense(n)?, n.into())))?;
    for at in 0..MEASURED {
        let first = (u64::from(n) / 2 + at % 8 * 2) % u64::from(n - 1) * 4;
        for commits in [false, true] {
            meter.measure(|_| {
                let mut transaction = map.transaction();
                transaction.store(first + 1..first + 3, 1)?;
                transaction.store(first..first + 6, 2)?;
                if commits {
                    transaction.commit();
                }
                anyhow::Ok(())
            })?;
            let found = map.get(first).copied();
            let right = if commits { 2 } else { (first / 4) as u32 };
            ensure!(found == Some(right), "{found:?}, not {right}");
        }
        for back in [first, first + 4] {
            map.store(back..back + 4, (back / 4) as u32)?;
        }
    }
    Ok(map.validate()?)
}

/// A set of every other index, to which one between two is added, and removed.
fn set(n: u32, meter: &mut Meter) -> Result<()> {
    let mut set = meter.ready(|_| {
        let mut set = RangeSet::new();
        for at in 0..u64::from(n) {
            set.insert(2 * at..=2 * at)?;
        }
        Ok((set, n.into()))
    })?;
    for at in 0..MEASURED {
        let index = (u64::from(n) / 2 + at % 8 * 3) % u64::from(n - 1) * 2 + 1;
        let joined = meter.measure(|_| set.insert(index..=index))?;
        ensure!(joined.last() - joined.first() == 2, "{joined} does not join its neighbours");
        meter.measure(|_| set.remove(index..=index))?;
        ensure!(set.len() == u64::from(n), "{} ranges, not {n}", set.len());
    }
    Ok(set.validate()?)
}

/// One store over everything, once.
fn store_over_all(n: u32, meter: &mut Meter) -> Result<()> {
    let mut map = meter.ready(|_| Gaps::new(11, 16).map(n))?;
    meter.measure(|_| map.store(.., 1))?;
    Ok(map.validate()?)
}

fn shared(n: u32) -> Result<(MapleTree<u32>, u64)> {
    let map = MapleTree::new();
    for at in 0..u64::from(n) {
        map.store(at * 4..=at * 4 + 3, at as u32)?;
    }
    Ok((map, u64::from(n)))
}

/// As `borders`, in the map that threads share.
fn shared_borders(n: u32, meter: &mut Meter) -> Result<()> {
    let map = meter.ready(|_| shared(n))?;
    for at in 0..MEASURED {
        let first = (u64::from(n) / 2 + at % 8 * 2) * 4;
        meter.measure(|_| map.erase(first))?.context("nothing to erase")?;
        meter.measure(|_| map.store(first..=first + 3, 1))?;
    }
    Ok(map.validate()?)
}

fn shared_look_up(n: u32, meter: &mut Meter) -> Result<()> {
    let map = meter.ready(|_| shared(n))?;
    for at in 0..MEASURED {
        let index = u64::from(n) * 4 * at / MEASURED;
        let span = meter.measure(|_| map.read().entry_at(index).map(|(span, _)| span));
        right(span.map(|span| span.first()), index / 4 * 4)?;
    }
    Ok(map.validate()?)
}
