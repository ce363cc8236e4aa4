//! Which slots of a pool have their guard (V4).

use freehold_units::OutOfMemory;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each slot whose guard is there.
#[derive(Debug)]
pub(crate) struct Guards(Box<[AtomicU64]>);

impl Guards {
    pub(crate) fn new(slots: u64) -> Result<Self, OutOfMemory> {
        let words = slots.div_ceil(64) as usize;
        let mut bits = Vec::new();
        bits.try_reserve_exact(words)?;
        bits.resize_with(words, || AtomicU64::new(0));
        Ok(Self(bits.into_boxed_slice()))
    }

    fn at(&self, slot: u64) -> (&AtomicU64, u64) {
        (&self.0[(slot / 64) as usize], 1 << (slot % 64))
    }

    /// Whether a slot has its guard. Its holder asks.
    pub(crate) fn has(&self, slot: u64) -> bool {
        let (word, bit) = self.at(slot);
        // Relaxed: the slot's bit is changed by who holds the slot.
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Notes that a slot has its guard.
    pub(crate) fn set(&self, slot: u64) {
        let (word, bit) = self.at(slot);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// How many slots have one.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }
}
