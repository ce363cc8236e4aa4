//! Raw handles, for allocators and coroutines that keep bare pointers; blocks that grow, or decommit a part.

use crate::block::Block;
use crate::error::AllocError;
use crate::mapping::{Pages, whole_pages};
use crate::memory::VirtualMemory;
use crate::scrub::Scrub;
use crate::scrub::Zero;
use crate::slots::{Slot, Slots};
use crate::stack::{Stack, StackPool};
use freehold_kva as kva;
use freehold_sys::{SysError, page_bytes};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;

impl<'a> Block<'a> {
    /// Turns the block into its bytes. They leak unless [`Block::from_raw`] turns them into a block again.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn into_raw(self) -> NonNull<[u8]> {
        let block = ManuallyDrop::new(self);
        NonNull::slice_from_raw_parts(block.as_ptr(), block.len())
    }

    /// The block that [`Block::into_raw`] turned into bytes.
    ///
    /// # Cost
    /// Constant: a lookup in the page map.
    ///
    /// # Safety
    /// - `bytes` came from `into_raw` of a block of this `vm`, or starts there and has the length after
    ///   [`Block::grow`].
    /// - No other block has been made of them since.
    #[must_use]
    pub unsafe fn from_raw(vm: &'a VirtualMemory, bytes: NonNull<[u8]>) -> Self {
        let start = bytes.cast::<u8>();
        let slab = vm.shared.zones().blocks().space.slab_ref(start.addr().get() as u64);
        // SAFETY: the bytes are a block's, and nobody else has it, as the caller guarantees.
        Self::new(&vm.shared, unsafe { Pages::new(start, bytes.len()) }, slab)
    }

    /// Grows the block in place to `len_bytes`, rounded up to whole pages. The new bytes are zero with `Zero::Yes`,
    /// otherwise anything.
    ///
    /// # Errors
    /// [`AllocError::Addresses`] if its slot has no more bytes: the slot has one of four sizes for each doubling.
    /// Nothing has changed then.
    ///
    /// # Cost
    /// Constant, and clearing the new bytes if asked.
    pub fn grow(&mut self, len_bytes: usize, zero: Zero) -> Result<(), AllocError> {
        let len = whole_pages(len_bytes).ok_or(kva::AllocError::SizeOverflow)?;
        let span = self.shared.zones().locate(self.address()).expect("V1: what is held is found");
        let room_bytes = span.size_saturating();
        if len as u64 > room_bytes {
            return Err(kva::AllocError::TooLarge { size_bytes: len as u64, room_bytes, window: span }.into());
        }
        let before = self.len();
        if len > before {
            // SAFETY: the whole slot is the block's, and committed (V5).
            self.pages = unsafe { Pages::new(self.as_ptr(), len) };
            if zero == Zero::Yes {
                self.pages.zero(before..len);
            }
        }
        Ok(())
    }

    /// Decommits a part while the block is held: the whole pages within `bytes` are zero, and take memory when they are
    /// written again. A range that ends after the block is cut at its end.
    ///
    /// # Errors
    /// The system refused. The content of the pages is unknown.
    ///
    /// # Cost
    /// A system call.
    pub fn release(&mut self, bytes: Range<usize>) -> Result<(), SysError> {
        self.shared.zones().blocks().space.set_populated(self.address(), false);
        release(self.shared, &mut self.pages, bytes)
    }
}

impl Slot<'_> {
    /// As [`Block::release`], for a slot.
    ///
    /// # Errors
    /// As for [`Block::release`].
    ///
    /// # Cost
    /// A system call.
    pub fn release(&mut self, bytes: Range<usize>) -> Result<(), SysError> {
        release(self.pool.shared, &mut self.pages, bytes)
    }
}

fn release(shared: &Scrub, pages: &mut Pages, bytes: Range<usize>) -> Result<(), SysError> {
    let page = page_bytes();
    let end = bytes.end.min(pages.len()) / page * page;
    match bytes.start.checked_next_multiple_of(page) {
        Some(start) if start < end => shared.mapping().decommit(pages, start..end),
        _ => Ok(()),
    }
}

impl<'a> Slot<'a> {
    /// Turns the slot into its start. The slot leaks unless [`Slot::from_raw`] makes one of it again.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn into_raw(self) -> NonNull<u8> {
        ManuallyDrop::new(self).as_ptr()
    }

    /// The slot that [`Slot::into_raw`] turned into its start. What was declared by [`Slot::used`] is forgotten.
    ///
    /// # Cost
    /// Constant: a lookup in the page map.
    ///
    /// # Safety
    /// - `start` came from `into_raw` of a slot of this pool, all of which is accessible.
    /// - No other slot has been made of it since.
    #[must_use]
    pub unsafe fn from_raw(pool: &'a Slots<'a>, start: NonNull<u8>) -> Self {
        let position = pool.position_of(start.addr().get() as u64).expect("V1: a slot is in its pool");
        // SAFETY: guaranteed by the caller.
        Self::from_parts(pool, unsafe { Pages::new(start, pool.slot_bytes()) }, position)
    }
}

impl<'a> Stack<'a> {
    /// Turns the stack into its base. The stack leaks unless [`Stack::from_raw`] makes one of it again.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn into_raw(self) -> NonNull<u8> {
        ManuallyDrop::new(self).base()
    }

    /// The stack that [`Stack::into_raw`] turned into its base.
    ///
    /// # Cost
    /// Constant: a lookup in the page map.
    ///
    /// # Safety
    /// - `base` came from `into_raw` of a stack of this pool.
    /// - No other stack has been made of it since, and no code runs on it when this is dropped.
    #[must_use]
    pub unsafe fn from_raw(pool: &'a StackPool<'a>, base: NonNull<u8>) -> Self {
        // SAFETY: the stack lies below its base.
        let start = unsafe { base.sub(pool.slots.slot_bytes()) };
        // SAFETY:
        // - The stack was its slot, all of which is accessible in a pool of stacks.
        // - The rest is guaranteed by the caller.
        Self { slot: unsafe { Slot::from_raw(&pool.slots, start) } }
    }
}
