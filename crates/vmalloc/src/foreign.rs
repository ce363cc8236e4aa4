//! Other crates' traits, each behind a feature of the crate's name: `corosensei` (stacks) and `allocator-api2` (an
//! allocator).

#[cfg(feature = "allocator-api2")]
mod allocator {
    use crate::block::Block;
    use crate::memory::VirtualMemory;
    use crate::scrub::Zero;
    use allocator_api2::alloc::{AllocError, Allocator};
    use freehold_kva::Request;
    use std::alloc::Layout;
    use std::ptr::NonNull;

    /// Each allocation is a block, in whole pages: meant for large tables and buffers. References to it are allocators,
    /// too. Collections that outlive a scope hold one to a `static`.
    ///
    /// # Errors
    /// As [`VirtualMemory::alloc`], but without the cause.
    ///
    /// # Cost
    /// As [`VirtualMemory::alloc`]; with an alignment above a page, as [`VirtualMemory::alloc_request`]. Growing within
    /// the block's slot copies nothing.
    // SAFETY:
    // - A block's pages belong to its holder until `deallocate` drops it, even if the `VirtualMemory` is moved.
    // - It has no clones. References share it.
    unsafe impl Allocator for VirtualMemory {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            place(self, layout, Zero::No)
        }

        fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            place(self, layout, Zero::Yes)
        }

        unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
            if layout.size() > 0 {
                // SAFETY: it is an allocation of this allocator, as the caller guarantees.
                drop(unsafe { block_at(self, start) });
            }
        }

        unsafe fn grow(
            &self,
            start: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, AllocError> {
            if old.size() > 0 && start.addr().get().is_multiple_of(new.align()) {
                // SAFETY: it is an allocation of this allocator, as the caller guarantees.
                let block = unsafe { block_at(self, start) };
                // The allocation already has the whole slot.
                let bytes = block.into_raw();
                if bytes.len() >= new.size() {
                    return Ok(bytes);
                }
            }
            let bytes = self.allocate(new)?;
            // SAFETY:
            // - The old allocation has `old.size()` bytes, and the new one more.
            // - They are different.
            unsafe { bytes.cast::<u8>().copy_from_nonoverlapping(start, old.size()) };
            // SAFETY: guaranteed by the caller.
            unsafe { self.deallocate(start, old) };
            Ok(bytes)
        }
    }

    fn place(vm: &VirtualMemory, layout: Layout, zero: Zero) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            let nowhere = std::ptr::without_provenance_mut(layout.align());
            return Ok(NonNull::slice_from_raw_parts(NonNull::new(nowhere).ok_or(AllocError)?, 0));
        }
        let block = if layout.align() <= crate::page_bytes() {
            vm.alloc(layout.size(), zero)
        } else {
            let request = Request::new(layout.size() as u64).align_bytes(layout.align() as u64);
            vm.alloc_request(&request, zero)
        };
        Ok(block.map_err(|_| AllocError)?.into_raw())
    }

    /// The block of an allocation, with its whole slot.
    ///
    /// # Safety
    /// - `start` is the start of a block of `vm` that was turned into raw bytes.
    /// - Nobody else makes a block of it.
    unsafe fn block_at(vm: &VirtualMemory, start: NonNull<u8>) -> Block<'_> {
        let place = vm.locate(start.addr().get() as u64).expect("V1: what is held is found");
        let bytes = NonNull::slice_from_raw_parts(start, place.size_saturating() as usize);
        // SAFETY: guaranteed by the caller; a block may grow to the end of its slot.
        unsafe { Block::from_raw(vm, bytes) }
    }
}

#[cfg(feature = "corosensei")]
mod coroutines {
    use crate::owned::OwnedStack;
    use crate::stack::Stack;
    use corosensei::stack::{Stack as Coroutines, StackPointer};

    macro_rules! stack {
        ($($name:ty)*) => {$(
            // SAFETY:
            // - Only the stack uses the memory between its ends while the value lives.
            // - The ends are multiples of a page.
            // - The lowest pages are a guard, or no coroutine gets the stack.
            unsafe impl Coroutines for $name {
                /// # Panics
                /// The stack has no guard, so that an overflow would write to another stack.
                #[inline]
                fn base(&self) -> StackPointer {
                    assert!(self.slot.guard_bytes() > 0, "a coroutine's stack needs a guard: `StackLayout::guard`");
                    Stack::base(self).addr()
                }

                /// Includes the guard, as in corosensei's own stacks.
                #[inline]
                fn limit(&self) -> StackPointer {
                    self.guard().addr()
                }
            }
        )*};
    }

    stack! { Stack<'_> OwnedStack }
}
