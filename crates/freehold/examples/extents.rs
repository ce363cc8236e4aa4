//! A file's extents: which bytes of it lie where on the disk. Overwritten in part, a hole punched, two writes made final
//! together or not at all, a snapshot, neighbours joined, the end cut off.
//!
//! What is stored for a range is how far its place on the disk is from its place in the file. That stays true of every
//! part of the range, so an extent can be cut anywhere; and two extents that touch and are equally far are one.
//!
//! `cargo run -p freehold --example extents`

use freehold::maple::{OutOfMemory, Rejected};
use freehold::prelude::*;
use std::error::Error;

const KIB: u64 = 1 << 10;

struct File {
    /// Distances from file to disk, of bytes.
    extents: RangeMap<u64>,
}

fn bytes(first: u64, size: u64) -> Result<Span, &'static str> {
    Span::from_size(first, size).ok_or("no such bytes")
}

impl File {
    /// The file's bytes are on the disk from `disk` on from now on.
    fn map(&mut self, place: Span, disk: u64) -> Result<(), Rejected<u64, OutOfMemory>> {
        self.extents.store(place, disk.wrapping_sub(place.first()))
    }

    /// Where a byte of the file is.
    fn disk_of(&self, offset: u64) -> Option<u64> {
        self.extents.get(offset).map(|distance| offset.wrapping_add(distance))
    }

    /// The first byte at or behind an offset that is in a hole.
    fn seek_hole(&self, offset: u64) -> Option<u64> {
        self.extents.gaps(offset..).next().map(|hole| hole.first().max(offset))
    }

    /// The first at or behind an offset that is not.
    fn seek_data(&self, offset: u64) -> Option<u64> {
        self.extents.range(offset..).next().map(|(extent, _)| extent.first().max(offset))
    }

    fn print(&self, what: &str) {
        println!("{what}: {} extents", self.extents.len());
        for (extent, distance) in &self.extents {
            println!("  {extent} is at {:#x}", extent.first().wrapping_add(distance));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut file = File { extents: RangeMap::new() };
    file.map(bytes(0, 64 * KIB)?, 0x10_0000)?;
    file.map(bytes(64 * KIB, 64 * KIB)?, 0x11_0000)?;
    file.map(bytes(16 * KIB, 4 * KIB)?, 0x80_0000)?;
    file.print("written in part anew");
    assert_eq!(file.disk_of(16 * KIB + 5), Some(0x80_0005));
    assert_eq!(file.disk_of(20 * KIB), Some(0x10_0000 + 20 * KIB), "the old extent goes on behind");

    file.extents.remove_range(bytes(32 * KIB, 8 * KIB)?)?;
    assert_eq!((file.seek_hole(0), file.seek_data(33 * KIB)), (Some(32 * KIB), Some(40 * KIB)));

    // Either both are seen, or neither.
    let snapshot = file.extents.try_clone()?;
    let mut both = file.extents.transaction();
    both.store(bytes(0, 4 * KIB)?, 0x90_0000)?;
    both.store(bytes(124 * KIB, 4 * KIB)?, 0x90_0000)?;
    drop(both);
    assert!(file.extents == snapshot, "what is not committed is undone");

    // The rewritten blocks are moved back to where they were; what touches on disk is one extent again.
    file.map(bytes(16 * KIB, 4 * KIB)?, 0x10_0000 + 16 * KIB)?;
    let joined = file.extents.merge_adjacent();
    file.print("put in order");
    assert_eq!((joined, file.extents.len()), (3, 2));

    let cut_off = file.extents.split_at(100 * KIB)?;
    assert_eq!(cut_off.first().map(|(extent, _)| extent), Some(bytes(100 * KIB, 28 * KIB)?));
    assert_eq!(file.seek_hole(40 * KIB), Some(100 * KIB));
    file.print("truncated");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
