//! Finds gaps and stores in them.

use super::WordMap;
use crate::entry::StoredValue;
use crate::error::{AllocError, or_reject};
use crate::tree::{CheckedRequest, Direction, StorePlan};
use freehold_units::{Align, Rejected, Span};

/// A request for a gap: the number of indexes, their alignment, and the window they must lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    size: u64,
    align: Align,
    window: Span,
}

impl Request {
    /// A request for `size` indexes, anywhere.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new(size: u64) -> Self {
        Self { size, align: Align::ONE, window: Span::ALL }
    }

    /// Requires a start at a multiple of `align`.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    /// Requires that all indexes lie within the window.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn window(self, window: Span) -> Self {
        Self { window, ..self }
    }

    /// The request, if its size fits its window.
    pub(crate) fn checked(&self, direction: Direction) -> Result<CheckedRequest, AllocError> {
        let Self { size, align, window } = *self;
        if size == 0 {
            return Err(AllocError::ZeroSize);
        }
        if u128::from(size) > window.size_bytes() {
            return Err(AllocError::TooLarge { size, window });
        }
        Ok(CheckedRequest { direction, size, align, window })
    }

    /// The refusal of a request that no gap can hold.
    #[cold]
    pub(crate) fn no_space(&self) -> AllocError {
        let Self { size, align, window } = *self;
        AllocError::NoSpace { size, align, window }
    }

    /// The request with the part of its window that lies in a range. `TooLarge` if no part does.
    #[inline]
    pub(crate) fn within(self, range: Span) -> Result<Self, AllocError> {
        let Self { size, window, .. } = self;
        match window.intersection(range) {
            Some(part) => Ok(self.window(part)),
            None => Err(AllocError::TooLarge { size, window }),
        }
    }
}

impl<E: StoredValue> WordMap<E> {
    /// The lowest free place that fits a request.
    ///
    /// Cost: O(log n) for n entries without an alignment: a walk down the tree, and one more for each end of the window
    /// that cuts a gap. With an alignment, every gap that is long enough but misaligned is examined, each time: O(n),
    /// worst case and amortized. If callers choose alignments, round sizes and places to the largest one. Or use the
    /// `AddressSpace` of `freehold-kva`, which records the longest aligned part of gaps.
    ///
    /// # Errors
    /// `ZeroSize`; `TooLarge` if the request exceeds the window; `NoSpace` if no place fits.
    #[doc(alias = "mas_empty_area")]
    pub fn lowest_gap(&self, request: &Request) -> Result<Span, AllocError> {
        self.find_gap(request, Direction::Up)
    }

    /// The highest free place that fits a request.
    ///
    /// Cost: as for [`lowest_gap`](Self::lowest_gap).
    ///
    /// # Errors
    /// As for [`lowest_gap`](Self::lowest_gap).
    #[doc(alias = "mas_empty_area_rev")]
    pub fn highest_gap(&self, request: &Request) -> Result<Span, AllocError> {
        self.find_gap(request, Direction::Down)
    }

    fn find_gap(&self, request: &Request, direction: Direction) -> Result<Span, AllocError> {
        self.tree.find_gap(&request.checked(direction)?, &mut ()).ok_or_else(|| request.no_space())
    }

    /// Stores a value in the lowest free place that fits; returns its range.
    ///
    /// Cost: that of [`lowest_gap`](Self::lowest_gap) and of [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`lowest_gap`](Self::lowest_gap), or `OutOfMemory` if there is no memory for another node. The error
    /// returns the value.
    #[doc(alias = "mtree_alloc_range")]
    pub fn alloc_lowest(&mut self, request: &Request, value: E) -> Result<Span, Rejected<E, AllocError>> {
        let span = or_reject!(self.lowest_gap(request), value);
        self.alloc_at(span, value)
    }

    /// Stores a value in the highest free place that fits; returns its range.
    ///
    /// Cost: that of [`lowest_gap`](Self::lowest_gap) and of [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`alloc_lowest`](Self::alloc_lowest).
    #[doc(alias = "mtree_alloc_rrange")]
    pub fn alloc_highest(&mut self, request: &Request, value: E) -> Result<Span, Rejected<E, AllocError>> {
        let span = or_reject!(self.highest_gap(request), value);
        self.alloc_at(span, value)
    }

    fn alloc_at(&mut self, span: Span, value: E) -> Result<Span, Rejected<E, AllocError>> {
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, true);
        assert!(plan.is_free(), "M4: a gap that was found is free");
        self.store_at(&mut plan, value).map(|()| span)
    }

    /// Stores a value at the lowest free index from `*next` on. If there is none in the window, searches again from the
    /// window's start. `*next` is the following index afterwards, or 0 after `u64::MAX`. Returns the index, and whether
    /// the search started again.
    ///
    /// Cost: that of two searches without alignment and of [`store`](Self::store): O(log n) for n entries.
    ///
    /// # Errors
    /// As for [`alloc_lowest`](Self::alloc_lowest); `*next` is unchanged then.
    #[doc(alias = "mtree_alloc_cyclic")]
    pub fn alloc_cyclic(
        &mut self,
        window: Span,
        next: &mut u64,
        value: E,
    ) -> Result<(u64, bool), Rejected<E, AllocError>> {
        let one = Request::new(1);
        let start = window.first().max(*next);
        let ahead = Span::new(start, window.last()).map(|ahead| self.lowest_gap(&one.window(ahead)));
        let (found, anew) = match ahead {
            Some(Ok(span)) => (Ok(span), false),
            _ => (self.lowest_gap(&one.window(window)), true),
        };
        let span = self.alloc_at(or_reject!(found, value), value)?;
        *next = span.first().wrapping_add(1);
        Ok((span.first(), anew))
    }
}
