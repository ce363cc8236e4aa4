//! Freeing by address.

use super::AddressSpace;
use crate::{FreeError, FreeIndex};
use freehold_units::{Probe, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Frees the region that starts at `first`, its guard with it. Returns its usable addresses and the value.
    ///
    /// # Errors
    /// [`FreeError::AlreadyFree`], [`FreeError::Interior`], [`FreeError::Unknown`], [`FreeError::Carved`] for a
    /// region that [`AddressSpace::take_back`] alone may free, or [`FreeError::OutOfMemory`], but never on a
    /// [`BTree`](crate::BTree); nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    #[doc(alias = "free_vmap_area")]
    pub fn free(&mut self, first: u64) -> Result<(Span, V), FreeError> {
        self.free_probed(first, &mut ())
    }

    /// [`AddressSpace::free`], with the work counted.
    ///
    /// # Errors
    /// As [`AddressSpace::free`].
    #[inline]
    pub fn free_probed(&mut self, first: u64, probe: &mut impl Probe) -> Result<(Span, V), FreeError> {
        self.check_whole(first)?;
        self.free_region(first, probe)
    }

    /// Frees a region that may be carved.
    #[inline]
    pub(super) fn free_region(&mut self, first: u64, probe: &mut impl Probe) -> Result<(Span, V), FreeError> {
        self.index.reserve(1)?;
        let removed = match I::USES_BOUNDS {
            true => self.regions.remove(first, probe),
            false => self.regions.remove(first, &mut ()),
        };
        let Some(removed) = removed else { return Err(self.why_not(first)) };
        self.index.release(&self.regions, removed.taken, removed.block, probe);
        self.free_bytes += removed.taken.size_bytes();
        Ok((removed.span, removed.value))
    }

    /// Refuses the start of a carved region.
    #[inline]
    pub(super) fn check_whole(&self, first: u64) -> Result<(), FreeError> {
        if self.carved.holds(first) { Err(self.why_not(first)) } else { Ok(()) }
    }

    /// Why the region that starts at `address` cannot be freed, if one does, or why none does.
    #[cold]
    pub(super) fn why_not(&self, address: u64) -> FreeError {
        if let Some((_, entry)) = self.regions.region_at(address) {
            let region = entry.span;
            let starts = region.first() == address;
            return if starts {
                FreeError::Carved { region }
            } else {
                FreeError::Interior { address, region }
            };
        }
        match self.regions.block_at(address) {
            Some(block) => FreeError::AlreadyFree { address, block },
            None => FreeError::Unknown { address },
        }
    }
}
