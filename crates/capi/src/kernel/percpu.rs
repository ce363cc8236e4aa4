//! `alloc_percpu` and its relatives: objects by address in the process's heap, which the first call makes.
//!
//! What a C program does with an object is inline in the header: an object's address is that of CPU 0's copy, and a copy
//! of another CPU lies a multiple of the stride above.

use crate::memory::Aside;
use freehold::percpu::heap::PerCpuHeap;
use freehold_sys::fork;
use std::alloc::Layout;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// The heap; `None` if it cannot be made.
fn heap() -> Option<&'static PerCpuHeap> {
    static HEAP: OnceLock<&PerCpuHeap> = OnceLock::new();
    if let Some(heap) = HEAP.get() {
        return Some(heap);
    }
    // As many as are asked for up to the last one whose refusal no error tells: any may take one.
    let _aside = Aside::new(16, 4096).ok()?;
    let made = PerCpuHeap::global().ok()?;
    Some(*fork::get_or_init(&HEAP, || made))
}

/// Bytes for each possible CPU, zeros. Returns those of CPU 0; NULL if there is no memory, or no such object.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_alloc_percpu(size_bytes: usize, align_bytes: usize) -> *mut c_void {
    let Ok(layout) = Layout::from_size_align(size_bytes, align_bytes) else { return ptr::null_mut() };
    let first = heap().and_then(|heap| heap.alloc_layout(layout).ok());
    first.map_or(ptr::null_mut(), |first| first.as_ptr().cast())
}

/// Frees the object that starts at an address. Returns 0, or -EINVAL if none does.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_free_percpu(object: *mut c_void) -> c_int {
    let (Some(heap), Some(first)) = (heap(), NonNull::new(object.cast())) else { return -libc::EINVAL };
    // SAFETY: the caller gives an object up, which came from `fhk_alloc_percpu`.
    if unsafe { heap.free_at(first) }.is_ok() { 0 } else { -libc::EINVAL }
}

/// Bytes from a CPU's copy of an object to the next CPU's; 0 if there is no memory for any.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_percpu_stride() -> usize {
    heap().map_or(0, PerCpuHeap::stride_bytes)
}

/// The number of possible CPUs; 1 if there is no memory for objects.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_possible_cpus() -> c_uint {
    heap().map_or(1, PerCpuHeap::cpus)
}

/// The CPU that this thread runs on, or ran on a moment ago.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_this_cpu() -> c_uint {
    heap().map_or(0, PerCpuHeap::this_cpu)
}
