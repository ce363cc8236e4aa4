//! The locks of the crate, taken in sections that exclude `fork`: in a child, no lock is held by a thread that the
//! child lacks.
//!
//! Poisoning is ignored: only a broken invariant panics under a lock.

use freehold_sys::fork::{Held, hold};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Takes a lock. No destructor of a caller's type runs under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Held<MutexGuard<'_, T>> {
    hold(|| mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Takes a lock for reading.
pub(crate) fn read<T>(lock: &RwLock<T>) -> Held<RwLockReadGuard<'_, T>> {
    hold(|| lock.read().unwrap_or_else(PoisonError::into_inner))
}

/// Takes a lock for writing.
pub(crate) fn write<T>(lock: &RwLock<T>) -> Held<RwLockWriteGuard<'_, T>> {
    hold(|| lock.write().unwrap_or_else(PoisonError::into_inner))
}
