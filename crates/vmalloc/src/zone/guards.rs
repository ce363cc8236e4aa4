//! Which guards of a pool are there (V4).

use freehold_units::OutOfMemory;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each guard: before the first slot, and of each slot.
#[derive(Debug)]
pub(crate) struct Guards(Box<[AtomicU64]>);

impl Guards {
    pub(crate) fn new(slots: u64) -> Result<Self, OutOfMemory> {
        let words = if slots == 0 { 0 } else { (slots + 1).div_ceil(64) as usize };
        let mut bits = Vec::new();
        bits.try_reserve_exact(words)?;
        bits.resize_with(words, || AtomicU64::new(0));
        Ok(Self(bits.into_boxed_slice()))
    }

    fn at(&self, number: u64) -> (&AtomicU64, u64) {
        (&self.0[(number / 64) as usize], 1 << (number % 64))
    }

    /// Whether a guard is there. The holder of a slot beside it asks.
    pub(crate) fn has(&self, number: u64) -> bool {
        let (word, bit) = self.at(number);
        // Relaxed: the bit is set by who holds a slot beside it; two may make the same guard.
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Notes that a guard is there.
    pub(crate) fn set(&self, number: u64) {
        let (word, bit) = self.at(number);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}
