//! Frees regions by address.

use super::AddressSpace;
use crate::FreeError;
use crate::regions::Removed;
use freehold_units::{Probe, Span};

impl<V> AddressSpace<V> {
    /// Frees the region that starts at `first`, with its guard. Returns its usable addresses and the value.
    ///
    /// # Errors
    /// [`FreeError::AlreadyFree`], [`FreeError::Interior`], [`FreeError::Unknown`]; [`FreeError::Carved`] for a region
    /// that only [`AddressSpace::take_back`] may free; [`FreeError::Moving`] for a region with a pending move.
    /// [`FreeError::OutOfMemory`] is possible only after a request for [best fit](crate::Placement::BestFit). Nothing
    /// was changed.
    ///
    /// # Cost
    /// O(log n).
    #[doc(alias = "free_vmap_area")]
    pub fn free(&mut self, first: u64) -> Result<(Span, V), FreeError> {
        self.free_probed(first, &mut ())
    }

    /// [`AddressSpace::free`], with the work counted.
    ///
    /// Cost: as [`AddressSpace::free`].
    ///
    /// # Errors
    /// As [`AddressSpace::free`].
    #[inline]
    pub fn free_probed(&mut self, first: u64, probe: &mut impl Probe) -> Result<(Span, V), FreeError> {
        self.check_whole(first)?;
        self.free_region(first, probe)
    }

    /// Frees the region whose usable addresses are exactly `span`, with its guard. Returns the value.
    ///
    /// # Errors
    /// [`FreeError::OtherSpan`] if the region that starts there is longer or shorter; else as [`AddressSpace::free`].
    /// Nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    pub fn free_exact(&mut self, span: Span) -> Result<V, FreeError> {
        let Some((_, entry)) = self.regions.region(span.first()) else {
            return Err(self.why_not(span.first()));
        };
        let region = entry.span;
        self.check_whole(region.first())?;
        if region != span {
            return Err(FreeError::OtherSpan { span, region });
        }
        self.free_region(region.first(), &mut ()).map(|(_, value)| value)
    }

    /// Makes sure that [`free`](Self::free) will not be refused. Returns the usable addresses.
    #[cfg(feature = "std")]
    pub(crate) fn prepare_free(&mut self, first: u64) -> Result<Span, FreeError> {
        self.check_whole(first)?;
        self.reserve_blocks(1)?;
        self.regions.region(first).map(|(_, entry)| entry.span).ok_or_else(|| self.why_not(first))
    }

    /// Frees a region, which may be carved.
    #[inline]
    pub(super) fn free_region(&mut self, first: u64, probe: &mut impl Probe) -> Result<(Span, V), FreeError> {
        self.reserve_blocks(1)?;
        let Some(removed) = self.free_entry(first, probe) else { return Err(self.why_not(first)) };
        Ok((removed.span, removed.value.expect("K16: a placeholder is freed by its move alone")))
    }

    /// Frees a region or a placeholder. The caller has reserved a block.
    #[inline]
    pub(super) fn free_entry(&mut self, first: u64, probe: &mut impl Probe) -> Option<Removed<V>> {
        let removed = self.regions.remove(first, probe)?;
        self.join(removed.block, removed.taken, probe);
        self.free_bytes += removed.taken.size_bytes();
        Some(removed)
    }

    /// Refuses the start of a carved region, of a moving region, and of a placeholder.
    #[inline]
    pub(super) fn check_whole(&self, first: u64) -> Result<(), FreeError> {
        if self.carved.holds(first) || self.moves.involve(first) { Err(self.why_not(first)) } else { Ok(()) }
    }

    /// The reason why the region that starts at `address` cannot be freed, or why no region starts there.
    #[cold]
    pub(super) fn why_not(&self, address: u64) -> FreeError {
        if let Some((_, entry)) = self.regions.region_at(address) {
            let (region, starts) = (entry.span, entry.span.first() == address);
            return if let Some(first) = self.moves.region_of(&entry) {
                let (_, mover) = self.regions.region(first).expect("K16: a placeholder is a region's");
                FreeError::Moving { region: mover.span }
            } else if starts && self.moves.involve(address) {
                FreeError::Moving { region }
            } else if starts {
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
