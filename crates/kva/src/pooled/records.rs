//! The records of slabs and extents, by number. They never move and are never freed, so what has a number can always be
//! looked at.
//!
//! ```text
//!   chunk 0: 64 records    chunk 1: 128 records    chunk 2: 256 records    ...
//! ```
//!
//! A number is that of the chunk, above 27 bits, and the position in it: so the way from a number to its record, which
//! each operation goes, is short: with numbers that are counted, a pair of operations takes 256 instructions, and 233 so.

use super::slab::Slab;
use crate::OutOfMemory;
use std::boxed::Box;
use std::sync::OnceLock;
use std::vec::Vec;

/// Records of the first chunk.
const FIRST: usize = 64;
/// Bits of a number that are the position.
const POSITION: u32 = 27;
/// The last has `1 << POSITION` records.
const CHUNKS: usize = 22;
/// Chunks that a number can name.
const NAMED: usize = 1 << (u32::BITS - POSITION);

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Records {
    chunks: [OnceLock<Box<[Slab]>>; NAMED],
}

/// The chunk and the position in it.
#[inline]
fn place_of(id: u32) -> (usize, usize) {
    ((id >> POSITION) as usize, (id & ((1 << POSITION) - 1)) as usize)
}

/// The number of the record that `count` others come before. None has it if there are no more.
pub(super) fn nth(count: usize) -> u32 {
    let chunk = (count / FIRST + 1).ilog2() as usize;
    let position = count - ((FIRST << chunk) - FIRST);
    if chunk < CHUNKS { (chunk as u32) << POSITION | position as u32 } else { u32::MAX }
}

impl Records {
    pub(super) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; NAMED] }
    }

    /// Makes the chunk of a record, if there is none.
    pub(super) fn reserve(&self, id: u32) -> Result<(), OutOfMemory> {
        let (chunk, _) = place_of(id);
        if chunk >= CHUNKS {
            return Err(OutOfMemory);
        }
        let place = &self.chunks[chunk];
        if place.get().is_none() {
            let count = FIRST << chunk;
            let mut records = Vec::new();
            records.try_reserve_exact(count)?;
            records.resize_with(count, Slab::unused);
            // The core's lock is held: nobody else makes one.
            place.set(records.into_boxed_slice()).expect("S1: a chunk is made once");
        }
        Ok(())
    }

    /// A record that was reserved.
    #[inline]
    pub(super) fn at(&self, id: u32) -> &Slab {
        self.get(id).expect("S1: a number is that of a record")
    }

    /// The record of any number, if it was reserved.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&Slab> {
        let (chunk, position) = place_of(id);
        self.chunks[chunk].get()?.get(position)
    }

    /// The records that were reserved, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Slab)> {
        (0..).map(nth).zip(self.chunks.iter().map_while(OnceLock::get).flat_map(|chunk| chunk.iter()))
    }

    pub(super) fn bytes(&self) -> usize {
        self.all().count() * size_of::<Slab>()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        let mut next = (0, 0);
        for count in 0..10_000 {
            assert_eq!(place_of(nth(count)), next);
            next.1 += 1;
            if next.1 == 64 << next.0 {
                next = (next.0 + 1, 0);
            }
        }
        let most = (FIRST << CHUNKS) - FIRST;
        assert_eq!(place_of(nth(most - 1)), (CHUNKS - 1, (1 << POSITION) - 1));
        assert!(Records::new().reserve(nth(most)).is_err());
    }

    #[test]
    fn records_are_found_again() {
        let records = Records::new();
        for count in [0, 64, 200] {
            records.reserve(nth(count)).unwrap();
        }
        let addresses: Vec<*const Slab> = records.all().map(|(_, slab)| std::ptr::from_ref(slab)).collect();
        assert_eq!(addresses.len(), 64 + 128 + 256);
        for (count, &address) in (0..).zip(&addresses) {
            assert!(std::ptr::eq(records.at(nth(count)), address));
        }
    }
}
