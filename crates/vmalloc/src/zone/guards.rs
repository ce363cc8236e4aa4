//! A bitmap of the guards that a pool has installed (V4).

use freehold_units::OutOfMemory;
use std::sync::atomic::{AtomicU64, Ordering};

/// One bit per guard: the one before the first slot, and that of each slot.
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

    /// Whether a guard is installed. Asked by the holder of a slot beside it.
    pub(crate) fn has(&self, number: u64) -> bool {
        let (word, bit) = self.at(number);
        // Relaxed: only a holder of a slot beside it sets the bit, and two holders may install the same guard.
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Marks a guard as installed.
    pub(crate) fn set(&self, number: u64) {
        let (word, bit) = self.at(number);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// The number of installed guards.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}
