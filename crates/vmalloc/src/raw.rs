//! Handles that are taken apart and put together again, for allocators and coroutines that keep bare pointers; blocks that
//! grow, or give a part of their memory back.

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
    /// The bytes alone. They are leaked unless [`Block::from_raw`] makes a block of them again.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn into_raw(self) -> NonNull<[u8]> {
        let block = ManuallyDrop::new(self);
        NonNull::slice_from_raw_parts(block.as_ptr(), block.len())
    }

    /// The block that [`Block::into_raw`] took apart.
    ///
    /// # Cost
    /// Constant: a look at the page map.
    ///
    /// # Safety
    /// - `bytes` came from `into_raw` of a block of this `vm`, or starts there and is as long after [`Block::grow`].
    /// - No other block was made of them since.
    #[must_use]
    pub unsafe fn from_raw(vm: &'a VirtualMemory, bytes: NonNull<[u8]>) -> Self {
        let start = bytes.cast::<u8>();
        let slab = vm.shared.zones().blocks().space.slab_ref(start.addr().get() as u64);
        // SAFETY: the bytes are a block's, and nobody else has it, as the caller says.
        Self::new(&vm.shared, unsafe { Pages::new(start, bytes.len()) }, slab)
    }

    /// Makes the block longer where it is, to `len_bytes` rounded up to whole pages. What is new is zero, or holds anything.
    ///
    /// # Errors
    /// [`AllocError::Addresses`] if its place has no more bytes: it is one of four sizes for each doubling. Nothing was changed.
    ///
    /// # Cost
    /// Constant, and clearing what is new.
    pub fn grow(&mut self, len_bytes: usize, zero: Zero) -> Result<(), AllocError> {
        let len = whole_pages(len_bytes).ok_or(kva::AllocError::SizeOverflow)?;
        let span = self.shared().zones().locate(self.address()).expect("V1: what is held is found");
        let room_bytes = span.size_saturating();
        if len as u64 > room_bytes {
            return Err(kva::AllocError::TooLarge { size_bytes: len as u64, room_bytes }.into());
        }
        let before = self.len();
        if len > before {
            // SAFETY: all of its place is the block's, and committed (V5).
            *self.pages_mut() = unsafe { Pages::new(self.as_ptr(), len) };
            if zero == Zero::Yes {
                self.pages_mut().zero(before..len);
            }
        }
        Ok(())
    }

    /// Gives the memory of a part back, while the block is held: the whole pages of `bytes` are zero, and take memory when they
    /// are written again. A range that ends behind the block ends with it.
    ///
    /// # Errors
    /// The system refused. What the pages hold is unknown.
    ///
    /// # Cost
    /// A system call.
    pub fn release(&mut self, bytes: Range<usize>) -> Result<(), SysError> {
        let shared = self.shared();
        release(shared, self.pages_mut(), bytes)
    }
}

impl Slot<'_> {
    /// As [`Block::release`], of a slot.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// A system call.
    pub fn release(&mut self, bytes: Range<usize>) -> Result<(), SysError> {
        let shared = self.shared();
        release(shared, self.pages_mut(), bytes)
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
    /// The held slot of a pool that starts at an address.
    ///
    /// # Safety
    /// The slot was forgotten, and nobody else has it.
    unsafe fn from_start(pool: &'a Slots<'a>, start: NonNull<u8>) -> Self {
        let position = pool.position_of(start.addr().get() as u64).expect("V1: a slot is in its pool");
        // SAFETY: as the caller says.
        Self::from_parts(pool, unsafe { Pages::new(start, pool.slot_bytes()) }, position)
    }
}

impl<'a> Stack<'a> {
    /// Its base alone. The stack is leaked unless [`Stack::from_raw`] makes one of it again.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn into_raw(self) -> NonNull<u8> {
        ManuallyDrop::new(self).base()
    }

    /// The stack that [`Stack::into_raw`] took apart.
    ///
    /// # Cost
    /// Constant: a look at the page map.
    ///
    /// # Safety
    /// - `base` came from `into_raw` of a stack of this pool.
    /// - No other stack was made of it since, and nobody runs on it when this is dropped.
    #[must_use]
    pub unsafe fn from_raw(pool: &'a StackPool<'a>, base: NonNull<u8>) -> Self {
        // SAFETY: the stack lies below its base.
        let start = unsafe { base.sub(pool.slots().slot_bytes()) };
        // SAFETY: as the caller says.
        Self::of(unsafe { Slot::from_start(pool.slots(), start) })
    }
}
