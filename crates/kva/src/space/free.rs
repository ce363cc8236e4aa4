//! Freeing by address.

use super::AddressSpace;
use crate::busy::Entry;
use crate::{FreeError, FreeIndex};
use freehold_units::{Probe, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Frees the region that starts at `first`, its guard with it. Returns its usable addresses and the value.
    ///
    /// # Errors
    /// [`FreeError::AlreadyFree`], [`FreeError::Interior`], [`FreeError::Unknown`] or
    /// [`FreeError::OutOfMemory`]; nothing was changed.
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
        // Both ways before either leaf is looked at, so that the waits for memory overlap.
        let (busy_way, free_way) = (self.busy.way_to(first), self.free.way_to(first));
        let Some((found, entry)) = self.busy.find(busy_way, first) else {
            return Err(self.why_not(first));
        };
        let (usable, taken) = (entry.span, self.taken(&entry));
        self.free.reserve(1)?;
        if let Err(block) = self.give_back(free_way, taken, probe) {
            return Err(FreeError::AlreadyFree { address: first, block });
        }
        Ok((usable, self.busy.remove(&found)))
    }

    /// Returns what a region held to the free index; a block was reserved. K4 keeps regions and free blocks apart,
    /// so the error, a free block that overlaps, is not reached; if it were, nothing was changed.
    #[inline]
    pub(super) fn give_back(
        &mut self,
        way: I::Way,
        taken: Span,
        probe: &mut impl Probe,
    ) -> Result<(), Span> {
        self.free.release(way, taken, probe)?;
        self.free_bytes += taken.size_bytes();
        Ok(())
    }

    /// The addresses that a region keeps from others: its own and its guard's.
    pub(super) fn taken(&self, entry: &Entry<'_, V>) -> Span {
        let guard_bytes = u64::from(entry.guard_granules).saturating_mul(self.granule.bytes());
        let last = entry.span.last().saturating_add(guard_bytes);
        Span::new(entry.span.first(), last).unwrap_or(entry.span)
    }

    #[cold]
    pub(super) fn why_not(&self, address: u64) -> FreeError {
        let below = self.busy.at_or_below(address);
        if let Some(entry) = below.filter(|entry| self.taken(entry).contains(address)) {
            return FreeError::Interior { address, region: entry.span };
        }
        match self.free.at_or_below(address) {
            Some((_, block)) if block.contains(address) => FreeError::AlreadyFree { address, block },
            _ => FreeError::Unknown { address },
        }
    }
}
