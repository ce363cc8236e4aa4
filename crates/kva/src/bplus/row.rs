//! Bounds of what is below each child of an inner node, in one class.
//!
//! Almost all bounds are below 2^31 and are compared as `i32`, sixteen at once. One that is not is `i32::MAX` there and is
//! kept in full beside, so that sizes of any length are compared exactly.
//!
//! A bound is an upper limit: one that is too high costs time, one that is too low loses space (K9). So searches
//! through a shared borrow may lower bounds as well: each store is a limit by itself, and needs no order.

use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

/// Children of an inner node. Inner nodes are few and stay in the cache, so they are wide.
pub(crate) const FANOUT: usize = 64;

/// Children whose bounds a search compares together.
const LANES: usize = 16;

/// The first bound that the narrow cells do not tell from larger ones.
const WIDE: u64 = i32::MAX as u64;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Row {
    /// The bounds, [`WIDE`] and more as [`WIDE`].
    narrow: [AtomicI32; FANOUT],
    /// The bounds in full where they are [`WIDE`] and more; else anything.
    wide: [AtomicU64; FANOUT],
}

impl Row {
    /// Nothing below any child.
    pub(super) const fn zero() -> Self {
        Self { narrow: [const { AtomicI32::new(0) }; FANOUT], wide: [const { AtomicU64::new(0) }; FANOUT] }
    }

    #[inline]
    pub(crate) fn bound(&self, slot: usize) -> u64 {
        match self.narrow[slot].load(Relaxed) as u64 {
            WIDE => self.wide[slot].load(Relaxed),
            bound => bound,
        }
    }

    #[inline]
    pub(crate) fn set(&self, slot: usize, bound: u64) {
        if bound >= WIDE {
            self.wide[slot].store(bound, Relaxed);
        }
        self.narrow[slot].store(bound.min(WIDE) as i32, Relaxed);
    }

    /// Raises a bound to `bound`, if it is lower. Whether it was.
    #[inline]
    pub(crate) fn raise(&self, slot: usize, bound: u64) -> bool {
        let holds = self.narrow[slot].load(Relaxed) >= bound.min(WIDE) as i32;
        let is_lower = !holds || (bound > WIDE && self.wide[slot].load(Relaxed) < bound);
        if is_lower {
            self.set(slot, bound);
        }
        is_lower
    }

    /// What nothing below the first `len` children exceeds.
    pub(super) fn most(&self, len: usize) -> u64 {
        match self.narrow[..len].iter().fold(0, |most, bound| bound.load(Relaxed).max(most)) as u64 {
            WIDE => (0..len).fold(WIDE, |most, slot| self.bound(slot).max(most)),
            most => most,
        }
    }

    /// The first child from `from` on and below `len` with a bound of `least` or more.
    #[inline]
    pub(super) fn first_with(&mut self, least: u64, from: usize, len: usize) -> Option<usize> {
        if least > WIDE {
            return self.first_with_shared(least, from, len);
        }
        let (groups, _) = self.narrow.as_chunks_mut::<LANES>();
        let mut from = from;
        while from < len {
            let (group, passed) = (from / LANES, from % LANES);
            let hits = u128::from_le_bytes(hits(&mut groups[group], least as i32)) >> (8 * passed);
            if hits != 0 {
                return Some(from + hits.trailing_zeros() as usize / 8).filter(|&slot| slot < len);
            }
            from += LANES - passed;
        }
        None
    }

    /// The same through a shared borrow, which compares one by one.
    pub(super) fn first_with_shared(&self, least: u64, from: usize, len: usize) -> Option<usize> {
        (from..len).find(|&slot| self.bound(slot) >= least)
    }

    /// The last of the first `end` children with a bound of `least` or more.
    pub(super) fn last_with(&self, least: u64, end: usize) -> Option<usize> {
        (0..end).rfind(|&slot| self.bound(slot) >= least)
    }

    /// Makes room for a child at `slot`: those from there on move up by one.
    pub(super) fn open(&mut self, slot: usize, len: usize) {
        self.narrow[slot..=len].rotate_right(1);
        self.wide[slot..=len].rotate_right(1);
    }

    /// Closes the place of a child that is gone.
    pub(super) fn close(&mut self, slot: usize, len: usize) {
        self.narrow[slot..len].rotate_left(1);
        self.wide[slot..len].rotate_left(1);
    }
}

impl Clone for Row {
    fn clone(&self) -> Self {
        let row = Self::zero();
        (0..FANOUT).for_each(|slot| row.set(slot, self.bound(slot)));
        row
    }
}

/// A byte for each of some children, which is not 0 if its bound is `least` or more. Out of line the compiler
/// packs vectors of comparisons into it, inlined it compares one by one.
#[inline(never)]
fn hits(bounds: &mut [AtomicI32; LANES], least: i32) -> [u8; LANES] {
    core::array::from_fn(|lane| u8::from(*bounds[lane].get_mut() >= least))
}
