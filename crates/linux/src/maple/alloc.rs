//! Allocation from gaps: the lowest, the highest, and cyclic.

use super::map::{Stored, Way};
use super::{Item, Map, Tree};
use crate::Error;
use freehold_maple::NonNullValue;
use freehold_maple::Request;
use freehold_units::{Rejected, Span};

/// The result of a cyclic allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycled {
    /// The index.
    pub index: u64,
    /// Whether the search wrapped: it restarted at the lowest index, or an earlier call wrapped `next` from the last
    /// index to 0. The kernel returns 1 then.
    pub wrapped: bool,
}

impl<E: NonNullValue, M: Map<E>> Tree<E, M> {
    /// Stores at the lowest `size` free indexes within `min..=max`; returns the first. [`Item::Null`] finds them and
    /// leaves them free.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tree does not allocate gaps, for the zero entry, a size of 0 or one larger than the
    /// window; [`Error::Busy`] if there is no such gap; [`Error::NoMemory`]. Returns the item.
    #[doc(alias = "mtree_alloc_range")]
    pub fn alloc_range(&mut self, size: u64, min: u64, max: u64, item: Item<E>) -> Stored<u64, E> {
        self.alloc(Way::Up, size, min, max, item)
    }

    /// Stores at the highest `size` free indexes within `min..=max`; returns the first.
    ///
    /// # Errors
    /// As for [`alloc_range`](Self::alloc_range).
    #[doc(alias = "mtree_alloc_rrange")]
    pub fn alloc_rrange(&mut self, size: u64, min: u64, max: u64, item: Item<E>) -> Stored<u64, E> {
        self.alloc(Way::Down, size, min, max, item)
    }

    fn alloc(&mut self, direction: Way, size: u64, min: u64, max: u64, item: Item<E>) -> Stored<u64, E> {
        let found = self.empty_area(direction, min, max, size);
        self.occupy(found, item).map(Span::first)
    }

    fn occupy(&mut self, found: Result<Span, Error>, item: Item<E>) -> Stored<Span, E> {
        match (found, item) {
            (_, Item::Zero) => Err(Rejected { value: Item::Zero, cause: Error::Invalid }),
            (Err(cause), value) => Err(Rejected { value, cause }),
            (Ok(span), item) => self.map.put(span, item).map(|()| span),
        }
    }

    /// The lowest or highest free place in a window.
    pub(super) fn empty_area(&self, direction: Way, min: u64, max: u64, size: u64) -> Result<Span, Error> {
        let window = Span::new(min, max).filter(|_| self.flags().alloc_range).ok_or(Error::Invalid)?;
        let request = Request::new(size).window(window);
        Ok(self.map.gap(direction, &request)?)
    }

    /// Stores at the lowest free index of `low..=high` from `*next` on or, if there is none, from `low` on. Sets
    /// `*next` to one above it, which wraps to 0 after `u64::MAX`. The tree remembers such a wrap, and the next
    /// allocation reports it.
    ///
    /// # Errors
    /// As for [`alloc_range`](Self::alloc_range); `*next` does not change.
    #[doc(alias = "mtree_alloc_cyclic")]
    pub fn alloc_cyclic(&mut self, low: u64, high: u64, next: &mut u64, item: Item<E>) -> Stored<Cycled, E> {
        let start = low.max(*next);
        let ahead = self.empty_area(Way::Up, start, high, 1);
        let anew = ahead.is_err() && start > low;
        let found = if anew { self.empty_area(Way::Up, low, high, 1) } else { ahead };
        let index = self.occupy(found, item)?.first();
        *next = index.wrapping_add(1);
        let wrapped = anew || core::mem::take(&mut self.alloc_wrapped);
        self.alloc_wrapped |= index == u64::MAX;
        Ok(Cycled { index, wrapped })
    }
}
