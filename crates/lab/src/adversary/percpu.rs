//! Sequences against sets of chunks, with the default placement; n is the number of pages.

use super::growth::Bound;
use super::meter::Meter;
use super::sequence::{Run, Sequence};
use crate::workload::SplitMix;
use anyhow::{Result, ensure};
use freehold::percpu::{ChunkSet, Config, Offset, PAGE_BYTES, Request};
use freehold::units::Tally;

/// All sequences.
pub(super) const SEQUENCES: &[Sequence] = &[
    of("misaligned-hole", "alloc", misaligned_hole),
    of("misaligned-kept", "alloc", misaligned_kept),
    of("no-memory", "alloc", no_memory),
    of("chunk-lists", "alloc", chunk_lists),
    // The table of bounds has a level for each factor of 16.
    of("chunk-lists", "alloc", chunk_lists).in_instructions().mean(Bound::Log).single(Bound::Log, Bound::Log),
    of("short-runs", "alloc", short_runs),
    of("equal-holes", "alloc", equal_holes),
    // A churn has a bound for the mean alone: a free pays for at most eleven visits of its chunk, of 64 pages each. The mean
    // approaches that from far below: it still grows at 10^6 pages, ever more slowly.
    of("churn-24-kinds", "alloc, free", |n, meter| churn(n, 3, meter))
        .mean(Bound::Log)
        .single(Bound::Linear, Bound::Linear),
    of("churn-2048-kinds", "alloc, free", |n, meter| churn(n, 256, meter))
        .mean(Bound::Linear)
        .single(Bound::Linear, Bound::Linear),
];

/// A constant number of pages and chunks, amortized.
const fn of(name: &'static str, op: &'static str, run: Run) -> Sequence {
    Sequence::amortized(name, op, run).mean(Bound::Constant).single(Bound::Linear, Bound::Constant)
}

/// Bytes of a unit: 64 pages a chunk.
const UNIT_BYTES: u32 = 64 * PAGE_BYTES;
const MEASURED: u64 = 24;

type Set = ChunkSet;

fn set() -> Result<Set> {
    Ok(ChunkSet::new(Config::new(UNIT_BYTES, 2))?)
}

fn alloc(set: &mut Set, request: &Request, tally: &mut Tally) -> Result<Offset> {
    Ok(set.alloc_probed(request, tally)?)
}

fn free(set: &mut Set, offset: Offset, tally: &mut Tally) -> Result<()> {
    Ok(set.free_probed(offset, tally).map(drop)?)
}

/// Full pages of objects of these sizes each, of which the one at `hole` is then freed.
fn holes(n: u32, sizes: &[u64], hole: usize, tally: &mut Tally) -> Result<(Set, u64)> {
    let mut set = set()?;
    let mut freed = Vec::new();
    for page in 0..n {
        for (at, &size) in sizes.iter().enumerate() {
            let offset = alloc(&mut set, &Request::new(size), tally)?;
            if at == hole {
                freed.push(offset);
            }
        }
        let pages = set.populated_pages();
        ensure!(pages == u64::from(page) + 1, "{pages} pages, but {} are full", page + 1);
    }
    for &offset in &freed {
        free(&mut set, offset, tally)?;
    }
    Ok((set, u64::from(n) * (sizes.len() as u64 + 1)))
}

/// Each page has one free run of 512 bytes, 32 bytes off.
const MISALIGNED: [u64; 3] = [32, 512, 3552];

fn misaligned_hole(n: u32, meter: &mut Meter) -> Result<()> {
    let mut set = meter.ready(|tally| holes(n, &MISALIGNED, 1, tally))?;
    let request = Request::new(512).align(64);
    for _ in 0..MEASURED {
        let offset = meter.measure(|tally| alloc(&mut set, &request, tally))?;
        meter.measure(|tally| free(&mut set, offset, tally))?;
    }
    Ok(set.validate()?)
}

/// What is allocated stays.
fn misaligned_kept(n: u32, meter: &mut Meter) -> Result<()> {
    let set = meter.ready(|tally| holes(n, &MISALIGNED, 1, tally))?;
    kept(set, 4 * MEASURED, |at| Request::new(512 - 4 * (at % 3)).align(64), meter)
}

/// So many requests, each of which is granted.
fn kept(mut set: Set, requests: u64, request: fn(u64) -> Request, meter: &mut Meter) -> Result<()> {
    for at in 0..requests {
        meter.measure(|tally| alloc(&mut set, &request(at), tally))?;
    }
    Ok(set.validate()?)
}

/// Objects of a page each, of which those that do not stay are then freed.
fn pages(count: u64, stays: fn(u64) -> bool, tally: &mut Tally) -> Result<(Set, u64)> {
    let mut set = set()?;
    let mut freed = Vec::new();
    for at in 0..count {
        let offset = alloc(&mut set, &Request::new(PAGE_BYTES.into()), tally)?;
        if !stays(at) {
            freed.push(offset);
        }
    }
    freed.iter().try_for_each(|&offset| free(&mut set, offset, tally))?;
    Ok((set, count + freed.len() as u64))
}

/// Chunks whose pages have no memory but for one in four, which is full.
fn no_memory(n: u32, meter: &mut Meter) -> Result<()> {
    let set = meter.ready(|tally| {
        // Whole chunks are made one page after the other: the first of four stays.
        let (mut set, ops) = pages(u64::from(n).next_multiple_of(4), |at| at % 4 == 0, tally)?;
        set.trim();
        Ok((set, ops))
    })?;
    kept(set, MEASURED, |_| Request::new(2 * u64::from(PAGE_BYTES)), meter)
}

/// Every chunk's longest run is 400 bytes; requests are for 464, which share a list with it in steps of 32 bits.
fn chunk_lists(n: u32, meter: &mut Meter) -> Result<()> {
    let mut set = meter.ready(|tally| holes(n, &[400, 3696], 0, tally))?;
    for _ in 0..4 * MEASURED {
        meter.measure(|tally| alloc(&mut set, &Request::new(464), tally))?;
    }
    Ok(set.validate()?)
}

/// Every second page is empty and has memory; requests need two.
fn short_runs(n: u32, meter: &mut Meter) -> Result<()> {
    let set = meter.ready(|tally| pages(n.into(), |at| at % 2 == 0, tally))?;
    kept(set, MEASURED, |_| Request::new(2 * u64::from(PAGE_BYTES)), meter)
}

/// Every page has a hole of 64 bytes; requests are for 68.
fn equal_holes(n: u32, meter: &mut Meter) -> Result<()> {
    let mut set = meter.ready(|tally| holes(n, &[32, 64, 4000], 1, tally))?;
    for _ in 0..MEASURED {
        let offset = meter.measure(|tally| alloc(&mut set, &Request::new(68), tally))?;
        meter.measure(|tally| free(&mut set, offset, tally))?;
    }
    Ok(set.validate()?)
}

/// So many random sizes of up to 1,024 bytes, of eight alignments; 8 n objects are live.
fn churn(n: u32, sizes: u64, meter: &mut Meter) -> Result<()> {
    let mut random = SplitMix::new(u64::from(n));
    let mut live = Vec::new();
    let request = |random: &mut SplitMix| {
        Request::new(1024 / sizes / 4 * 4 * (1 + random.uniform(sizes))).align(4 << random.uniform(8))
    };
    let mut set = meter.ready(|tally| {
        let mut set = set()?;
        for _ in 0..8 * n {
            live.push(alloc(&mut set, &request(&mut random), tally)?);
        }
        for _ in 0..8 * n {
            let at = random.uniform(live.len() as u64) as usize;
            free(&mut set, live.swap_remove(at), tally)?;
            live.push(alloc(&mut set, &request(&mut random), tally)?);
        }
        Ok((set, 24 * u64::from(n)))
    })?;
    for _ in 0..8 * MEASURED {
        let at = random.uniform(live.len() as u64) as usize;
        let gone = live.swap_remove(at);
        meter.measure(|tally| free(&mut set, gone, tally))?;
        let request = request(&mut random);
        live.push(meter.measure(|tally| alloc(&mut set, &request, tally))?);
    }
    Ok(set.validate()?)
}
