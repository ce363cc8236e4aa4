//! Where the allocator refuses everything, calls answer, and abort nothing.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_sys::{PageScan, Reservation, mappings, page_bytes, rseq, thread};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::mpsc::channel;

thread_local! {
    /// Whether all requests of this thread are refused.
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, which a thread can make refuse.
struct Refusing;

// SAFETY: every call is passed on as it came, or answered by a null pointer, which means that there is no memory. The
// thread-local cell needs neither memory nor a destructor, so it can be used here.
#[allow(unsafe_code, reason = "a global allocator can be written in no other way")]
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        if REFUSES.get() { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

fn refused<T>(operation: impl FnOnce() -> T) -> T {
    REFUSES.set(true);
    let answer = operation();
    REFUSES.set(false);
    answer
}

#[test]
fn sequences_are_detected_without_memory() {
    let without = refused(rseq::detect);
    assert_ne!(without, Err(rseq::Absent::SelfTest));
    assert_eq!(without, rseq::detect());
}

#[test]
fn mappings_are_refused_without_memory() {
    let listed = refused(|| mappings::each(|_, _| ()));
    assert_eq!(listed.unwrap_err().errno, libc::ENOMEM);
    assert_eq!(refused(PageScan::open).unwrap_err().errno, libc::ENOMEM);
    // A guard that is a mapping needs no count of the others.
    assert!(refused(|| Reservation::new(page_bytes()).unwrap().may_split()));
}

#[test]
fn a_thread_is_refused_without_memory() {
    let (done, was_done) = channel();
    let started = refused(|| thread::start(c"worker", move || done.send(()).unwrap()));
    assert_eq!(started.unwrap_err().errno, libc::ENOMEM);
    assert!(was_done.recv().is_err(), "the work went on");
}
