//! The locks of the heap: the standard library's, or loom's where its protocol is modelled.

#[cfg(loom)]
pub(super) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub(super) use std::sync::{Mutex, MutexGuard};

use freehold_sys::fork::{self, Held};
use std::sync::TryLockError;

/// A lock that is held, in a section that no `fork` falls into.
pub(super) type Guard<'a, T> = Held<MutexGuard<'a, T>>;

/// Waits for a lock. Nothing panics under one, but a panic of the allocator's hook or of a test must not spread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
    fork::lock(|| mutex.lock())
}

/// Takes a lock if nobody has it. The caller is in a section.
pub(super) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
