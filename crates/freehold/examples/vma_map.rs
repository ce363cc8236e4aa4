//! This process's own mappings, in a map that threads query while others map and unmap: whether an address may be written, what a
//! fault is in, where there is room, as a debugger, a profiler or a collector asks.
//!
//! `cargo run --release -p freehold --features std --example vma_map`

use freehold::maple::MapleTree;
use freehold::maple::maple_tree::WriteError;
use freehold::prelude::*;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Pages.
const PAGE: u64 = 4096;
/// Threads that map and unmap, each in its own part of a place that nobody has.
const MAPPERS: u64 = 2;
/// Mappings that each makes and removes.
const MAPPINGS: u64 = 1000;
/// Bytes of a mapper's part.
const PART: u64 = 1 << 30;

type Failure = Box<dyn Error + Send + Sync>;

/// A mapping, as `/proc/self/maps` has it.
#[derive(Debug, PartialEq)]
struct Mapping {
    is_writable: bool,
    /// A file, `[heap]`, `[stack]`, or nothing.
    name: String,
}

/// The address space of the process: entries are mappings, gaps are free.
struct Mappings(MapleTree<Arc<Mapping>>);

impl Mappings {
    /// Reads what the kernel says of this process.
    fn of_this_process() -> Result<Self, Failure> {
        let mappings = Self(MapleTree::new());
        for line in std::fs::read_to_string("/proc/self/maps")?.lines() {
            let (span, mapping) = parse(line).ok_or_else(|| format!("no mapping: {line}"))?;
            mappings.map(span, mapping)?;
        }
        Ok(mappings)
    }

    /// What `mmap` without `MAP_FIXED` does: takes a place that is free.
    fn map(&self, span: Span, mapping: Mapping) -> Result<(), Failure> {
        let mapping = Arc::new(mapping);
        loop {
            match self.0.insert(span, Arc::clone(&mapping)) {
                // Readers hold back too much of what was replaced.
                Err(refused) if matches!(refused.cause, WriteError::Readers { .. }) => {
                    std::thread::yield_now()
                }
                Err(refused) => return Err(refused.cause.to_string().into()),
                Ok(()) => return Ok(()),
            }
        }
    }

    /// What `munmap` does: empties a span, and cuts what reaches beyond it.
    fn unmap(&self, span: Span) -> Result<(), Failure> {
        loop {
            match self.0.remove_range(span) {
                Err(WriteError::Readers { .. }) => std::thread::yield_now(),
                done => return Ok(done.map_err(|error| error.to_string())?),
            }
        }
    }

    /// Whether all of a span is mapped and may be written. Who changes it meanwhile makes that answer old, as anywhere.
    fn is_writable(&self, span: Span) -> bool {
        let reading = self.0.read();
        let mut next = Some(span.first());
        for (mapped, mapping) in reading.range(span) {
            if !mapping.is_writable || next.is_none_or(|next| !mapped.contains(next)) {
                return false;
            }
            next = mapped.last().checked_add(1);
        }
        next.is_none_or(|next| next > span.last())
    }

    /// The lowest gap of that size at or above an address.
    fn room(&self, size_bytes: u64, from: u64) -> Option<Span> {
        let above = Span::new(from, u64::MAX)?;
        let reading = self.0.read();
        let mut gaps = reading.gaps(above).filter_map(|gap| gap.intersection(above));
        gaps.find(|gap| gap.size_bytes() >= u128::from(size_bytes))
    }
}

/// A line of `/proc/self/maps`: `7f0c1c000000-7f0c1c021000 rw-p 00000000 00:00 0   [heap]`.
fn parse(line: &str) -> Option<(Span, Mapping)> {
    let mut fields = line.split_whitespace();
    let (first, end) = fields.next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    let span = Span::new(address(first)?, address(end)?.checked_sub(1)?)?;
    let is_writable = fields.next()?.as_bytes().get(1) == Some(&b'w');
    Some((span, Mapping { is_writable, name: fields.nth(3).unwrap_or_default().to_owned() }))
}

/// Maps and unmaps in its own part, each mapping cut in the middle before it goes.
fn mapper(mappings: &Mappings, part: Span) -> Result<(), Failure> {
    for number in 0..MAPPINGS {
        let first = part.first() + (number % 64) * 16 * PAGE;
        let span = Span::from_size(first, 8 * PAGE).ok_or("no span")?;
        mappings.map(span, Mapping { is_writable: true, name: format!("mapping {number}") })?;
        let middle = Span::from_size(first + 2 * PAGE, PAGE).ok_or("no span")?;
        mappings.unmap(middle)?;
        if mappings.is_writable(span)
            || !mappings.is_writable(Span::from_size(first, 2 * PAGE).ok_or("no span")?)
        {
            return Err(format!("{span} is not as it was left").into());
        }
        mappings.unmap(span)?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mappings = Mappings::of_this_process()?;
    let before = mappings.0.len();
    println!("{before} mappings");

    // What the compiler and the kernel have laid out is found by its address.
    let (constant, variable) = (&raw const PAGE_OF_CONSTANTS as usize as u64, Box::new(7_u64));
    let variable = &raw const *variable as usize as u64;
    let reading = mappings.0.read();
    for (what, address) in [("a constant", constant), ("a box", variable)] {
        let (span, mapping) = reading.entry_at(address).ok_or("an address of ours is nowhere")?;
        println!("{what} at {address:#x} is in {span}, {mapping:?}");
    }
    drop(reading);
    assert!(mappings.is_writable(Span::from_size(variable, 8).ok_or("no span")?));
    assert!(!mappings.is_writable(Span::from_size(constant, 8).ok_or("no span")?));

    let place = mappings.room(MAPPERS * PART, 1 << 32).ok_or("no room")?;
    let (done, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (mappings, done, asked) = (&mappings, &done, &asked);
        let query = move || -> Result<(), Failure> {
            while !done.load(Ordering::Acquire) {
                // Whatever happens elsewhere, what nobody unmaps stays.
                let word = Span::from_size(variable, 8).ok_or("no span")?;
                if !mappings.is_writable(word) || mappings.is_writable(place) {
                    return Err("a mapping that stays is lost, or one was never made".into());
                }
                asked.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        let queries = [scope.spawn(query), scope.spawn(query)];
        let parts = (0..MAPPERS).map(|part| Span::from_size(place.first() + part * PART, PART));
        let mappers: Vec<_> =
            parts.flatten().map(|part| scope.spawn(move || mapper(mappings, part))).collect();
        let mut joined = mappers.into_iter().map(|mapper| mapper.join());
        let mapped: Result<(), Failure> =
            joined.try_for_each(|mapped| mapped.map_err(|_| Failure::from("a mapper panicked"))?);
        done.store(true, Ordering::Release);
        for query in queries {
            query.join().map_err(|_| Failure::from("a query panicked"))??;
        }
        mapped
    })?;
    let asked = asked.into_inner();
    println!("{} mappings came and went; {asked} questions were asked meanwhile", MAPPERS * MAPPINGS);
    assert_eq!(mappings.0.len(), before);
    Ok(())
}

/// What may not be written.
static PAGE_OF_CONSTANTS: [u64; 4] = [1, 2, 3, 4];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs() -> Result<(), Failure> {
        main()
    }

    #[test]
    fn lines_are_read() {
        let (span, mapping) = parse("7f0c1c000000-7f0c1c021000 rw-p 00000000 00:00 0   [heap]").unwrap();
        assert_eq!((span.first(), span.last()), (0x7f0c_1c00_0000, 0x7f0c_1c02_0fff));
        assert_eq!(mapping, Mapping { is_writable: true, name: "[heap]".to_owned() });
        assert!(!parse("10000-20000 r-xp 00000000 00:00 0").unwrap().1.is_writable);
        assert_eq!(parse("20000-20000 r-xp 00000000 00:00 0"), None);
    }
}
