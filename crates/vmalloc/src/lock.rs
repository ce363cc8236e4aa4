//! The locks of the crate, taken in sections that exclude `fork`: in a child, no lock is held by a thread that the
//! child lacks.
//!
//! Poisoning is ignored: only a broken invariant panics under a lock.

use freehold_sys::fork::{self, Held};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Takes a lock. No destructor of a caller's type runs under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Held<MutexGuard<'_, T>> {
    fork::lock(|| mutex.lock())
}

/// Takes a lock for reading.
pub(crate) fn read<T>(lock: &RwLock<T>) -> Held<RwLockReadGuard<'_, T>> {
    fork::lock(|| lock.read())
}

/// Takes a lock for writing.
pub(crate) fn write<T>(lock: &RwLock<T>) -> Held<RwLockWriteGuard<'_, T>> {
    fork::lock(|| lock.write())
}
