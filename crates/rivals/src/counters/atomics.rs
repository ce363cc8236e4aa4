//! What one writes oneself: one atomic for all threads, or one for each of some groups of threads.

use super::Counts;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One atomic that all threads add to.
#[derive(Debug, Default)]
pub struct SharedAtomic(pub AtomicU64);

impl Counts for SharedAtomic {
    #[inline]
    fn add(&self, value: u64) {
        self.0.fetch_add(value, Relaxed);
    }

    fn total(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A value on cache lines of its own; two, since processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

/// An atomic for each of so many groups of threads, on cache lines of their own.
#[derive(Debug)]
pub struct PaddedThreads(Box<[Padded<AtomicU64>]>);

impl PaddedThreads {
    /// With as many groups, at least 1.
    #[must_use]
    pub fn new(groups: u32) -> Self {
        Self((0..groups.max(1)).map(|_| Padded::default()).collect())
    }

    #[inline]
    fn own(&self) -> &AtomicU64 {
        thread_local! {
            static NUMBER: u32 = {
                static NEXT: AtomicU32 = AtomicU32::new(0);
                NEXT.fetch_add(1, Relaxed)
            };
        }
        let number = NUMBER.with(|number| *number) as usize;
        &self.0[number % self.0.len()].0
    }
}

impl Counts for PaddedThreads {
    #[inline]
    fn add(&self, value: u64) {
        self.own().fetch_add(value, Relaxed);
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|slot| slot.0.load(Relaxed)).fold(0, u64::wrapping_add)
    }
}
