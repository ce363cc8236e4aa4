//! The values of a [`RangeMap`](crate::RangeMap), stored beside the tree. Each has a number, which is the word that the
//! tree holds.
//!
//! Vacant places form a free list, linked through the places themselves. Only [`reserve`](ValueArena::reserve) takes
//! memory, so a value with a reserved place is stored without failing.

use crate::OutOfMemory;
use alloc::vec::Vec;

/// The place of a value.
#[derive(Clone, Debug)]
pub(crate) enum Place<V> {
    /// In use.
    Value(V),
    /// Vacant: the next vacant place, or [`NO_PLACE`].
    Vacant(u32),
}

/// The end of the free list.
const NO_PLACE: u32 = u32::MAX;

/// Values by their numbers.
#[derive(Debug)]
pub(crate) struct ValueArena<V> {
    places: Vec<Place<V>>,
    /// Head of the free list.
    vacant: u32,
    /// How many vacant places there are.
    vacant_len: usize,
    /// Values whose numbers have left the tree: those that an open or forgotten transaction removed.
    forgotten: usize,
}

impl<V> ValueArena<V> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), vacant: NO_PLACE, vacant_len: 0, forgotten: 0 }
    }

    /// Values in use.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.vacant_len
    }

    /// Values whose numbers have left the tree.
    pub(crate) fn forgotten(&self) -> usize {
        self.forgotten
    }

    /// Records that the tree has so many numbers.
    pub(crate) fn set_forgotten(&mut self, numbers: u64) {
        self.forgotten = self.len() - numbers as usize;
    }

    /// Records that the tree has the numbers of all values but so many: a transaction ends.
    pub(crate) fn keep_forgotten(&mut self, forgotten: usize) {
        self.forgotten = forgotten;
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place<V>>()
    }

    /// Reserves places for `values` more values.
    #[inline]
    pub(crate) fn reserve(&mut self, values: usize) -> Result<(), OutOfMemory> {
        let most = self.places.capacity().min(NO_PLACE as usize);
        if most - self.len() >= values { Ok(()) } else { self.grow(values) }
    }

    #[cold]
    fn grow(&mut self, values: usize) -> Result<(), OutOfMemory> {
        let missing = values.saturating_sub(self.vacant_len);
        if missing > (NO_PLACE as usize).saturating_sub(self.places.len()) {
            return Err(OutOfMemory);
        }
        Ok(self.places.try_reserve(missing)?)
    }

    /// Puts a value in, for which there is room; returns its number.
    #[inline]
    pub(crate) fn put(&mut self, value: V) -> u32 {
        let number = self.vacant;
        if number == NO_PLACE {
            debug_assert!(self.places.len() < self.places.capacity(), "M8: room for a value is reserved");
            self.places.push(Place::Value(value));
            return (self.places.len() - 1) as u32;
        }
        let place = &mut self.places[number as usize];
        let Place::Vacant(next) = *place else {
            unreachable!("M8: a place in the list of vacant ones has no value")
        };
        *place = Place::Value(value);
        self.vacant = next;
        self.vacant_len -= 1;
        number
    }

    /// Takes a value out.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> V {
        let place = &mut self.places[number as usize];
        match core::mem::replace(place, Place::Vacant(self.vacant)) {
            Place::Value(value) => {
                self.vacant = number;
                self.vacant_len += 1;
                value
            }
            Place::Vacant(_) => unreachable!("M8: a number in the tree has a value"),
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &V {
        match &self.places[number as usize] {
            Place::Value(value) => value,
            Place::Vacant(_) => unreachable!("M8: a number in the tree has a value"),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut V {
        match &mut self.places[number as usize] {
            Place::Value(value) => value,
            Place::Vacant(_) => unreachable!("M8: a number in the tree has a value"),
        }
    }

    /// Whether a number has a value.
    pub(crate) fn has(&self, number: u32) -> bool {
        matches!(self.places.get(number as usize), Some(Place::Value(_)))
    }

    /// All places, for mutable references to several values at once.
    pub(crate) fn places_mut(&mut self) -> &mut [Place<V>] {
        &mut self.places
    }

    /// Drops all values, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        (self.vacant, self.vacant_len, self.forgotten) = (NO_PLACE, 0, 0);
        self.places.clear();
    }

    /// The same values under the same numbers.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory>
    where
        V: Clone,
    {
        let mut places = Vec::new();
        places.try_reserve_exact(self.places.len())?;
        places.extend(self.places.iter().cloned());
        Ok(Self { places, ..*self })
    }
}
