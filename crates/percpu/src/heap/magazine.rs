//! Magazines: caches of places for each CPU, so that most requests never take the heap's lock.
//!
//! ```text
//!   shard of CPU 0   8 bytes   clean | p p p p ...  64 |   zero in every unit: an alloc takes the last
//!                              dirty | q q ...      64 |   as its object left it: a free adds one; 64 are cleared at once
//!                    16 bytes  ...
//! ```
//!
//! Shard locks are only tried. On contention the caller tries the other shards, then the heap.
//!
//! # Invariants
//! - P11: clean places are zero.
//! - P12: a place is in at most one magazine.

use super::sync::{Mutex, lock, try_lock};
use crate::{AllocError, OutOfMemory, Request};
use freehold_sys::fork::Section;
use std::boxed::Box;
use std::vec::Vec;

/// Places in a full magazine.
const FULL: usize = if cfg!(loom) { 2 } else { 64 };
/// Number of places that a refill fetches.
const REFILL: usize = FULL / 2;
/// Number of sizes that have magazines: 8 to 64 bytes, in steps of 8.
const CLASSES: usize = if cfg!(loom) { 1 } else { 8 };
const CLASS_BYTES: u64 = 8;

/// The class of a request; `None` if it goes to the heap itself.
#[inline]
pub(super) fn class_of(request: &Request) -> Option<usize> {
    let cached = request.size_bytes != 0
        && request.size_bytes <= CLASS_BYTES * CLASSES as u64
        && request.align_bytes.is_power_of_two()
        && request.align_bytes <= CLASS_BYTES
        && !request.atomic;
    cached.then(|| request.size_bytes.div_ceil(CLASS_BYTES) as usize - 1)
}

/// The size of a class, in bytes.
pub(super) fn bytes_of(class: usize) -> usize {
    (class + 1) * CLASS_BYTES as usize
}

/// The request for a place of a class.
pub(super) fn request_of(class: usize) -> Request {
    Request::new(bytes_of(class) as u64).align(CLASS_BYTES)
}

/// The source that magazines are filled from and emptied into.
pub(super) trait Source {
    /// Fills `into` with zeroed places: all or, on error, none.
    fn alloc(&self, class: usize, into: &mut [u32]) -> Result<(), AllocError>;

    /// Frees places, which are zero.
    fn free(&self, places: &[u32]);

    /// Zeroes places.
    fn clear(&self, class: usize, places: &[u32]);
}

/// Places of one class.
#[derive(Debug, Default)]
pub(super) struct Magazine {
    clean: Vec<u32>,
    dirty: Vec<u32>,
}

impl Magazine {
    /// Reserves memory for both lists once, so that later calls allocate nothing.
    fn reserve(&mut self) -> Result<(), OutOfMemory> {
        // The lists change places, so either may be the one that has none yet.
        for list in [&mut self.clean, &mut self.dirty] {
            if list.capacity() == 0 {
                list.try_reserve_exact(FULL)?;
            }
        }
        Ok(())
    }

    /// Zeroes the dirty places if there are no clean ones.
    fn zero_dirty(&mut self, class: usize, source: &impl Source) {
        if self.clean.is_empty() && !self.dirty.is_empty() {
            source.clear(class, &self.dirty);
            std::mem::swap(&mut self.clean, &mut self.dirty);
        }
    }

    fn alloc(&mut self, class: usize, source: &impl Source) -> Result<u32, AllocError> {
        self.zero_dirty(class, source);
        if let Some(place) = self.clean.pop() {
            return Ok(place);
        }
        self.reserve()?;
        let mut places = [0; REFILL];
        match source.alloc(class, &mut places) {
            Ok(()) => self.clean.extend_from_slice(&places[1..]),
            // There may be space for one place when there is none for many.
            Err(AllocError::OutOfMemory | AllocError::AtCapacity { .. }) => {
                source.alloc(class, &mut places[..1])?
            }
            Err(error) => return Err(error),
        }
        Ok(places[0])
    }

    /// Takes clean places. Returns how many.
    fn take(&mut self, class: usize, into: &mut [u32], source: &impl Source) -> usize {
        let mut done = 0;
        while done < into.len() {
            self.zero_dirty(class, source);
            let some = self.clean.len().min(into.len() - done);
            if some == 0 {
                break;
            }
            let rest = self.clean.len() - some;
            into[done..done + some].copy_from_slice(&self.clean[rest..]);
            self.clean.truncate(rest);
            done += some;
        }
        done
    }

    /// Adds places to the dirty list. A full dirty list is zeroed. It becomes the clean list if that is empty;
    /// otherwise its places go to the source.
    fn free(&mut self, class: usize, places: &[u32], source: &impl Source) -> Result<(), OutOfMemory> {
        self.reserve()?;
        for &place in places {
            if self.dirty.len() == FULL {
                self.zero_dirty(class, source);
            }
            if self.dirty.len() == FULL {
                source.clear(class, &self.dirty);
                source.free(&self.dirty);
                self.dirty.clear();
            }
            self.dirty.push(place);
            // Zeroed now, 64 at once, so that requests find clean places.
            if self.dirty.len() == FULL {
                self.zero_dirty(class, source);
            }
        }
        Ok(())
    }
}

/// A shard on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Shard(Mutex<[Magazine; CLASSES]>);

/// The magazines of a heap: one shard for each CPU, up to 64.
#[derive(Debug)]
pub(super) struct Magazines {
    shards: Box<[Shard]>,
}

impl Magazines {
    pub(super) fn new(cpus: u32) -> Result<Self, OutOfMemory> {
        let count = cpus.min(64) as usize;
        let mut shards = Vec::new();
        shards.try_reserve_exact(count)?;
        shards.extend((0..count).map(|_| Shard(Mutex::new(Default::default()))));
        Ok(Self { shards: shards.into_boxed_slice() })
    }

    /// Calls `act` on the first shard, from `hint` on, whose lock is free; `None` if all are locked.
    fn with<R>(&self, hint: usize, act: impl FnOnce(&mut [Magazine; CLASSES]) -> R) -> Option<R> {
        let _section = Section::enter();
        let start = hint % self.shards.len();
        let (before, from) = self.shards.split_at(start);
        let mut shard = from.iter().chain(before).find_map(|shard| try_lock(&shard.0))?;
        Some(act(&mut shard))
    }

    /// Takes a zeroed place.
    pub(super) fn alloc(&self, hint: usize, class: usize, source: &impl Source) -> Result<u32, AllocError> {
        let found = self.with(hint, |magazines| magazines[class].alloc(class, source));
        found.unwrap_or_else(|| {
            let mut place = [0];
            source.alloc(class, &mut place).map(|()| place[0])
        })
    }

    /// Takes many zeroed places: all or none.
    pub(super) fn alloc_bulk(
        &self,
        hint: usize,
        class: usize,
        into: &mut [u32],
        source: &impl Source,
    ) -> Result<(), AllocError> {
        let done = self.with(hint, |magazines| magazines[class].take(class, into, source)).unwrap_or(0);
        if done == into.len() {
            return Ok(());
        }
        source.alloc(class, &mut into[done..]).inspect_err(|_| {
            if done > 0 {
                source.free(&into[..done]);
            }
        })
    }

    /// Takes a clean place from a magazine without asking the source; `None` if there is none.
    pub(super) fn try_alloc(&self, hint: usize, class: usize, source: &impl Source) -> Option<u32> {
        self.with(hint, |magazines| {
            let mut place = [0];
            (magazines[class].take(class, &mut place, source) == 1).then_some(place[0])
        })?
    }

    /// Frees places, which still have their objects' contents.
    pub(super) fn free(&self, hint: usize, class: usize, places: &[u32], source: &impl Source) {
        let kept = self.with(hint, |magazines| magazines[class].free(class, places, source));
        if kept != Some(Ok(())) {
            source.clear(class, places);
            source.free(places);
        }
    }

    /// Returns all places to the source. Returns whether there were any.
    pub(super) fn drain(&self, source: &impl Source) -> bool {
        let mut had_any = false;
        for shard in &self.shards {
            let mut magazines = lock(&shard.0);
            for (class, Magazine { clean, dirty }) in magazines.iter_mut().enumerate() {
                source.clear(class, dirty);
                for places in [clean, dirty] {
                    if !places.is_empty() {
                        had_any = true;
                        source.free(places);
                        places.clear();
                    }
                }
            }
        }
        had_any
    }

    /// All places in magazines. Checks that each is there only once.
    pub(super) fn kept(&self) -> Vec<u32> {
        let mut all = Vec::new();
        for shard in &self.shards {
            for Magazine { clean, dirty } in lock(&shard.0).iter() {
                all.extend(clean.iter().chain(dirty));
            }
        }
        all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn both_lists_have_memory_after_a_refusal_between_them() {
        let mut magazine = Magazine { clean: Vec::with_capacity(FULL), dirty: Vec::new() };
        magazine.reserve().unwrap();
        assert!(magazine.dirty.capacity() >= FULL);
        let places = magazine.clean.as_ptr();
        magazine.clean.push(1);
        magazine.reserve().unwrap();
        assert_eq!(magazine.clean.as_ptr(), places);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use std::collections::BTreeSet;

    /// The heap, as far as magazines know it: which places are free, and which are zero.
    #[derive(Default)]
    struct Model {
        next: u32,
        free: BTreeSet<u32>,
        dirty: BTreeSet<u32>,
    }

    impl Source for Mutex<Model> {
        fn alloc(&self, _class: usize, into: &mut [u32]) -> Result<(), AllocError> {
            let mut model = lock(self);
            for place in into {
                let fresh = model.next;
                *place = model.free.pop_first().unwrap_or(fresh);
                model.next += u32::from(*place == fresh);
            }
            Ok(())
        }

        fn free(&self, places: &[u32]) {
            let mut model = lock(self);
            for &place in places {
                assert!(!model.dirty.contains(&place), "P11: {place} is not zero");
                assert!(model.free.insert(place), "P12: {place} is free already");
            }
        }

        fn clear(&self, _class: usize, places: &[u32]) {
            let mut model = lock(self);
            model.dirty.retain(|place| !places.contains(place));
        }
    }

    /// Two threads, two shards, a place goes from one to the other.
    #[test]
    fn a_place_has_one_owner() {
        loom::model(|| {
            let heap = Arc::new((Magazines::new(2).unwrap(), Mutex::new(Model::default())));
            let work = |heap: &(Magazines, Mutex<Model>), hint: usize| {
                let (magazines, model) = heap;
                for _ in 0..2 {
                    let place = magazines.alloc(hint, 0, model).unwrap();
                    // Live places are dirty: whoever else got it, or got it uncleared, sees that.
                    assert!(lock(model).dirty.insert(place), "P11, P12: {place} was not zero");
                    magazines.free(0, 0, &[place], model);
                }
            };
            let other = {
                let heap = Arc::clone(&heap);
                loom::thread::spawn(move || work(&heap, 1))
            };
            work(&heap, 0);
            other.join().unwrap();
            let (magazines, model) = &*heap;
            let kept = magazines.kept();
            let once: BTreeSet<u32> = kept.iter().copied().collect();
            assert_eq!(once.len(), kept.len(), "P12: a place is kept once");
            assert!(once.is_disjoint(&lock(model).free));
            magazines.drain(model);
            let model = lock(model);
            assert_eq!((model.free.len() as u32, model.dirty.len()), (model.next, 0));
        });
    }
}
