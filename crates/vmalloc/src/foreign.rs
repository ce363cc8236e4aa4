//! Other crates' traits, each behind a feature of the crate's name: `corosensei` (stacks) and `allocator-api2` (an allocator).

#[cfg(feature = "allocator-api2")]
mod allocator {
    use crate::block::Block;
    use crate::memory::VirtualMemory;
    use crate::scrub::Zero;
    use allocator_api2::alloc::{AllocError, Allocator};
    use freehold_kva::Request;
    use std::alloc::Layout;
    use std::ptr::NonNull;

    /// Each allocation is a block, whole pages: for large tables and buffers. References to it are allocators, too: collections that
    /// outlive a scope have one to a `static`.
    ///
    /// # Errors
    /// As [`VirtualMemory::alloc`], without the reason.
    ///
    /// # Cost
    /// As [`VirtualMemory::alloc`]; aligned to more than a page as [`VirtualMemory::alloc_request`]. To grow within the block's place
    /// copies nothing.
    // SAFETY:
    // - A block's pages are its holder's until it is dropped, which `deallocate` does, wherever the `VirtualMemory` is moved.
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
                // SAFETY: as the caller says, it is an allocation of this allocator.
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
                // SAFETY: as the caller says, it is an allocation of this allocator.
                let block = unsafe { block_at(self, start) };
                // All of its place is the allocation's already.
                let bytes = block.into_raw();
                if bytes.len() >= new.size() {
                    return Ok(bytes);
                }
            }
            let bytes = self.allocate(new)?;
            // SAFETY: the old allocation has `old.size()` bytes, the new one more, and they are different.
            unsafe { bytes.cast::<u8>().copy_from_nonoverlapping(start, old.size()) };
            // SAFETY: as the caller says.
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

    /// The block of an allocation, all of its place.
    ///
    /// # Safety
    /// `start` is the start of a block of `vm` that was taken apart, and nobody else makes one of it.
    unsafe fn block_at(vm: &VirtualMemory, start: NonNull<u8>) -> Block<'_> {
        let place = vm.locate(start.addr().get() as u64).expect("V1: what is held is found");
        let bytes = NonNull::slice_from_raw_parts(start, place.size_saturating() as usize);
        // SAFETY: as the caller says; a block may grow to the end of its place.
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
            // SAFETY: the memory between is the stack's alone as long as the value lives; its ends are multiples of a page, and
            // its lowest pages are a guard.
            unsafe impl Coroutines for $name {
                #[inline]
                fn base(&self) -> StackPointer {
                    Stack::base(self).addr()
                }

                /// The guard counts, as corosensei's own stacks have it.
                #[inline]
                fn limit(&self) -> StackPointer {
                    self.guard().addr()
                }
            }
        )*};
    }

    stack! { Stack<'_> OwnedStack }
}
