//! A lock that counts how often it is taken and waited for, and may time what is done under it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

/// Nanoseconds between two readings of the clock with nothing between them, the median of many.
pub(super) fn clock_ns() -> u64 {
    let mut readings: Vec<u128> = (0..1001).map(|_| Instant::now().elapsed().as_nanos()).collect();
    readings.sort_unstable();
    u64::try_from(readings[readings.len() / 2]).unwrap_or(u64::MAX)
}

/// What a lock did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::concurrent) struct Used {
    pub(super) taken: u64,
    /// Of these, times that a thread waited.
    pub(super) waits: u64,
    /// Nanoseconds under the lock, if they are timed.
    pub(super) held_ns: f64,
}

impl Used {
    /// Since then.
    pub(super) fn since(self, before: Self) -> Self {
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
pub(super) struct Lock<T> {
    inner: Mutex<Inner<T>>,
    waits: AtomicU64,
    /// What reading the clock costs, if sections are timed.
    clock_ns: Option<u64>,
}

impl<T> Lock<T> {
    pub(super) fn new(value: T, clock_ns: Option<u64>) -> Self {
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
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let mut inner = self.lock();
        inner.taken += 1;
        let Some(clock_ns) = self.clock_ns else { return work(&mut inner.value) };
        let started = Instant::now();
        let done = work(&mut inner.value);
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        inner.held_ns += took.saturating_sub(clock_ns);
        done
    }

    pub(super) fn used(&self) -> Used {
        let inner = self.lock();
        Used { taken: inner.taken, waits: self.waits.load(Relaxed), held_ns: inner.held_ns as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::time::Duration;

    #[test]
    fn waits_and_sections_are_counted() {
        let lock = Lock::new(0, Some(0));
        let begin = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lock.with(|value| {
                    begin.wait();
                    while lock.waits.load(Relaxed) == 0 {
                        std::thread::yield_now();
                    }
                    std::thread::sleep(Duration::from_millis(20));
                    *value += 1;
                });
            });
            begin.wait();
            assert_eq!(lock.with(|value| *value), 1);
        });
        let used = lock.used();
        assert_eq!((used.taken, used.waits), (2, 1));
        assert!(used.held_ns >= 20e6, "{used:?}");
    }
}
