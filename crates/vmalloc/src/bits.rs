//! Lists of a fixed length whose memory may be refused, and a bitmap as one of them.

use freehold_units::OutOfMemory;
use std::sync::atomic::{AtomicU64, Ordering};

/// A list of `len` new values.
pub(crate) fn boxed<T>(len: usize, new: impl FnMut() -> T) -> Result<Box<[T]>, OutOfMemory> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)?;
    list.resize_with(len, new);
    Ok(list.into_boxed_slice())
}

/// A bitmap. Any thread sets its bits, and none clears them.
#[derive(Debug)]
pub(crate) struct Bits(Box<[AtomicU64]>);

impl Bits {
    /// A map of `count` bits, none of them set.
    pub(crate) fn new(count: usize) -> Result<Self, OutOfMemory> {
        boxed(count.div_ceil(64), AtomicU64::default).map(Self)
    }

    /// Whether it has no bits at all.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a bit is set.
    pub(crate) fn has(&self, number: usize) -> bool {
        // Acquire: pairs with the Release of `set`.
        self.0[number / 64].load(Ordering::Acquire) >> (number % 64) & 1 != 0
    }

    /// Sets a bit. A thread that finds it set sees what this one did before.
    pub(crate) fn set(&self, number: usize) {
        // Release: pairs with the Acquire of `has`.
        self.0[number / 64].fetch_or(1 << (number % 64), Ordering::Release);
    }

    /// The number of set bits.
    pub(crate) fn count(&self) -> u64 {
        // Relaxed: a count.
        self.0.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}
