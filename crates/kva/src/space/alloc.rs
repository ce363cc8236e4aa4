//! Allocating: check the request, find a block, cut it, remember the region.

use super::AddressSpace;
use super::blocks::first_fit;
use crate::regions::{EntryHandle, RegionAttrs};
use crate::request::{CheckedRequest, guard_granules};
use crate::{AllocError, Placement, Rejected, Request};
use freehold_units::{Align, Probe, Span};

impl<V> AddressSpace<V> {
    /// Takes a range for `request` and keeps `value` with it. Returns the usable addresses, without guard.
    ///
    /// # Errors
    /// The value comes back with the reason, see [`AllocError`]; nothing was changed. A window that leaves no choice
    /// is a fixed place: what is in the way is named as by [`AddressSpace::alloc_at`].
    ///
    /// # Cost
    /// O(log n) amortized over allocations, in the worst case O(n): a search visits leaves that allocations before it cut,
    /// each once; and the first request with an alignment above all that were asked for learns it, which visits each leaf at most
    /// once. `NoSpace` also computes the largest free block, as [`AddressSpace::stats`] does. [`Placement::BestFit`]: see there.
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V>> {
        self.alloc_probed(request, value, &mut ())
    }

    /// [`AddressSpace::alloc`] under a placement of the request's own: what is persistent from below, say, and what
    /// comes and goes from above.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    ///
    /// # Cost
    /// As [`AddressSpace::alloc`].
    pub fn alloc_with(
        &mut self,
        request: &Request,
        placement: Placement,
        value: V,
    ) -> Result<Span, Rejected<V>> {
        self.alloc_placed(request, placement, value, &mut ())
    }

    /// [`AddressSpace::alloc`], with the work counted.
    ///
    /// Cost: as [`AddressSpace::alloc`].
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    #[inline]
    pub fn alloc_probed(
        &mut self,
        request: &Request,
        value: V,
        probe: &mut impl Probe,
    ) -> Result<Span, Rejected<V>> {
        self.alloc_placed(request, self.placement, value, probe)
    }

    #[inline]
    fn alloc_placed(
        &mut self,
        request: &Request,
        placement: Placement,
        value: V,
        probe: &mut impl Probe,
    ) -> Result<Span, Rejected<V>> {
        match self.prepare(request, placement, probe) {
            Ok((before, taken, terms)) => {
                self.occupy(before, taken, terms, Some(value), probe);
                Ok(usable(taken, request))
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Where `request` would go, guard excluded, under `placement`, which need not be the space's own.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    ///
    /// # Cost
    /// As [`AddressSpace::alloc`], but O(n) each time for what no allocation asked for yet: an alignment, or
    /// [`Placement::BestFit`].
    pub fn find(&self, request: &Request, placement: Placement) -> Result<Span, AllocError> {
        let checked = self.check(request)?;
        let found = match placement {
            Placement::BestFit => self.best_fit(&checked, &mut ()),
            by_address => first_fit(&self.regions, by_address.order(), &checked, &mut ()),
        };
        match found {
            Some((_, taken)) => Ok(usable(taken, request)),
            None => Err(self.refusal(&checked, &mut ())),
        }
    }

    /// Everything that can fail, with nothing changed but spare room: the entry before the place, what to take, the guard.
    #[inline]
    pub(super) fn prepare(
        &mut self,
        request: &Request,
        placement: Placement,
        probe: &mut impl Probe,
    ) -> Result<(EntryHandle, Span, RegionAttrs), AllocError> {
        let checked = self.check(request)?;
        let guard_granules = (request.guard_bytes >> self.regions.shift()) as u32;
        let terms = RegionAttrs::new(guard_granules, checked.align);
        self.reserve(1)?;
        let found = match placement {
            Placement::BestFit => self.prepare_best_fit(&checked, probe)?,
            by_address => first_fit(&mut self.regions, by_address.order(), &checked, probe),
        };
        match found {
            Some((before, taken)) => Ok((before, taken, terms)),
            None => Err(self.refusal(&checked, probe)),
        }
    }

    /// Why nothing is free for a request that was checked.
    #[cold]
    fn refusal(&self, checked: &CheckedRequest, probe: &mut impl Probe) -> AllocError {
        let &CheckedRequest { size_bytes, align, window } = checked;
        if u128::from(size_bytes) == window.size_bytes() && align.divides(window.first()) {
            return self.in_the_way(window);
        }
        let extent = Span::from_size(0, size_bytes).expect("K6: a request has a granule");
        self.no_space(checked, extent, probe)
    }

    /// Why nothing was found: it never can be, or what could hold it is taken. What was wanted lies at `extent`
    /// for base 0.
    #[cold]
    pub(super) fn no_space(
        &self,
        checked: &CheckedRequest,
        extent: Span,
        probe: &mut impl Probe,
    ) -> AllocError {
        let &CheckedRequest { size_bytes, align, window } = checked;
        let reach = window.intersection(self.hull).unwrap_or(window);
        if extent.size_bytes() > reach.size_bytes() || u128::from(size_bytes) > self.total_bytes {
            let room = reach.size_bytes().min(self.total_bytes);
            let room_bytes = u64::try_from(room).unwrap_or(u64::MAX);
            return AllocError::TooLarge { size_bytes: extent.size_saturating(), room_bytes };
        }
        let lowest = align.up(reach.first().saturating_sub(extent.first()));
        let place = lowest.and_then(|base| extent.shifted(base));
        if place.is_none_or(|place| place.last() > reach.last()) {
            return AllocError::NoMultiple { size_bytes, align, window: reach };
        }
        AllocError::NoSpace {
            size_bytes,
            align,
            window: reach,
            largest_free_bytes: self.regions.largest_bytes(probe),
        }
    }

    /// The request as a search sees it: with its guard, aligned to a granule at least.
    #[inline]
    fn check(&self, request: &Request) -> Result<CheckedRequest, AllocError> {
        let (size_bytes, guard_bytes) = (request.size_bytes, request.guard_bytes);
        self.check_size(size_bytes)?;
        self.check_guard(guard_bytes)?;
        let size_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let window = request.window;
        self.check_window(window)?;
        let align_bytes = request.align_bytes;
        let align =
            Align::new(align_bytes).ok_or(AllocError::NotPowerOfTwo { align_bytes })?.max(self.granule);
        Ok(CheckedRequest { size_bytes, align, window })
    }

    pub(super) fn check_size(&self, size_bytes: u64) -> Result<(), AllocError> {
        if size_bytes == 0 { Err(AllocError::ZeroSize) } else { self.check_granular(size_bytes) }
    }

    /// Granules of a guard.
    #[inline]
    pub(super) fn check_guard(&self, guard_bytes: u64) -> Result<u32, AllocError> {
        self.check_granular(guard_bytes)?;
        let granules = guard_granules(guard_bytes >> self.regions.shift());
        granules.ok_or(AllocError::GuardTooLarge { guard_bytes })
    }

    fn check_granular(&self, size_bytes: u64) -> Result<(), AllocError> {
        if self.granule.divides(size_bytes) {
            Ok(())
        } else {
            Err(AllocError::NotGranular { size_bytes, granule: self.granule })
        }
    }

    pub(super) fn check_window(&self, window: Span) -> Result<(), AllocError> {
        if window.overlaps(self.hull) {
            Ok(())
        } else {
            Err(AllocError::WindowOutside { window, space: self.hull })
        }
    }
}

/// What a request gets of what was taken for it: all but the guard.
#[inline]
pub(super) fn usable(taken: Span, request: &Request) -> Span {
    Span::from_size(taken.first(), request.size_bytes).expect("K4: a region lies in what was taken for it")
}
