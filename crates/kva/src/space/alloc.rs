//! Allocating: check the request, find a block, cut it, remember the region.

use super::AddressSpace;
use crate::index::Want;
use crate::{AllocError, FreeIndex, Rejected, Request};
use freehold_units::{Probe, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Takes a range for `request` and keeps `value` with it. Returns the usable addresses, without guard.
    ///
    /// # Errors
    /// The value comes back with the reason, see [`AllocError`]; nothing was changed.
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
        match self.prepare(request, probe) {
            Ok((block, taken, guard_granules)) => {
                let usable = Span::from_size(taken.first(), request.size_bytes).unwrap_or(taken);
                let way = self.busy.way_to(usable.first());
                self.take(block, taken, probe);
                self.busy.insert(way, usable, guard_granules, value);
                Ok(usable)
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Cuts `taken` out of the free block that covers it; a block was reserved.
    #[inline]
    pub(super) fn take(&mut self, block: I::Block, taken: Span, probe: &mut impl Probe) {
        self.free.carve(block, taken, probe);
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
    fn prepare(
        &mut self,
        request: &Request,
        probe: &mut impl Probe,
    ) -> Result<(I::Block, Span, u32), AllocError> {
        let (want, guard_granules) = self.check(request)?;
        self.free.prepare(&want, probe)?;
        self.busy.reserve(1)?;
        let (block, taken) = self.look(self.placement, &want, probe)?;
        Ok((block, taken, guard_granules))
    }

    #[inline]
    fn look(
        &self,
        placement: I::Placement,
        want: &Want,
        probe: &mut impl Probe,
    ) -> Result<(I::Block, Span), AllocError> {
        self.free.find(placement, want, probe).ok_or_else(|| self.no_space(want))
    }

    #[cold]
    pub(super) fn no_space(&self, want: &Want) -> AllocError {
        AllocError::NoSpace {
            size_bytes: want.size_bytes,
            align: want.align,
            window: want.window,
            largest_free_bytes: self.free.largest_bytes(),
        }
    }

    /// The request as the index sees it, and its guard in granules.
    pub(super) fn check(&self, request: &Request) -> Result<(Want, u32), AllocError> {
        let (size_bytes, guard_bytes) = (request.size_bytes, request.guard_bytes);
        self.check_size(size_bytes)?;
        self.check_granular(guard_bytes)?;
        let guard_granules = u32::try_from(guard_bytes / self.granule.bytes())
            .map_err(|_| AllocError::GuardTooLarge { guard_bytes })?;
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
