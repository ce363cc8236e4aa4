//! A counter that can be read at once: CPUs hand on whole batches to a slot that they share.
//!
//! ```text
//!   slot of CPU 0   | 2 batches | 37 |  \
//!   slot of CPU 1   | 5 batches | 90 |   >  exact: all of it
//!   shared slot     | 7 batches |       /   approximate: this only
//! ```
//!
//! A slot is never reset: who adds sees from what it held before whether it passed multiples of the batch, and adds those
//! to the shared slot.
//!
//! **The bound** (P14). Let `b` be the batch, `u` the slots, and let `t` adds be on their way. Per slot, what its adds pass
//! sums up to the slot less its remainder, which is below `b`. An add on its way may not have handed on yet what it passed,
//! which is at most its value and `b - 1`. So the shared slot has at least what was added by adds that returned, less
//! `(u + t) (b - 1)`, and never more than what was added by adds that began.

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
    /// A counter at 0 that hands on batches of 2 to the power of `batch_bits`, at most 63; more counts as 63. Choose it well
    /// above the usual value of an add: an add of a batch or more always goes to the shared slot. Cost: constant.
    #[must_use]
    pub const fn new(batch_bits: u32) -> Self {
        Self { counter: Counter::new(), batch: Self::batch(batch_bits) }
    }

    /// The same in a heap. Cost: as [`PerCpuHeap::alloc`].
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

    /// What was added: exact. Cost: a load for each CPU.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.counter.get()
    }

    /// What was added, short by at most [`max_error`](Self::max_error), never too much. Cost: one load.
    #[must_use]
    pub fn approx(&self) -> u64 {
        let batches = self.counter.existing().map_or(0, |words| words.batches(0));
        batches.wrapping_add(self.counter.kept())
    }

    /// By how much [`approx`](Self::approx) may fall short of adds that have returned, while `adding` adds are on their way
    /// in other threads or in interrupted code. Cost: constant.
    #[must_use]
    pub fn max_error(&self, adding: u32) -> u64 {
        let slots = self.counter.existing().map_or(0, |words| u64::from(words.cpus()) + 1);
        (slots + u64::from(adding)).saturating_mul(self.batch - 1)
    }
}
