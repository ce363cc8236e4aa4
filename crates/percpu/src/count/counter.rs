//! A counter: a sum modulo 2^64, with a slot for each CPU.

use crate::AllocError;
use crate::heap::{CounterSlots, HeapError, LazyObject, PerCpuHeap, TOGETHER, Words, sum_together};
use freehold_units::error_messages;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::Vec;

/// Counts up, modulo 2^64, from any thread.
///
/// ```
/// use freehold_percpu::Counter;
/// static HITS: Counter = Counter::new();
/// HITS.add(3);
/// HITS.add(1);
/// assert_eq!(HITS.get(), 4);
/// assert_eq!((HITS.reset(), HITS.get()), (4, 0));
/// ```
#[derive(Debug)]
pub struct Counter {
    object: LazyObject<1>,
    /// Subtracted from the sum of all slots: the sum at the last reset, minus the adds that were made without memory.
    baseline: AtomicU64,
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

impl Counter {
    /// A counter at 0, without memory. It takes 8 bytes for each CPU of the global heap when it is first added to.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self { object: LazyObject::new(), baseline: AtomicU64::new(0) }
    }

    /// A counter at 0 in a heap. Cost: as [`PerCpuHeap::alloc`].
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_heap(heap: &'static PerCpuHeap) -> Result<Self, AllocError> {
        Ok(Self { object: LazyObject::in_heap(heap)?, baseline: AtomicU64::new(0) })
    }

    /// `count` counters at 0 in a heap: all or none. Cost: as [`PerCpuHeap::alloc_bulk`].
    ///
    /// # Errors
    /// There is no memory for all of them.
    pub fn bulk(heap: &'static PerCpuHeap, count: usize) -> Result<Vec<Self>, AllocError> {
        LazyObject::bulk(heap, count, |object| Self { object, baseline: AtomicU64::new(0) })
    }

    /// Drops many counters at once, which is faster than one by one. Cost: as [`PerCpuHeap::free_bulk`].
    pub fn free_bulk(counters: Vec<Self>) {
        LazyObject::free_bulk(counters.into_iter().map(|counter| counter.object));
    }

    /// Takes the memory now. Afterwards adds take no lock, and may be made in signal handlers.
    ///
    /// Cost: as [`PerCpuHeap::alloc`]; constant once there is memory.
    ///
    /// # Errors
    /// There is no memory, or no global heap.
    pub fn prepare(&self) -> Result<(), HeapError> {
        self.object.make().map(|_| ())
    }

    /// Adds `value`, modulo 2^64.
    ///
    /// The first add to a static counter allocates its memory. While there is none, adds go to an atomic in the counter
    /// itself, which all threads share, and each add tries to allocate again.
    ///
    /// Inlined: called, an add takes 1.7 times as long (`freehold bench counters --workload add`).
    ///
    /// Cost: constant, once there is memory.
    #[inline(always)]
    pub fn add(&self, value: u64) {
        match self.object.get() {
            Some(words) => words.add(0, value),
            None => self.add_first(value),
        }
    }

    /// The counter's slots, for restartable sequences that the caller writes, whose adds and [`add`](Self::add) may mix.
    /// `None` if there is no memory, or if adds are not sequences here: then only `add` adds. Cost: as
    /// [`prepare`](Self::prepare).
    #[must_use]
    pub fn sequence_slots(&self) -> Option<CounterSlots> {
        self.words()?.slots()
    }

    /// Adds 1. Cost: as [`Counter::add`].
    #[inline]
    pub fn inc(&self) {
        self.add(1);
    }

    #[cold]
    fn add_first(&self, value: u64) {
        match self.object.make() {
            Ok(words) => words.add(0, value),
            Err(_) => self.keep(value),
        }
    }

    /// Adds to the counter itself while there is no memory.
    pub(super) fn keep(&self, value: u64) {
        self.baseline.fetch_sub(value, Ordering::Relaxed);
    }

    /// The words of the object, allocated if possible.
    #[inline]
    pub(super) fn words(&self) -> Option<Words<1>> {
        self.object.get().or_else(|| self.object.make().ok())
    }

    /// The part of the count that is not in slots. Acquire pairs with the Release of a reset: slots read afterwards are
    /// at least as high as those that the reset read, so no value of a counter is below 0.
    pub(super) fn kept(&self) -> u64 {
        self.baseline.load(Ordering::Acquire).wrapping_neg()
    }

    /// The words of the object, if there is memory.
    pub(super) fn existing(&self) -> Option<Words<1>> {
        self.object.get()
    }

    /// The exact sum of all adds since the counter was made or reset. Cost: a load for each CPU.
    #[must_use]
    pub fn get(&self) -> u64 {
        let kept = self.kept();
        self.slots().wrapping_add(kept)
    }

    /// The sum of all slots.
    fn slots(&self) -> u64 {
        self.object.get().map_or(0, |words| words.sum(0))
    }

    /// Sets the counter to 0 and returns its value. Each add is in the result of exactly one reset, or in later reads.
    ///
    /// Cost: a load for each CPU, repeated for each concurrent reset.
    pub fn reset(&self) -> u64 {
        self.set_to(|| 0)
    }

    /// Sets the counter to a value, modulo 2^64, and returns its previous one. `value` is called again for each
    /// concurrent change by this method.
    pub(super) fn set_to(&self, value: impl Fn() -> u64) -> u64 {
        let mut baseline = self.baseline.load(Ordering::Acquire);
        loop {
            let sum = self.slots();
            let new = sum.wrapping_sub(value());
            // Release pairs with the Acquire of another reset, which then reads slots at least as high as this one did.
            let stored =
                self.baseline.compare_exchange_weak(baseline, new, Ordering::AcqRel, Ordering::Acquire);
            match stored {
                Ok(_) => return sum.wrapping_sub(baseline),
                Err(newer) => baseline = newer,
            }
        }
    }
}

/// The error of a snapshot whose numbers of counters and values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthsDiffer {
    /// The number of counters.
    pub counters: usize,
    /// The number of places for values.
    pub values: usize,
}

error_messages! { LengthsDiffer {
    Self { counters, values } => "{counters} counters do not fit {values} values";
} }

/// Writes the value of each counter to the place with the same index. If the counters were made in order, memory is
/// read in order; with many units, unit by unit. Cost: a load for each counter and CPU.
///
/// # Errors
/// [`LengthsDiffer`]; nothing is written.
pub fn snapshot(counters: &[Counter], values: &mut [u64]) -> Result<(), LengthsDiffer> {
    if counters.len() != values.len() {
        return Err(LengthsDiffer { counters: counters.len(), values: values.len() });
    }
    for (counters, values) in counters.chunks(TOGETHER).zip(values.chunks_mut(TOGETHER)) {
        sum_together(counters.iter().map(|counter| (&counter.object, counter.kept())), values);
    }
    Ok(())
}
