//! The system's allocator, but for one request that is refused.

#![allow(unsafe_code, reason = "a global allocator can be written in no other way")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// For [`watched`]: every request is granted.
pub(super) const NONE_REFUSED: u64 = u64::MAX;

thread_local! {
    /// Requests that this thread is still granted while it is watched; the one after them is refused, and
    /// those after that one are granted again.
    static GRANTED: Cell<u64> = const { Cell::new(u64::MAX) };
    /// Requests made while the thread was watched.
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, but for the request that is to be refused.
struct Refusing;

impl Refusing {
    fn refuses() -> bool {
        if !WATCHED.get() {
            return false;
        }
        REQUESTS.set(REQUESTS.get() + 1);
        let granted = GRANTED.get();
        GRANTED.set(granted.wrapping_sub(1));
        granted == 0
    }
}

// SAFETY: every call is passed on as it came, or answered by a null pointer, which means that there is no
// memory. The thread-local cells need neither memory nor a destructor, so they can be used here.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        if Self::refuses() { core::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the pointer came from `System`, with this layout; the caller vouches for the size.
        if Self::refuses() {
            core::ptr::null_mut()
        } else {
            unsafe { System.realloc(pointer, layout, new_size) }
        }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs `operation` with the request after the first `granted` refused. Returns the number of requests, too.
pub(super) fn watched<T>(granted: u64, operation: impl FnOnce() -> T) -> (T, u64) {
    GRANTED.set(granted);
    REQUESTS.set(0);
    WATCHED.set(true);
    let answer = operation();
    WATCHED.set(false);
    (answer, REQUESTS.get())
}
