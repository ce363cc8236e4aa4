//! The locks of the crate, in sections that no `fork` falls into: a child finds none of them held by a thread that it lacks.
//!
//! What was under a panic is whole: only broken invariants panic.

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
