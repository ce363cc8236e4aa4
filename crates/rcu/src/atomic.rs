//! Atomics, locks and thread-locals, from one of three sources:
//! - the standard library;
//! - loom, where the protocol is modelled: only in this crate's own tests, as loom is a dependency of tests alone
//!   (others are built with `--cfg loom` on this crate);
//! - shuttle, where maps that are built on this crate run under random schedules.

#[cfg(all(test, loom))]
pub(crate) use loom::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering, fence},
    },
    thread::yield_now,
    thread_local,
};
#[cfg(not(any(all(test, loom), shuttle)))]
pub(crate) use std::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering, fence},
    },
    thread_local,
};

use freehold_sys::fork::{self, Held};

/// A `const fn`; under loom, whose atomics are made at run time, a plain one.
macro_rules! const_but_under_loom {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        #[cfg(not(all(test, loom)))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(all(test, loom))]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}

/// Waits for a lock. Nothing panics while one is held, but a panic of the allocator's hook must not spread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Held<MutexGuard<'_, T>> {
    fork::lock(|| mutex.lock())
}
