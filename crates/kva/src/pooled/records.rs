//! The records of slabs and extents, by number. They never move and are never freed, so what has a number can always be
//! looked at.
//!
//! ```text
//!   chunk 0: records 0..64    chunk 1: 64..192    chunk 2: 192..448    ...   each twice as long as the one before
//! ```

use super::slab::Slab;
use crate::OutOfMemory;
use std::boxed::Box;
use std::sync::OnceLock;
use std::vec::Vec;

/// Records of the first chunk.
const FIRST: u64 = 64;
const CHUNKS: usize = 26;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Records {
    chunks: [OnceLock<Box<[Slab]>>; CHUNKS],
}

/// The chunk and the position in it.
#[inline]
fn place_of(id: u32) -> (usize, usize) {
    let from_one = u64::from(id) + FIRST;
    let chunk = from_one.ilog2() - FIRST.ilog2();
    (chunk as usize, (from_one - (FIRST << chunk)) as usize)
}

impl Records {
    pub(super) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// Makes the chunk of a record, if there is none.
    pub(super) fn reserve(&self, id: u32) -> Result<(), OutOfMemory> {
        let (chunk, _) = place_of(id);
        let Some(place) = self.chunks.get(chunk) else { return Err(OutOfMemory) };
        if place.get().is_none() {
            let count = (FIRST as usize) << chunk;
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
        let (chunk, position) = place_of(id);
        let chunk = self.chunks[chunk].get().expect("S1: a number is that of a record");
        &chunk[position]
    }

    /// The records that were reserved, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Slab)> {
        (0..).zip(self.chunks.iter().map_while(OnceLock::get).flat_map(|chunk| chunk.iter()))
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
        for id in 0..10_000 {
            assert_eq!(place_of(id), next);
            next.1 += 1;
            if next.1 == 64 << next.0 {
                next = (next.0 + 1, 0);
            }
        }
        // The last number of which there is a chunk.
        let last = u32::MAX - FIRST as u32;
        assert!(place_of(last).0 < CHUNKS && place_of(u32::MAX).0 >= CHUNKS);
    }

    #[test]
    fn records_are_found_again() {
        let records = Records::new();
        for id in [0, 64, 200] {
            records.reserve(id).unwrap();
        }
        let addresses: Vec<*const Slab> = records.all().map(|(_, slab)| std::ptr::from_ref(slab)).collect();
        assert_eq!(addresses.len(), 64 + 128 + 256);
        for (id, &address) in (0..).zip(&addresses) {
            assert!(std::ptr::eq(records.at(id), address));
        }
        assert!(records.reserve(u32::MAX).is_err());
    }
}
