//! Freeing by address, and finding the block at any address.

use super::PooledSpace;
use super::core::ASIDE;
use super::slab::{Freed, Slab};
use super::word::SlabRef;
use crate::FreeError;
use crate::atomic::Ordering;
use freehold_sys::fork::Section;
use freehold_units::Span;

impl PooledSpace {
    /// Frees the block that starts at `first`. Returns its addresses.
    ///
    /// Everything that the block's holder did before the free happens before the actions of its next holder.
    ///
    /// # Errors
    /// [`FreeError::AlreadyFree`], [`FreeError::Interior`], [`FreeError::Unknown`]; nothing was changed. If several
    /// threads free a block concurrently, one succeeds. A stale free of an address that has been handed out again frees
    /// the new holder's block.
    ///
    /// # Cost
    /// One exchange of an atomic word. Freeing an extent takes the core's lock, unless it waits for a purge; so does a
    /// refusal.
    #[inline]
    pub fn free(&self, first: u64) -> Result<Span, FreeError> {
        let name = self.map.name_at(first);
        if let Some(span) = name.and_then(|name| self.try_free(first, name)) {
            return Ok(span);
        }
        self.free_named(name, first, !self.tracks_residency)
    }

    /// As [`PooledSpace::free`], for a block that was handed out as a slot of `slab`:
    /// [`Memory::slab`](super::Memory::slab). A wrong name only costs time.
    ///
    /// # Errors
    /// As [`PooledSpace::free`]; nothing was changed.
    ///
    /// # Cost
    /// As `free`, without the page map.
    #[inline]
    pub fn free_slot(&self, first: u64, slab: SlabRef) -> Result<Span, FreeError> {
        match self.try_free(first, slab) {
            Some(span) => Ok(span),
            None => self.free_named(self.map.name_at(first), first, !self.tracks_residency),
        }
    }

    /// Fast path: one compare-exchange, no retry. `None` means: take the slow path. Any name is allowed.
    #[inline]
    fn try_free(&self, first: u64, name: SlabRef) -> Option<Span> {
        let slab = self.records.get(name.id())?;
        slab.try_free(name.generation(), first, self.list_at.load(Ordering::Relaxed))
    }

    /// Frees a block whose pages its holder has returned to the system. The block is decommitted, and an extent's
    /// addresses return to the core at once.
    ///
    /// Only the block's holder may call this: otherwise a block with contents would be handed out as zeroed.
    ///
    /// Cost: as [`PooledSpace::free`].
    ///
    /// # Errors
    /// As [`PooledSpace::free`]; nothing was changed.
    pub fn free_decommitted(&self, first: u64) -> Result<Span, FreeError> {
        let name = self.map.name_at(first);
        if self.tracks_residency
            && let Some(slab) = self.held_in(first)
        {
            slab.mark_decommitted(first);
        }
        self.free_named(name, first, true)
    }

    /// Slow path. A `decommitted` block has no pages.
    #[inline(never)]
    fn free_named(&self, name: Option<SlabRef>, first: u64, decommitted: bool) -> Result<Span, FreeError> {
        let Some(name) = name else { return Err(self.why_not(first)) };
        let _section = Section::enter();
        let mut retries = 0;
        let list_at = self.list_at.load(Ordering::Relaxed);
        let freed = self.records.at(name.id()).free(name.generation(), first, list_at, &mut retries);
        self.count_retries(retries);
        match freed {
            Freed::Done { span, owned: false, .. } => Ok(span),
            Freed::Done { span, is_extent, .. } => {
                self.keep(name, is_extent, decommitted);
                Ok(span)
            }
            Freed::AlreadyFree { block } => Err(FreeError::AlreadyFree { address: first, block }),
            Freed::Interior { region } => Err(FreeError::Interior { address: first, region }),
            Freed::Retired => Err(self.why_not(first)),
        }
    }

    /// Lists a slab that has enough free slots, and retires a decommitted extent. The caller owns it.
    #[cold]
    fn keep(&self, name: SlabRef, is_extent: bool, decommitted: bool) {
        if !is_extent {
            self.put_aside(name.id());
        } else if decommitted {
            self.retire_extent(name);
        }
    }

    /// Returns a free decommitted extent to the core. Does nothing if another thread took it again
    /// ([`PooledSpace::alloc_extent_again`]) since the caller freed it: then it is held, resident, or retired by that
    /// thread.
    pub(super) fn retire_extent(&self, name: SlabRef) {
        let mut core = self.lock();
        // Generations change only under the core's lock. Another one is another slab's, which the caller does not own.
        if self.records.at(name.id()).word().generation() == name.generation() {
            self.retire(&mut core, name.id());
        }
    }

    /// The error for an address that no live slab or extent contained.
    #[cold]
    pub(super) fn why_not(&self, address: u64) -> FreeError {
        let mut core = self.lock();
        let region = core.space.region_at(address).map(|region| *region.value());
        if region == Some(ASIDE) {
            return FreeError::Unknown { address };
        }
        if region.is_some() {
            // A slab was made here in the meantime.
            let block = Span::new(self.granule.down(address), address | self.granule.mask());
            let block = block.expect("S1: an address lies in its granule");
            return FreeError::AlreadyFree { address, block };
        }
        match core.space.free(address) {
            Err(error) => error,
            Ok(_) => unreachable!("S1: no region of the core has the address"),
        }
    }

    /// The held block that contains `address`, at its start or anywhere inside. Takes no lock and writes nothing.
    ///
    /// The answer is exact for a block that is held during the whole call, and `None` for an address that is free
    /// during the whole call.
    ///
    /// # Cost
    /// A look at the page map, one at the record, and a second load of its word.
    #[inline]
    #[must_use]
    #[doc(alias = "find_vmap_area")]
    #[doc(alias = "region_at")]
    pub fn locate(&self, address: u64) -> Option<Span> {
        let name = self.map.name_at(address)?;
        self.records.at(name.id()).held_at(name.generation(), address)
    }

    /// The slab or extent of the held block that starts at `first`.
    pub(super) fn held_in(&self, first: u64) -> Option<&Slab> {
        let name = self.map.name_at(first)?;
        let slab = self.records.at(name.id());
        slab.held_at(name.generation(), first).filter(|span| span.first() == first).map(|_| slab)
    }
}
