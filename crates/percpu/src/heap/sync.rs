//! The locks of the heap: the standard library's, or loom's in models of its protocol.

#[cfg(loom)]
pub(super) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub(super) use std::sync::{Mutex, MutexGuard};

use freehold_sys::fork::{self, Held};
use std::sync::TryLockError;

/// A held lock, inside a section that excludes `fork`.
pub(super) type Guard<'a, T> = Held<MutexGuard<'a, T>>;

/// Waits for a lock. The heap does not panic under one. Poisoning is ignored so that a panic in an allocator's hook or
/// a test does not spread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
    fork::lock(|| mutex.lock())
}

/// Takes a lock if it is free. The caller is in a section that excludes `fork`.
pub(super) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
