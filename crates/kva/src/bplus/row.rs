//! Upper bounds for the children of an inner node, in one class.
//!
//! Almost all bounds are below 2^31 and are compared as `i32`, sixteen at once. A larger bound is stored as `i32::MAX`
//! there and in full in a second array, so comparisons are exact for all sizes.
//!
//! A bound that is too high costs time; one that is too low would hide free space (K9). Searches through a shared
//! borrow may lower bounds, too: each store is a valid bound by itself, and needs no ordering.

use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

/// The most children of an inner node. Inner nodes are few and stay in the cache, so they are wide.
pub(crate) const FANOUT: usize = 64;

/// Number of bounds that a search compares at once.
const LANES: usize = 16;

/// The lowest bound that the narrow cells cannot represent exactly.
const WIDE: u64 = i32::MAX as u64;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Row {
    /// The bounds, clamped to [`WIDE`].
    narrow: [AtomicI32; FANOUT],
    /// The full bounds where they are [`WIDE`] or more; otherwise meaningless.
    wide: [AtomicU64; FANOUT],
}

impl Row {
    /// A row of zeros.
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

    /// Raises a bound to `bound` if it is lower. Returns whether it was.
    #[inline]
    pub(crate) fn raise(&self, slot: usize, bound: u64) -> bool {
        let holds = self.narrow[slot].load(Relaxed) >= bound.min(WIDE) as i32;
        let is_lower = !holds || (bound > WIDE && self.wide[slot].load(Relaxed) < bound);
        if is_lower {
            self.set(slot, bound);
        }
        is_lower
    }

    /// The upper bound for the first `len` children together.
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

    /// [`Row::first_with`] through a shared borrow; compares one by one.
    pub(super) fn first_with_shared(&self, least: u64, from: usize, len: usize) -> Option<usize> {
        (from..len).find(|&slot| self.bound(slot) >= least)
    }

    /// The last of the first `end` children with a bound of `least` or more.
    pub(super) fn last_with(&self, least: u64, end: usize) -> Option<usize> {
        (0..end).rfind(|&slot| self.bound(slot) >= least)
    }

    /// Opens a place for a child at `slot`: the bounds from there on move up by one.
    pub(super) fn open(&mut self, slot: usize, len: usize) {
        self.narrow[slot..=len].rotate_right(1);
        self.wide[slot..=len].rotate_right(1);
    }

    /// Closes the place of a removed child.
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

/// A byte for each child of a group, nonzero if its bound is `least` or more. Out of line, the compiler uses vector
/// comparisons; inlined, it compares one by one.
#[inline(never)]
fn hits(bounds: &mut [AtomicI32; LANES], least: i32) -> [u8; LANES] {
    core::array::from_fn(|lane| u8::from(*bounds[lane].get_mut() >= least))
}

#[cfg(test)]
mod tests {
    use super::{Row, WIDE};

    /// Who raises a bound goes on to the row above only if it was lower.
    #[test]
    fn a_bound_is_raised_once() {
        let row = Row::zero();
        for bound in [1, 1000, WIDE - 1, WIDE, WIDE + 1, u64::MAX] {
            assert_eq!(
                [row.raise(3, bound), row.raise(3, bound), row.raise(3, bound - 1)],
                [true, false, false],
                "{bound}"
            );
            assert_eq!(row.bound(3), bound);
        }
    }
}
