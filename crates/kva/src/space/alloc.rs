//! Allocation: checks the request, finds a block, cuts it and stores the region.

use super::AddressSpace;
use super::blocks::first_fit;
use crate::regions::{EntryHandle, RegionAttrs};
use crate::request::{CheckedRequest, guard_granules};
use crate::{AllocError, Placement, Rejected, Request};
use freehold_units::{Align, Probe, Span};

impl<V> AddressSpace<V> {
    /// Takes a range for `request` and stores `value` with it. Returns the usable addresses, without the guard.
    ///
    /// # Errors
    /// Returns the value with the reason, see [`AllocError`]; nothing was changed. A window that leaves no choice is a
    /// fixed place: the error names the region in the way, as [`AddressSpace::alloc_at`] does.
    ///
    /// # Cost
    /// O(log n) amortized over allocations; O(n) in the worst case. A search may visit, once each, leaves that earlier
    /// allocations have cut. The first request with an alignment larger than all before visits each leaf at most once.
    /// `NoSpace` also computes the largest free block, as [`AddressSpace::stats`] does. For [`Placement::BestFit`], see
    /// there.
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V>> {
        self.alloc_probed(request, value, &mut ())
    }

    /// [`AddressSpace::alloc`] with a placement for this request: for example, persistent regions from below and
    /// short-lived ones from above.
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

    /// The addresses, without guard, that `request` would get under `placement`, which may differ from the space's own.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    ///
    /// # Cost
    /// As [`AddressSpace::alloc`], but O(n) at each call for an alignment, or [`Placement::BestFit`], that no
    /// allocation has used yet.
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

    /// Performs all steps that can fail and changes nothing except reserved memory. Returns the entry before the place,
    /// the addresses to take, and the guard.
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
        self.reserve_regions(1)?;
        let found = match placement {
            Placement::BestFit => self.prepare_best_fit(&checked, probe)?,
            by_address => first_fit(&mut self.regions, by_address.order(), &checked, probe),
        };
        match found {
            Some((before, taken)) => Ok((before, taken, terms)),
            None => Err(self.refusal(&checked, probe)),
        }
    }

    /// The error for a checked request that found no place.
    #[cold]
    fn refusal(&self, checked: &CheckedRequest, probe: &mut impl Probe) -> AllocError {
        let &CheckedRequest { size_bytes, align, window } = checked;
        if u128::from(size_bytes) == window.size_bytes() && align.divides(window.first()) {
            return self.in_the_way(window);
        }
        let extent = Span::from_size(0, size_bytes).expect("K6: a request has a granule");
        self.no_space(checked, extent, probe)
    }

    /// The error for a failed search: the request can never fit, or the addresses that could hold it are taken.
    /// `extent` is the span of the request at base 0.
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
            return AllocError::TooLarge { size_bytes: extent.size_saturating(), room_bytes, window: reach };
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

    /// Checks a request: its size then includes the guard, and its alignment is at least the granule.
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

    /// The guard in granules.
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

/// The usable addresses of a taken span: all except the guard.
#[inline]
pub(super) fn usable(taken: Span, request: &Request) -> Span {
    Span::from_size(taken.first(), request.size_bytes).expect("K4: a region lies in what was taken for it")
}
