//! Atomics and locks: the standard library's, or loom's where the protocol is modelled: in this crate's own tests, as
//! loom is a dependency of tests alone, and others are built with `--cfg loom` on this crate.

#[cfg(all(test, loom))]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence},
};

use std::sync::PoisonError;

/// A `const fn`; under loom, whose atomics are made at run time, a plain one.
macro_rules! const_but_under_loom {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        #[cfg(not(all(test, loom)))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(all(test, loom))]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}

/// Waits for a lock. Nothing panics under one, but a panic of the allocator's hook must not spread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
