//! Allocating: check the request, find a block, cut it, remember the region.

use super::{AddressSpace, BlockOf};
use crate::index::{Map, Want, guard_granules};
use crate::{AllocError, FreeIndex, Rejected, Request};
use freehold_units::{Probe, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Takes a range for `request` and keeps `value` with it. Returns the usable addresses, without guard.
    ///
    /// # Errors
    /// The value comes back with the reason, see [`AllocError`]; nothing was changed. A window that leaves no choice
    /// is a fixed place: what is in the way is named as by [`AddressSpace::alloc_at`].
    ///
    /// # Cost
    /// O(log n), amortised: the structures' own memory grows by a sixteenth at a time. What a placement adds for
    /// alignments is said with it.
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V>> {
        self.alloc_probed(request, value, &mut ())
    }

    /// [`AddressSpace::alloc`], with the work counted.
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
        let (want, guard_granules) = match self.check(request) {
            Ok(checked) => checked,
            Err(cause) => return Err(Rejected { value, cause }),
        };
        if let Err(cause) = self.map.prepare(&want, probe) {
            return Err(Rejected { value, cause: cause.into() });
        }
        let Some((block, taken)) = self.map.find(self.placement, &want, probe) else {
            return Err(Rejected { value, cause: self.no_space_for(&want) });
        };
        self.occupy(block, taken, guard_granules, value, probe);
        Ok(Span::from_size(taken.first(), request.size_bytes).unwrap_or(taken))
    }

    /// Takes `taken` out of the free block that covers it, for a region; a region was reserved.
    #[inline]
    pub(super) fn occupy(
        &mut self,
        block: BlockOf<V, I>,
        taken: Span,
        guard_granules: u32,
        value: V,
        probe: &mut impl Probe,
    ) {
        self.map.occupy(block, taken, guard_granules, value, probe);
        self.free_bytes -= taken.size_bytes();
    }

    /// Where `request` would go, guard excluded, under `placement`, which need not be the space's own.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    pub fn find(&self, request: &Request, placement: I::Placement) -> Result<Span, AllocError> {
        let (want, _) = self.check(request)?;
        let (_, taken) = self.look(placement, &want, &mut ())?;
        Ok(Span::from_size(taken.first(), request.size_bytes).unwrap_or(taken))
    }

    /// Everything that can fail, with nothing changed but spare room: the block, what to cut from it, the guard.
    #[inline]
    pub(super) fn prepare(
        &mut self,
        request: &Request,
        probe: &mut impl Probe,
    ) -> Result<(BlockOf<V, I>, Span, u32), AllocError> {
        let (want, guard_granules) = self.check(request)?;
        self.map.prepare(&want, probe)?;
        let (block, taken) = self.look(self.placement, &want, probe)?;
        Ok((block, taken, guard_granules))
    }

    #[inline]
    fn look(
        &self,
        placement: I::Placement,
        want: &Want,
        probe: &mut impl Probe,
    ) -> Result<(BlockOf<V, I>, Span), AllocError> {
        self.map.find(placement, want, probe).ok_or_else(|| self.no_space_for(want))
    }

    /// Why one range was not found.
    #[cold]
    pub(super) fn no_space_for(&self, want: &Want) -> AllocError {
        let &Want { size_bytes, align, window } = want;
        if u128::from(size_bytes) == window.size_bytes() && align.divides(window.first()) {
            return self.in_the_way(window);
        }
        self.no_space(want, Span::new(0, size_bytes.saturating_sub(1)).unwrap_or(Span::ALL))
    }

    /// Why nothing was found: it never can be, or what could hold it is taken. What was wanted lies at `extent`
    /// for base 0.
    #[cold]
    pub(super) fn no_space(&self, want: &Want, extent: Span) -> AllocError {
        let &Want { size_bytes, align, window } = want;
        let reach = window.intersection(self.hull).unwrap_or(window);
        if extent.size_bytes() > reach.size_bytes() || u128::from(size_bytes) > self.total_bytes {
            let room = reach.size_bytes().min(self.total_bytes);
            let room_bytes = u64::try_from(room).unwrap_or(u64::MAX);
            return AllocError::TooLarge { size_bytes: extent.size_saturating(), room_bytes };
        }
        let lowest = align.up(reach.first().saturating_sub(extent.first()));
        let place = lowest.and_then(|base| extent.shifted(base));
        if place.is_none_or(|place| place.last() > reach.last()) {
            return AllocError::NoMultiple { size_bytes, align, window };
        }
        AllocError::NoSpace { size_bytes, align, window, largest_free_bytes: self.map.largest_bytes() }
    }

    /// The request as the index sees it, and its guard in granules.
    #[inline]
    pub(super) fn check(&self, request: &Request) -> Result<(Want, u32), AllocError> {
        let (size_bytes, guard_bytes) = (request.size_bytes, request.guard_bytes);
        self.check_size(size_bytes)?;
        self.check_granular(guard_bytes)?;
        let guard_granules = guard_granules(guard_bytes / self.granule.bytes())
            .ok_or(AllocError::GuardTooLarge { guard_bytes })?;
        let size_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let window = request.window;
        self.check_window(window)?;
        Ok((Want { size_bytes, align: request.align.max(self.granule), window }, guard_granules))
    }

    pub(super) fn check_size(&self, size_bytes: u64) -> Result<(), AllocError> {
        if size_bytes == 0 { Err(AllocError::ZeroSize) } else { self.check_granular(size_bytes) }
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
