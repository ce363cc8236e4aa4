//! The records of slabs and extents, by number, in [chunks]. Records never move and are never freed, so any number in
//! use can be dereferenced at any time.

use super::slab::Slab;
use crate::OutOfMemory;
use freehold_units::chunks;
use std::boxed::Box;
use std::sync::OnceLock;
use std::vec::Vec;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Records {
    chunks: [OnceLock<Box<[Slab]>>; chunks::NAMED],
}

impl Records {
    pub(super) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; chunks::NAMED] }
    }

    /// Allocates the chunk of a record, if it does not exist yet.
    pub(super) fn reserve(&self, id: u32) -> Result<(), OutOfMemory> {
        let (chunk, _) = chunks::place(id);
        let place = &self.chunks[chunk];
        if place.get().is_none() {
            let count = chunks::len(chunk);
            let mut records = Vec::new();
            records.try_reserve_exact(count)?;
            records.resize_with(count, Slab::unused);
            // The caller holds the core's lock, so no other thread makes a chunk.
            place.set(records.into_boxed_slice()).expect("S1: a chunk is made once");
        }
        Ok(())
    }

    /// The record of a reserved number.
    #[inline]
    pub(super) fn at(&self, id: u32) -> &Slab {
        self.get(id).expect("S1: a number is that of a record")
    }

    /// The record of any number; `None` if the number is not reserved.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&Slab> {
        let (chunk, position) = chunks::place(id);
        self.chunks[chunk].get()?.get(position)
    }

    /// All reserved records, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Slab)> {
        self.from(0)
    }

    /// The reserved records from the number `first` on.
    pub(super) fn from(&self, first: u32) -> impl Iterator<Item = (u32, &Slab)> {
        let numbers = (chunks::made(first)..).map_while(chunks::nth);
        numbers.map_while(|number| Some((number, self.get(number)?)))
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
    fn records_are_found_again() {
        let records = Records::new();
        for count in [0, 64, 200] {
            records.reserve(chunks::nth(count).unwrap()).unwrap();
        }
        let addresses: Vec<*const Slab> = records.all().map(|(_, slab)| std::ptr::from_ref(slab)).collect();
        assert_eq!(addresses.len(), 64 + 128 + 256);
        for (count, &address) in (0..).zip(&addresses) {
            assert!(std::ptr::eq(records.at(chunks::nth(count).unwrap()), address));
        }
    }
}
