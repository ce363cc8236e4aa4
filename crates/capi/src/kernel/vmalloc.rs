//! `vmalloc` and its relatives: blocks of one memory that the first call makes, and that the process keeps.

use crate::memory::Aside;
use freehold::vmalloc::{Block, VirtualMemory, Zero};
use freehold_sys::fork;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

static MEMORY: OnceLock<VirtualMemory> = OnceLock::new();

/// The memory; `None` if it cannot be made.
fn memory() -> Option<&'static VirtualMemory> {
    if let Some(memory) = MEMORY.get() {
        return Some(memory);
    }
    // As many as are asked for up to what is made beside the memory, a thread and its lock, whose making cannot return an error:
    // any may take one.
    let _aside = Aside::new(32, 4096).ok()?;
    let made = VirtualMemory::builder().build().ok()?;
    Some(fork::get_or_init(&MEMORY, || made))
}

/// A block of whole pages, zeros if `zero`; NULL if there is none, or for 0 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_vmalloc(size_bytes: usize, zero: bool) -> *mut c_void {
    let zero = if zero { Zero::Yes } else { Zero::No };
    let block = memory().and_then(|memory| memory.alloc(size_bytes, zero).ok());
    // Exposed for `fhk_vm_area`, which gets a number.
    block.map_or(ptr::null_mut(), |block| {
        let start: *mut c_void = block.into_raw().as_ptr().cast();
        start.expose_provenance();
        start
    })
}

/// Frees the block that starts at an address. Returns 0, or -EINVAL if none does.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_vfree(address: *mut c_void) -> c_int {
    let span = MEMORY.get().and_then(|memory| Some((memory, memory.locate(address.addr() as u64)?)));
    let Some((memory, span)) = span.filter(|(_, span)| span.first() == address.addr() as u64) else {
        return -libc::EINVAL;
    };
    let Some(start) = NonNull::new(address.cast::<u8>()) else { return -libc::EINVAL };
    let block = NonNull::slice_from_raw_parts(start, span.size_saturating() as usize);
    // SAFETY: a block is held there, whose whole slot is its memory; the caller gives it up.
    drop(unsafe { Block::from_raw(memory, block) });
    0
}

/// The bytes of the block that an address lies in, and its first byte; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_vm_area(address: usize, start: &mut *mut c_void) -> usize {
    let Some(span) = MEMORY.get().and_then(|memory| memory.locate(address as u64)) else { return 0 };
    *start = ptr::with_exposed_provenance_mut(span.first() as usize);
    span.size_saturating() as usize
}
