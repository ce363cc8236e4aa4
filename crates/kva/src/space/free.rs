//! Freeing by address.

use super::AddressSpace;
use crate::index::Map;
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
        let Some((place, entry)) = self.map.region(first) else { return Err(self.why_not(first)) };
        let (usable, taken) = (entry.span, entry.taken);
        self.map.reserve(0, 1)?;
        match self.map.vacate(place, taken, probe) {
            Some(value) => {
                self.free_bytes += taken.size_bytes();
                Ok((usable, value))
            }
            None => Err(self.why_not(first)),
        }
    }

    /// Refuses the start of a carved region.
    #[inline]
    pub(super) fn check_whole(&self, first: u64) -> Result<(), FreeError> {
        if self.carved.holds(first) { Err(self.why_not(first)) } else { Ok(()) }
    }

    /// Why the region that starts at `address` cannot be freed, if one does, or why none does.
    #[cold]
    pub(super) fn why_not(&self, address: u64) -> FreeError {
        if let Some(entry) = self.map.region_at(address) {
            let region = entry.span;
            let starts = region.first() == address;
            return if starts {
                FreeError::Carved { region }
            } else {
                FreeError::Interior { address, region }
            };
        }
        match self.map.block_at_or_below(address) {
            Some((_, block)) if block.contains(address) => FreeError::AlreadyFree { address, block },
            _ => FreeError::Unknown { address },
        }
    }
}
