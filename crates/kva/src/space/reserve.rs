//! A place that is found first and taken later: a caller that writes a journal in between searches once.

use super::AddressSpace;
use super::alloc::usable;
use crate::regions::{EntryHandle, RegionAttrs};
use crate::{AllocError, Placement, Request};
use freehold_units::Span;

/// A place that is held for a caller until it is [committed](Pending::commit) or dropped.
///
/// It borrows the space, so nothing else can change it meanwhile. Nothing is allocated yet: if it is dropped or
/// forgotten, the space is as before.
#[derive(Debug)]
#[must_use = "the place is given up unless it is committed"]
pub struct Pending<'a, V> {
    space: &'a mut AddressSpace<V>,
    /// The entry before the place. Valid because the tree does not change while the space is borrowed.
    before: EntryHandle,
    taken: Span,
    terms: RegionAttrs,
    /// The usable addresses.
    span: Span,
}

impl<V> Pending<'_, V> {
    /// The usable addresses of the place, without the guard. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The guard of the place, if there is one. Cost: constant.
    #[must_use]
    pub fn guard(&self) -> Option<Span> {
        self.taken.above(self.span)
    }

    /// The space as it is without the place, which is still free there. Cost: constant.
    #[must_use]
    pub fn space(&self) -> &AddressSpace<V> {
        self.space
    }

    /// Takes the place, and stores `value` with it. Returns the usable addresses. Cannot fail.
    ///
    /// Cost: O(log n), without a search.
    pub fn commit(self, value: V) -> Span {
        let Self { space, before, taken, terms, span } = self;
        space.occupy(before, taken, terms, Some(value), &mut ());
        span
    }

    /// Gives the place up, as a drop does.
    ///
    /// Cost: constant.
    pub fn cancel(self) {}
}

impl<V> AddressSpace<V> {
    /// Finds a place for `request`, as [`AddressSpace::alloc`] does, and holds it. [`Pending::commit`] then takes it
    /// without a second search and cannot fail: all memory is reserved. A drop gives it up.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`]. Nothing was changed.
    ///
    /// # Cost
    /// As [`AddressSpace::alloc`].
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut disk = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// let mut journal = Vec::new();
    ///
    /// let pending = disk.reserve(&Request::new(0x2000))?;
    /// journal.push(pending.span());
    /// assert_eq!(pending.commit("file 1"), journal[0]);
    ///
    /// let pending = disk.reserve(&Request::new(0x1000))?;
    /// let place = pending.span();
    /// // The journal is full.
    /// pending.cancel();
    /// assert!(disk.region_at(place.first()).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&mut self, request: &Request) -> Result<Pending<'_, V>, AllocError> {
        self.reserve_with(request, self.placement)
    }

    /// [`AddressSpace::reserve`] with a placement for this request, as [`AddressSpace::alloc_with`] has.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    ///
    /// # Cost
    /// As [`AddressSpace::alloc`].
    pub fn reserve_with(
        &mut self,
        request: &Request,
        placement: Placement,
    ) -> Result<Pending<'_, V>, AllocError> {
        let (before, taken, terms) = self.prepare(request, placement, &mut ())?;
        let span = usable(taken, request);
        Ok(Pending { space: self, before, taken, terms, span })
    }

    /// Holds exactly `span`, with a guard of `guard_bytes` after it, as [`AddressSpace::alloc_at_guarded`] takes it.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_at_guarded`].
    ///
    /// # Cost
    /// O(log n).
    pub fn reserve_at(&mut self, span: Span, guard_bytes: u64) -> Result<Pending<'_, V>, AllocError> {
        let (before, taken, terms) = self.prepare_at_guarded(span, guard_bytes)?;
        Ok(Pending { space: self, before, taken, terms, span })
    }
}
