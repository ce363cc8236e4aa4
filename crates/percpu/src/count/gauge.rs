//! Gauges: the sum of increases minus the sum of decreases, each in a counter of its own.
//!
//! Both counters only rise, so a gauge that oscillates around a value writes the shared slot no more often than a
//! counter.

use super::{ApproxCounter, Counter};
use crate::AllocError;
use crate::heap::PerCpuHeap;

/// A value that goes up and down, modulo 2^64 as an `i64`. It takes 16 bytes for each CPU.
///
/// ```
/// use freehold_percpu::Gauge;
/// static OPEN: Gauge = Gauge::new();
/// OPEN.add(5);
/// OPEN.add(-2);
/// assert_eq!(OPEN.get(), 3);
/// OPEN.set(10);
/// OPEN.add(-1);
/// assert_eq!(OPEN.get(), 9);
/// ```
#[derive(Debug, Default)]
pub struct Gauge {
    up: Counter,
    down: Counter,
}

impl Gauge {
    /// A gauge at 0, without memory. Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self { up: Counter::new(), down: Counter::new() }
    }

    /// A gauge at 0 in a heap. Cost: two allocations ([`PerCpuHeap::alloc`]).
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_heap(heap: &'static PerCpuHeap) -> Result<Self, AllocError> {
        Ok(Self { up: Counter::in_heap(heap)?, down: Counter::in_heap(heap)? })
    }

    /// Adds `value`, which may be negative. Cost: constant, once there is memory.
    #[inline]
    pub fn add(&self, value: i64) {
        if value >= 0 {
            self.up.add(value.unsigned_abs());
        } else {
            self.down.add(value.unsigned_abs());
        }
    }

    /// Sets the value. Adds that return before this call begins are in the previous value, and adds that begin after it
    /// has returned count on top; a concurrent add is in one of the two. Of concurrent calls, one is the last.
    ///
    /// A gauge that is mostly set and rarely added to is cheaper as a [`Value`](super::Value).
    ///
    /// Cost: two loads for each CPU, repeated for each concurrent call.
    pub fn set(&self, value: i64) {
        self.up.set_to(|| value.cast_unsigned().wrapping_add(self.down.get()));
    }

    /// The exact value, as for a [`Counter`]. Of two concurrent adds by different threads, it may include the later
    /// without the earlier. Cost: two loads for each CPU.
    #[must_use]
    pub fn get(&self) -> i64 {
        self.up.get().wrapping_sub(self.down.get()).cast_signed()
    }
}

/// A [`Gauge`] that can also be read by two loads.
#[derive(Debug)]
pub struct ApproxGauge {
    up: ApproxCounter,
    down: ApproxCounter,
}

impl ApproxGauge {
    /// A gauge at 0 with batches of 2 to the power of `batch_bits`, as in [`ApproxCounter::new`]. Cost: constant.
    #[must_use]
    pub const fn new(batch_bits: u32) -> Self {
        Self { up: ApproxCounter::new(batch_bits), down: ApproxCounter::new(batch_bits) }
    }

    /// A gauge at 0 in a heap, with batches as in [`ApproxCounter::new`]. Cost: two allocations
    /// ([`PerCpuHeap::alloc`]).
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_heap(heap: &'static PerCpuHeap, batch_bits: u32) -> Result<Self, AllocError> {
        let up = ApproxCounter::in_heap(heap, batch_bits)?;
        Ok(Self { up, down: ApproxCounter::in_heap(heap, batch_bits)? })
    }

    /// Adds `value`, which may be negative. Cost: constant, once there is memory.
    #[inline]
    pub fn add(&self, value: i64) {
        if value >= 0 {
            self.up.add(value.unsigned_abs());
        } else {
            self.down.add(value.unsigned_abs());
        }
    }

    /// The exact value. Cost: two loads for each CPU.
    #[must_use]
    pub fn get(&self) -> i64 {
        self.up.get().wrapping_sub(self.down.get()).cast_signed()
    }

    /// The value, too low or too high by at most [`max_error`](Self::max_error). Cost: two loads.
    #[must_use]
    pub fn approx(&self) -> i64 {
        self.up.approx().wrapping_sub(self.down.approx()).cast_signed()
    }

    /// The most by which [`approx`](Self::approx) can differ from the sum of the adds that have returned, while
    /// `adding` adds are in progress, each of which may already count besides. It rises once, as for
    /// [`ApproxCounter::max_error`].
    ///
    /// Cost: constant.
    #[must_use]
    pub fn max_error(&self, adding: u32) -> u64 {
        self.up.max_error(adding).max(self.down.max_error(adding))
    }
}
