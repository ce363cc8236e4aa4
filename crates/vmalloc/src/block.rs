//! A held block of memory.

use crate::mapping::{Pages, as_bytes};
use crate::scrub::Scrub;
use crate::zone::Held;
use freehold_kva::pooled::SlabRef;
use std::fmt;
use std::ptr::NonNull;

/// Whole pages of memory, from [`VirtualMemory::alloc`](crate::VirtualMemory::alloc), as bytes to read and write.
/// Dropping the block frees it. A forgotten block (`mem::forget`) is leaked until the
/// [`VirtualMemory`](crate::VirtualMemory) is dropped.
///
/// A block from `Zero::No` holds what an earlier block left there. Code that writes through [`Block::as_ptr`] must
/// leave only initialized bytes.
pub struct Block<'a> {
    pub(crate) shared: &'a Scrub,
    pub(crate) pages: Pages,
    /// The slab of its slot; `None` for an extent.
    slab: Option<SlabRef>,
}

impl<'a> Block<'a> {
    #[inline]
    pub(crate) fn new(shared: &'a Scrub, pages: Pages, slab: Option<SlabRef>) -> Self {
        Self { shared, pages, slab }
    }

    /// The first byte.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.pages.start()
    }

    /// The address of the first byte.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    pub fn address(&self) -> u64 {
        self.as_ptr().addr().get() as u64
    }
}

impl Drop for Block<'_> {
    #[inline]
    fn drop(&mut self) {
        let residency = &self.shared.residency;
        if !self.slab.is_some_and(|slab| residency.free_block_fast(self.address(), self.pages.len(), slab)) {
            take_back(self.shared, std::mem::replace(&mut self.pages, Pages::none()), self.slab);
        }
    }
}

/// Takes back a block that the fast path refused, or an extent.
#[cold]
#[inline(never)]
fn take_back(shared: &Scrub, pages: Pages, slab: Option<SlabRef>) {
    let (zone, position) = (shared.zones().blocks(), pages.start().addr().get() as u64);
    let span = zone.space.locate(position).expect("V1: what is held is found");
    let slot_bytes = span.size_saturating();
    if slab.is_none() {
        // The fast path counts slots.
        shared.residency.resident.add(slot_bytes);
    }
    let used_bytes = pages.len();
    let held = Held { pages, position, slot_bytes, used_bytes, is_resident: true, slab };
    shared.residency.take_back(zone, held, slot_bytes);
}

as_bytes! { Block<'_> { pages } }

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Block");
        shown.field("address", &self.as_ptr()).field("len_bytes", &self.len()).finish()
    }
}
