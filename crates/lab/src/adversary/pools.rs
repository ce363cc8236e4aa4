//! Sequences against the address space that threads share, by one thread: instructions are counted.

use super::growth::Bound;
use super::meter::Meter;
use super::sequence::{Run, Sequence};
use anyhow::{Context, Result, ensure};
use freehold::kva::{PooledSpace, Request};
use freehold::units::{Align, Span};

/// All sequences.
pub(super) const SEQUENCES: &[Sequence] = &[
    of("live-slots", "alloc, free", |n, meter| slots(n, 1, meter)),
    of("half-free", "other size", half_free),
    of("mass-frees", "alloc, free", |n, meter| slots(n, 2, meter)),
    of("aligned-extents", "alloc, free", aligned_extents),
    of("freed-twice", "refusal", freed_twice),
    of("look-up", "locate", look_up),
    // Documented as a look at every record.
    of("full", "refusal", full).single(Bound::Linear, Bound::Linear),
    of("nothing-warm", "take_resident", nothing_warm).single(Bound::Linear, Bound::Linear),
];

const fn of(name: &'static str, op: &'static str, run: Run) -> Sequence {
    Sequence::amortized(name, op, run).in_instructions().single(Bound::Linear, Bound::Log)
}

/// As many as several slabs have slots, so that some of them need another slab.
const MEASURED: usize = 96;
const PAGE: u64 = 4096;

fn space(pages: u64) -> Result<PooledSpace> {
    let span =
        Span::from_size(1 << 32, pages.next_multiple_of(16) * PAGE).context("the space is too long")?;
    Ok(PooledSpace::new(span, Align::PAGE)?)
}

fn take(space: &PooledSpace, pages: u64) -> Result<u64> {
    Ok(space.alloc(pages * PAGE)?.first())
}

fn free(space: &PooledSpace, first: u64) -> Result<()> {
    Ok(space.free(first).map(drop)?)
}

/// A space with n blocks of a page, of which those whose number `goes` are freed.
fn filled(n: u32, goes: impl Fn(usize) -> bool) -> Result<(PooledSpace, Vec<u64>, u64)> {
    let space = space(1 << 28)?;
    let blocks = (0..n).map(|_| take(&space, 1)).collect::<Result<Vec<_>, _>>()?;
    let mut ops = u64::from(n);
    let mut live = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.into_iter().enumerate() {
        if goes(at) {
            free(&space, block)?;
            ops += 1;
        } else {
            live.push(block);
        }
    }
    Ok((space, live, ops))
}

/// All blocks are live, or all are freed; then blocks of that size come and go.
fn slots(n: u32, goes_from: usize, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| filled(n, |_| goes_from > 1).map(|(space, _, ops)| (space, ops)))?;
    let mut taken = Vec::new();
    for _ in 0..MEASURED {
        taken.push(meter.measure(|_| take(&space, 1))?);
    }
    for block in taken {
        meter.measure(|_| free(&space, block))?;
    }
    Ok(space.validate()?)
}

/// Half of each slab is free; then blocks of another size.
fn half_free(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| filled(n, |at| at % 2 == 1).map(|(space, _, ops)| (space, ops)))?;
    for _ in 0..MEASURED {
        meter.measure(|_| take(&space, 5))?;
    }
    Ok(space.validate()?)
}

/// Extents of 20 pages with gaps between, which have no place at the alignment that is asked for.
fn aligned_extents(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| {
        let space = space(1 << 30)?;
        let extents = (0..2 * n).map(|_| take(&space, 272)).collect::<Result<Vec<_>, _>>()?;
        extents.iter().step_by(2).try_for_each(|&first| free(&space, first))?;
        Ok((space, 3 * u64::from(n)))
    })?;
    let align = Align::new(PAGE << 9).context("no alignment")?;
    for _ in 0..MEASURED {
        let request = Request::new(272 * PAGE).align(align);
        let found = meter.measure(|_| space.alloc_request(&request))?;
        meter.measure(|_| free(&space, found.first()))?;
    }
    Ok(space.validate()?)
}

fn freed_twice(n: u32, meter: &mut Meter) -> Result<()> {
    let (space, gone) = meter.ready(|_| {
        let (space, live, ops) = filled(n, |_| false)?;
        let gone = *live.get(n as usize / 2).context("nothing is live")?;
        free(&space, gone)?;
        Ok(((space, gone), ops + 1))
    })?;
    for _ in 0..MEASURED {
        ensure!(meter.measure(|_| space.free(gone)).is_err(), "freed twice");
    }
    Ok(space.validate()?)
}

fn look_up(n: u32, meter: &mut Meter) -> Result<()> {
    let (space, live) =
        meter.ready(|_| filled(n, |_| false).map(|(space, live, ops)| ((space, live), ops)))?;
    for at in 0..MEASURED {
        let block = *live.get(at * live.len() / MEASURED).context("nothing is live")?;
        ensure!(
            meter.measure(|_| space.locate(block + 5)).is_some_and(|span| span.first() == block),
            "{block:#x} is not found"
        );
    }
    Ok(space.validate()?)
}

/// Every page is taken.
fn full(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| {
        let pages = u64::from(n).next_multiple_of(32);
        let space = space(pages)?;
        (0..pages).try_for_each(|_| take(&space, 1).map(drop))?;
        Ok((space, pages))
    })?;
    for _ in 0..8 {
        ensure!(meter.measure(|_| space.alloc(PAGE)).is_err(), "there is no room");
    }
    Ok(space.validate()?)
}

/// All is live, so nothing is warm.
fn nothing_warm(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|_| {
        let span = Span::from_size(1 << 32, PAGE << 28).context("the space is too long")?;
        let space = PooledSpace::for_memory(span, Align::PAGE)?;
        (0..n).try_for_each(|_| take(&space, 1).map(drop))?;
        Ok((space, n.into()))
    })?;
    for _ in 0..8 {
        let batch = meter.measure(|_| space.take_resident(PAGE))?;
        ensure!(batch.is_empty(), "nothing was freed");
        space.give_back(batch);
    }
    Ok(space.validate()?)
}
