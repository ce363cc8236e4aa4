//! The library's memory is malloc's, so that valgrind and sanitizers see it.
//!
//! A Rust allocation that cannot return an error aborts. Calls that contain one set memory aside first: where malloc
//! refuses, such an allocation takes a block that was set aside. If setting aside is refused, the call returns
//! `FH_ENOMEM`, and has changed nothing.

use freehold::units::OutOfMemory;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ptr;

/// Alignments up to this are malloc's own.
const MALLOC_ALIGN: usize = 16;

/// The alignment of blocks that are set aside: two cache lines, which is the most that a type of the engines has.
const ASIDE_ALIGN: usize = 128;

struct Malloc;

#[global_allocator]
static MALLOC: Malloc = Malloc;

// SAFETY: blocks come from malloc's family, of which each may be freed by `free`, however it was made. A block has at
// least the size and the alignment that the layout asks for.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = if layout.align() <= MALLOC_ALIGN {
            // SAFETY: malloc takes any size.
            unsafe { libc::malloc(layout.size()) }
        } else {
            // SAFETY: a layout's alignment is a power of two, and here a multiple of a pointer's size.
            unsafe { libc::memalign(layout.align(), layout.size()) }
        };
        if block.is_null() { take_spare(layout) } else { block.cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block came from malloc's family.
        unsafe { libc::free(block.cast()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: calloc takes any size.
            let block: *mut u8 = unsafe { libc::calloc(1, layout.size()) }.cast();
            if !block.is_null() {
                return block;
            }
        }
        // SAFETY: the caller's promise is the same.
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            // SAFETY: the block has that size.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: the block came from malloc's family.
            let block: *mut u8 = unsafe { libc::realloc(old.cast(), new_size) }.cast();
            if !block.is_null() {
                return block;
            }
        }
        // SAFETY: the caller promises that the new size, rounded up to the alignment, is no more than `isize::MAX`.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !new.is_null() {
            // SAFETY:
            // - both blocks have at least that many bytes, and are different;
            // - the old one came from malloc's family.
            unsafe {
                ptr::copy_nonoverlapping(old, new, layout.size().min(new_size));
                libc::free(old.cast());
            }
        }
        new
    }
}

/// The head of a block that is set aside. It lies in the block itself.
struct Block {
    next: *mut Block,
    size_bytes: usize,
}

thread_local! {
    /// The blocks that this thread has set aside. Without a drop, so the first access needs no memory.
    static ASIDE: Cell<*mut Block> = const { Cell::new(ptr::null_mut()) };
}

/// The first block that is large enough; null if there is none.
fn take_spare(layout: Layout) -> *mut u8 {
    if layout.align() > ASIDE_ALIGN {
        return ptr::null_mut();
    }
    ASIDE.with(|head| {
        let (mut before, mut block) = (ptr::null_mut::<Block>(), head.get());
        while !block.is_null() {
            // SAFETY: blocks of the list are this thread's, and have a head.
            let Block { next, size_bytes } = unsafe { block.read() };
            if size_bytes >= layout.size() {
                if before.is_null() {
                    head.set(next);
                } else {
                    // SAFETY: as above.
                    unsafe { (*before).next = next };
                }
                return block.cast();
            }
            (before, block) = (block, next);
        }
        ptr::null_mut()
    })
}

/// Memory that is set aside for this thread's allocations, until it is dropped.
pub(crate) struct Aside(());

impl Aside {
    /// Sets `count` blocks of `size_bytes` each aside.
    ///
    /// Cost: `count` calls of memalign, and as many of free.
    pub(crate) fn new(count: usize, size_bytes: usize) -> Result<Self, OutOfMemory> {
        // What was set aside before a refusal is freed by the drop.
        let aside = Self(());
        let size_bytes = size_bytes.max(size_of::<Block>());
        for _ in 0..count {
            // SAFETY: the alignment is a power of two, and a multiple of a pointer's size.
            let block: *mut Block = unsafe { libc::memalign(ASIDE_ALIGN, size_bytes) }.cast();
            if block.is_null() {
                return Err(OutOfMemory);
            }
            // SAFETY: the block is new, aligned for a head and not smaller.
            ASIDE.with(|head| unsafe { block.write(Block { next: head.replace(block), size_bytes }) });
        }
        Ok(aside)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let mut block = ASIDE.replace(ptr::null_mut());
        while !block.is_null() {
            // SAFETY: blocks of the list came from memalign, have a head, and nobody else has them.
            unsafe {
                let next = (*block).next;
                libc::free(block.cast());
                block = next;
            }
        }
    }
}
