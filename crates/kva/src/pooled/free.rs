//! Freeing by address, and finding the block at any address.

use super::PooledSpace;
use super::core::ASIDE;
use super::slab::Freed;
use super::word::SlabRef;
use crate::FreeError;
use crate::atomic::Ordering;
use freehold_units::Span;

impl PooledSpace {
    /// Frees the block that starts at `first`. Returns its addresses.
    ///
    /// What the block's holder did before happens before what the next holder does.
    ///
    /// # Errors
    /// [`FreeError::AlreadyFree`], [`FreeError::Interior`], [`FreeError::Unknown`]; nothing was changed. Of several threads that
    /// free a block at one time, one succeeds. An address that has been handed out again is its new holder's, whoever
    /// frees it.
    ///
    /// # Cost
    /// One exchange of an atomic word. An extent takes the core's lock, unless it waits to be purged; so does a refusal.
    #[inline]
    pub fn free(&self, first: u64) -> Result<Span, FreeError> {
        let name = self.map.name_at(first);
        if let Some(span) = name.and_then(|name| self.try_free(first, name)) {
            return Ok(span);
        }
        self.free_named(name, first, !self.tracks_residency)
    }

    /// As [`PooledSpace::free`], of a block that was handed out as a slot of that slab: [`Memory::slab`](super::Memory::slab). A
    /// wrong name costs time and changes nothing else.
    ///
    /// # Errors
    /// As [`PooledSpace::free`]; nothing was changed.
    ///
    /// # Cost
    /// That of `free`, but for the page map.
    #[inline]
    pub fn free_slot(&self, first: u64, slab: SlabRef) -> Result<Span, FreeError> {
        match self.try_free(first, slab) {
            Some(span) => Ok(span),
            None => self.free_named(self.map.name_at(first), first, !self.tracks_residency),
        }
    }

    /// One attempt in the usual case; `None` says nothing. The name may be any.
    #[inline]
    fn try_free(&self, first: u64, name: SlabRef) -> Option<Span> {
        let slab = self.records.get(name.id())?;
        slab.try_free(name.generation(), first, self.list_at.load(Ordering::Relaxed))
    }

    /// Frees a block whose pages its holder has given back to the system: it is decommitted, and an extent's addresses go back
    /// to the core at once.
    ///
    /// Only who holds the block may call this: said by another, what is not zero would pass for zero.
    ///
    /// Cost: as [`PooledSpace::free`].
    ///
    /// # Errors
    /// As [`PooledSpace::free`]; nothing was changed.
    pub fn free_decommitted(&self, first: u64) -> Result<Span, FreeError> {
        let name = self.map.name_at(first);
        let held = self.locate(first).filter(|span| span.first() == first);
        if self.tracks_residency
            && let (Some(name), Some(_)) = (name, held)
        {
            self.records.at(name.id()).mark_decommitted(first);
        }
        self.free_named(name, first, true)
    }

    /// Frees in every case. A `decommitted` block has no pages.
    #[inline(never)]
    fn free_named(&self, name: Option<SlabRef>, first: u64, decommitted: bool) -> Result<Span, FreeError> {
        let Some(name) = name else { return Err(self.why_not(first)) };
        let mut retries = 0;
        let list_at = self.list_at.load(Ordering::Relaxed);
        let freed = self.records.at(name.id()).free(name.generation(), first, list_at, &mut retries);
        if retries != 0 {
            self.shards.here().count_retries(retries);
        }
        match freed {
            Freed::Done { span, owned: false, .. } => Ok(span),
            Freed::Done { span, is_extent, .. } => {
                self.keep(name.id(), is_extent, decommitted);
                Ok(span)
            }
            Freed::AlreadyFree { block } => Err(FreeError::AlreadyFree { address: first, block }),
            Freed::Interior { region } => Err(FreeError::Interior { address: first, region }),
            Freed::Retired => Err(self.why_not(first)),
        }
    }

    /// What becomes of a slab that has enough free slots, and of a free extent.
    #[cold]
    fn keep(&self, id: u32, is_extent: bool, decommitted: bool) {
        if !is_extent {
            self.put_aside(id);
        } else if decommitted {
            self.retire_extent(id);
        }
    }

    /// Gives a free decommitted extent back to the core. The caller owns it.
    pub(super) fn retire_extent(&self, id: u32) {
        let retired = self.retire(&mut self.lock(), id);
        debug_assert!(retired.is_some(), "S4: who frees an extent is alone in retiring it");
    }

    /// Why nothing is freed at an address that no live slab or extent had.
    #[cold]
    fn why_not(&self, address: u64) -> FreeError {
        let mut core = self.lock();
        let region = core.space.region_at(address).map(|region| *region.value());
        if region == Some(ASIDE) {
            return FreeError::Unknown { address };
        }
        if region.is_some() {
            // A slab was made here since.
            let block = Span::new(self.granule.down(address), address | self.granule.mask());
            let block = block.expect("S1: an address lies in its granule");
            return FreeError::AlreadyFree { address, block };
        }
        match core.space.free(address) {
            Err(error) => error,
            Ok(_) => unreachable!("S1: no region of the core has the address"),
        }
    }

    /// The block that `address` belongs to, at its start or anywhere inside, if it is held. No lock, no write.
    ///
    /// The answer is exact for a block that is held for as long as the call takes, and none for an address that is free as
    /// long.
    ///
    /// # Cost
    /// The page map, the record, the word once more.
    #[inline]
    #[must_use]
    #[doc(alias = "find_vmap_area")]
    pub fn locate(&self, address: u64) -> Option<Span> {
        let name = self.map.name_at(address)?;
        self.records.at(name.id()).held_at(name.generation(), address)
    }
}
