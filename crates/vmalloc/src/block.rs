//! A block of memory that somebody holds.

use crate::mapping::Pages;
use crate::memory::Shared;
use crate::zone::{Held, Zone};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Whole pages of memory, from [`VirtualMemory::alloc`](crate::VirtualMemory::alloc). They are bytes to read and write; dropped, they
/// are free again.
///
/// What was not asked to be zero holds what some earlier block did. Who writes through [`Block::as_ptr`] leaves only
/// initialized bytes.
pub struct Block<'a> {
    shared: &'a Shared,
    zone: &'a Arc<Zone>,
    pages: Pages,
    /// Of its slot, all of which may have pages.
    slot_bytes: u64,
    is_extent: bool,
}

impl<'a> Block<'a> {
    #[inline]
    pub(crate) fn new(shared: &'a Shared, zone: &'a Arc<Zone>, held: Held) -> Self {
        let Held { pages, slot_bytes, is_extent, .. } = held;
        Self { shared, zone, pages, slot_bytes, is_extent }
    }

    /// The first byte.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.pages.start()
    }

    /// The address of the first byte.
    #[inline]
    #[must_use]
    pub fn address(&self) -> u64 {
        self.as_ptr().addr().get() as u64
    }
}

impl Drop for Block<'_> {
    #[inline]
    fn drop(&mut self) {
        // In its zone, blocks are where they are in memory.
        let (position, slot_bytes, is_extent) = (self.address(), self.slot_bytes, self.is_extent);
        // An extent is never warm, but counted until its pages are given back.
        if is_extent {
            self.shared.warm.add(slot_bytes);
        } else if self.shared.give_back_warm(self.zone, position, slot_bytes) {
            return;
        }
        let pages = std::mem::replace(&mut self.pages, Pages::none());
        let held = Held { pages, position, slot_bytes, is_warm: true, is_extent };
        self.shared.take_back(self.zone, held, slot_bytes);
    }
}

impl Deref for Block<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.pages.bytes()
    }
}

impl DerefMut for Block<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.pages.bytes_mut()
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Block");
        shown.field("address", &self.as_ptr()).field("len_bytes", &self.len()).finish()
    }
}
