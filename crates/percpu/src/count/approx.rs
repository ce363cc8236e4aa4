//! A counter with a fast read: CPUs add whole batches to a shared slot.
//!
//! ```text
//!   slot of CPU 0   | 2 batches | 37 |  \
//!   slot of CPU 1   | 5 batches | 90 |   >  exact: all of it
//!   shared slot     | 7 batches |       /   approximate: this only
//! ```
//!
//! A slot is never reset. An add compares the slot's old and new value, and adds the multiples of the batch that it
//! passed to the shared slot.
//!
//! **The bound** (P14). Let `b` be the batch, `u` the number of slots, and `t` the number of adds in progress. The
//! batches that a slot's adds pass sum up to the slot's value minus a remainder below `b`. An add in progress may not
//! have added its batches to the shared slot yet; these are at most its value and `b - 1`. So the shared slot has at
//! least the sum of all adds that returned, minus `(u + t) (b - 1)`. It never has more than the sum of all adds that
//! began.

use super::Counter;
use crate::AllocError;
use crate::heap::PerCpuHeap;

/// A [`Counter`] whose value can also be read by one load, short by at most [`max_error`](Self::max_error).
///
/// ```
/// use freehold_percpu::ApproxCounter;
/// static BYTES: ApproxCounter = ApproxCounter::new(10);
/// BYTES.add(3000);
/// assert_eq!(BYTES.get(), 3000);
/// assert!(BYTES.approx() <= 3000 && BYTES.approx() + BYTES.max_error(0) >= 3000);
/// ```
#[derive(Debug)]
pub struct ApproxCounter {
    counter: Counter,
    /// A power of two.
    batch: u64,
}

impl ApproxCounter {
    /// A counter at 0 with batches of 2 to the power of `batch_bits`, at most 63; more counts as 63. Choose a batch
    /// well above the usual value of an add: an add of a batch or more always writes the shared slot. Cost: constant.
    #[must_use]
    pub const fn new(batch_bits: u32) -> Self {
        Self { counter: Counter::new(), batch: Self::batch(batch_bits) }
    }

    /// A counter at 0 in a heap, with batches as in [`ApproxCounter::new`]. Cost: as [`PerCpuHeap::alloc`].
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_heap(heap: &'static PerCpuHeap, batch_bits: u32) -> Result<Self, AllocError> {
        Ok(Self { counter: Counter::in_heap(heap)?, batch: Self::batch(batch_bits) })
    }

    const fn batch(bits: u32) -> u64 {
        1 << if bits > 63 { 63 } else { bits }
    }

    /// Adds `value`, modulo 2^64. Cost: constant, once there is memory.
    #[inline]
    pub fn add(&self, value: u64) {
        let Some(words) = self.counter.words() else { return self.counter.keep(value) };
        let old = words.fetch_add(0, value);
        let new = old.wrapping_add(value);
        let below = self.batch - 1;
        if (old ^ new) > below {
            words.add_batches(0, (new & !below).wrapping_sub(old & !below));
        }
    }

    /// The exact sum of all adds. Cost: a load for each CPU.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.counter.get()
    }

    /// The sum of all adds, too low by at most [`max_error`](Self::max_error), never too high. Cost: one load.
    #[must_use]
    pub fn approx(&self) -> u64 {
        let batches = self.counter.existing().map_or(0, |words| words.batches(0));
        batches.wrapping_add(self.counter.kept())
    }

    /// The most by which [`approx`](Self::approx) can be below the sum of the adds that have returned, while `adding`
    /// adds are in progress in other threads or in interrupted code. It rises once, when the first add takes memory, so
    /// ask after the read that it is about. Cost: constant.
    #[must_use]
    pub fn max_error(&self, adding: u32) -> u64 {
        let slots = self.counter.existing().map_or(0, |words| u64::from(words.cpus()) + 1);
        (slots + u64::from(adding)).saturating_mul(self.batch - 1)
    }
}
