//! A lock that counts how often it is taken and waited for, and may time what is done under it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

/// What a lock did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Times that it was taken.
    pub taken: u64,
    /// Of these, times that a thread waited.
    pub waits: u64,
    /// Nanoseconds under the lock, if they are timed.
    pub held_ns: f64,
}

impl Used {
    /// Since then.
    pub fn since(self, before: Self) -> Self {
        Self {
            taken: self.taken - before.taken,
            waits: self.waits - before.waits,
            held_ns: self.held_ns - before.held_ns,
        }
    }
}

struct Inner<T> {
    value: T,
    taken: u64,
    held_ns: u64,
}

/// The lock.
pub struct Lock<T> {
    inner: Mutex<Inner<T>>,
    waits: AtomicU64,
    /// What reading the clock costs, if sections are timed.
    clock_ns: Option<u64>,
}

impl<T> Lock<T> {
    /// Over a value; its sections are timed if the clock's cost is given.
    pub fn new(value: T, clock_ns: Option<u64>) -> Self {
        Self { inner: Mutex::new(Inner { value, taken: 0, held_ns: 0 }), waits: AtomicU64::new(0), clock_ns }
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
        let Some(clock_ns) = self.clock_ns else { return work(&mut inner.value) };
        let started = Instant::now();
        let done = work(&mut inner.value);
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        inner.held_ns += took.saturating_sub(clock_ns);
        done
    }

    /// Times that a thread waited so far.
    pub fn waits(&self) -> u64 {
        self.waits.load(Relaxed)
    }

    /// What it did so far.
    pub fn used(&self) -> Used {
        let inner = self.lock();
        Used { taken: inner.taken, waits: self.waits(), held_ns: inner.held_ns as f64 }
    }
}
