//! The locks of the crate. What was under a panic is whole: only broken invariants panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock. No destructor of a caller's type runs under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
