//! Sequences against parts of regions, held places and shared spaces: instructions are counted, since no probe can be passed.
//!
//! All begin with n regions without gaps, of four granules or more:
//!
//! ```text
//!   |#0##|#1##|#2##|....|#n-1|....room....|
//! ```

use super::kva::{MEASURED, align, empty, packed};
use super::meter::Meter;
use anyhow::{Context, Result, ensure};
use freehold::kva::{AddressSpace, FreeRangeError, Placement, Request, SharedSpace};
use freehold::units::{Align, Span, Tally};
use std::sync::Arc;

/// Granules of a region that is cut in each turn.
const LONG: u64 = 64;

/// Where the region is that suffers in a turn: in the middle, at another place of its leaf each time.
fn middle(n: u32, turn: u64) -> u64 {
    (u64::from(n) / 2 + turn * 2) % u64::from(n) * 4
}

/// Regions of `LONG` granules, enough that one can be cut in each turn.
fn long(n: u32, tally: &mut Tally) -> Result<AddressSpace<u32>> {
    let mut space = empty(LONG * u64::from(n), Placement::Lowest)?;
    for _ in 0..n {
        space.alloc_probed(&Request::new(LONG), 0, tally)?;
    }
    Ok(space)
}

/// One region is cut into ever more, of which two are merged in each turn: its leaf is split again and again.
pub(super) fn cut_and_merge(n: u32, meter: &mut Meter) -> Result<()> {
    let mut space = meter.ready(|tally| Ok((long(n, tally)?, n.into())))?;
    let mut first = u64::from(n) / 2 * LONG;
    for _ in 0..MEASURED {
        let (head, rest) = meter.measure(|_| space.split_at(first + 1))?;
        ensure!((head.first(), rest.first()) == (first, first + 1), "cut into {head} and {rest}");
        let (one, rest) = meter.measure(|_| space.split_at(rest.first() + 1))?;
        let (merged, _) = meter.measure(|_| space.merge(head.first()))?;
        ensure!(merged == head.hull(one), "merged to {merged}");
        first = rest.first();
    }
    Ok(space.validate()?)
}

/// Holes are punched into one region, which becomes one more by each.
pub(super) fn free_within_one(n: u32, meter: &mut Meter) -> Result<()> {
    let mut space = meter.ready(|tally| Ok((long(n, tally)?, n.into())))?;
    let first = u64::from(n) / 2 * LONG;
    for turn in 0..MEASURED {
        let hole = first + 2 * turn + 1;
        let freed = meter.measure(|_| space.free_range(hole..=hole))?;
        let granules: u128 = freed.map(|(span, _)| span.size_bytes()).sum();
        ensure!(granules == 1, "{granules} granules were freed, not 1");
    }
    Ok(space.validate()?)
}

/// Regions enough for several leaves are freed, and half of one at either end.
pub(super) fn free_over_several(n: u32, meter: &mut Meter) -> Result<()> {
    let several = u64::from(n.min(64));
    let mut space = meter.ready(|tally| Ok((packed(n, 64, tally)?, n.into())))?;
    for turn in 0..MEASURED {
        let first = middle(n, turn).min(4 * (u64::from(n) - several));
        let (begin, end) = (first + 2, first + 4 * several - 2);
        let freed = meter.measure(|_| space.free_range(begin..end))?;
        ensure!(freed.count() as u64 == several, "not {several} regions were freed");
        space.alloc_at(Span::new(begin, first + 3).context("no span")?, 0)?;
        for at in 1..several {
            let last = if at == several - 1 { end - 1 } else { first + 4 * at + 3 };
            space.alloc_at(Span::new(first + 4 * at, last).context("no span")?, 0)?;
        }
        space.merge(first).and_then(|_| space.merge(first + 4 * (several - 1)))?;
    }
    Ok(space.validate()?)
}

/// One free of everything.
pub(super) fn free_all(n: u32, meter: &mut Meter) -> Result<()> {
    let mut space = meter.ready(|tally| Ok((packed(n, 64, tally)?, n.into())))?;
    let freed = meter.measure(|_| space.free_range(..4 * u64::from(n)))?;
    ensure!(freed.count() as u32 == n && space.is_empty(), "regions are left");
    Ok(space.validate()?)
}

/// A free of everything is refused, since the last region moves: nothing is walked.
pub(super) fn free_all_refused(n: u32, meter: &mut Meter) -> Result<()> {
    let end = 4 * u64::from(n);
    let mut space = meter.ready(|tally| Ok((packed(n, 64, tally)?, n.into())))?;
    let pending = space.begin_move(end - 4, end + 8)?;
    for _ in 0..MEASURED {
        let refused = meter.measure(|_| space.free_range(..end)).err();
        ensure!(matches!(refused, Some(FreeRangeError::Moving { .. })), "{refused:?}");
    }
    space.cancel_move(pending)?;
    Ok(space.validate()?)
}

/// A place is held and given up, and held and taken, behind regions that have a hole at the wrong alignment each.
pub(super) fn hold(n: u32, meter: &mut Meter) -> Result<()> {
    let end = 4 * u64::from(n);
    let mut space = meter.ready(|tally| {
        let mut space = packed(n, 64, tally)?;
        for at in 0..u64::from(n) {
            space.free_range(4 * at + 1..4 * at + 3)?;
        }
        Ok((space, 2 * u64::from(n)))
    })?;
    let request = Request::new(2).align(align(2)?);
    for _ in 0..MEASURED {
        let held = meter.measure(|_| space.reserve(&request).map(|pending| pending.span()))?;
        ensure!(held.first() == end, "{held} is held, not {end:#x}");
        let taken = meter.measure(|_| space.reserve(&request).map(|pending| pending.commit(0)))?;
        space.free(taken.first())?;
    }
    Ok(space.validate()?)
}

/// A fixed place with a guard, before a region whose end it would touch, and one granule further.
pub(super) fn guarded(n: u32, meter: &mut Meter) -> Result<()> {
    let mut space = meter.ready(|tally| Ok((packed(n, 64, tally)?, n.into())))?;
    for turn in 0..MEASURED {
        let first = middle(n, turn);
        space.free(first)?;
        let span = |granules| Span::from_size(first, granules).context("no span");
        let (touching, apart) = (span(4)?, span(3)?);
        let refused = meter.measure(|_| space.alloc_at_guarded(touching, 1, 0)).is_err();
        ensure!(refused, "the guard of {touching} has no room");
        meter.measure(|_| space.alloc_at_guarded(apart, 1, 0))?;
        space.free(first)?;
        space.alloc_at(touching, 0)?;
    }
    Ok(space.validate()?)
}

/// A shared space with n regions, whose readers may hold back any number of values.
fn shared(n: u32) -> Result<(SharedSpace<u32>, u64)> {
    let span = Span::from_size(0, 4 * u64::from(n) + 64).context("the space is too long")?;
    let mut core = AddressSpace::new(span, Align::ONE, Placement::Lowest)?;
    for at in 0..u64::from(n) {
        core.alloc(&Request::new(4), Arc::new(at as u32))?;
    }
    let readers = SharedSpace::readers().backlog_limit(usize::MAX);
    let space = SharedSpace::share(core, readers)?;
    // What making it left.
    space.reclaim()?;
    Ok((space, n.into()))
}

/// Regions of a shared space are freed and come back.
pub(super) fn shared_free(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| shared(n))?;
    shared_frees(n, &space, meter)?;
    ensure!(space.reclaim()? == 0, "what was freed waits, and nobody reads");
    Ok(space.validate()?)
}

/// The same behind a reader that stays, with half of all regions freed before.
pub(super) fn shared_free_read(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| shared(n))?;
    let reading = space.read();
    for at in (1..u64::from(n)).step_by(2) {
        space.free(4 * at)?;
    }
    shared_frees(n, &space, meter)?;
    drop(reading);
    ensure!(space.reclaim()? == 0, "what was freed waits, and nobody reads");
    Ok(space.validate()?)
}

/// The regions with even numbers stay; one of them is freed and taken again in each turn.
fn shared_frees(n: u32, space: &SharedSpace<u32>, meter: &mut Meter) -> Result<()> {
    for turn in 0..MEASURED {
        let first = middle(n, turn) / 8 * 8;
        let (span, value) = meter.measure(|_| space.free(first))?;
        ensure!((span.first(), *value) == (first, (first / 4) as u32), "{span} was freed");
        meter.measure(|_| space.alloc_at(span, value))?;
    }
    Ok(())
}
