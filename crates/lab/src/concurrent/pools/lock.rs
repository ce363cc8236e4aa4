//! A lock that counts how often it is taken and waited for.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// What a lock did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Times that it was taken.
    pub taken: u64,
    /// Of these, times that a thread waited.
    pub waits: u64,
}

impl std::iter::Sum for Used {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |all, one| Self {
            taken: all.taken + one.taken,
            waits: all.waits + one.waits,
        })
    }
}

impl Used {
    /// Since then.
    pub fn since(self, before: Self) -> Self {
        Self { taken: self.taken - before.taken, waits: self.waits - before.waits }
    }
}

struct Inner<T> {
    value: T,
    taken: u64,
}

/// The lock.
pub struct Lock<T> {
    inner: Mutex<Inner<T>>,
    waits: AtomicU64,
}

impl<T> Lock<T> {
    /// Over a value.
    pub fn new(value: T) -> Self {
        Self { inner: Mutex::new(Inner { value, taken: 0 }), waits: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.waits.fetch_add(1, Relaxed);
                self.inner.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// Does something under the lock.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let mut inner = self.lock();
        inner.taken += 1;
        work(&mut inner.value)
    }

    /// Times that a thread waited so far.
    pub fn waits(&self) -> u64 {
        self.waits.load(Relaxed)
    }

    /// What it did so far.
    pub fn used(&self) -> Used {
        let inner = self.lock();
        Used { taken: inner.taken, waits: self.waits() }
    }
}
