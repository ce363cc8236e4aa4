//! A counter: a sum modulo 2^64, with a slot for each CPU.

use crate::AllocError;
use crate::heap::{HeapError, LazyObject, PerCpuHeap, TOGETHER, Words, sum_together};
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
    /// Subtracted from the sum of all slots: the sum at the last reset, less what was added while there was no memory.
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

    /// Many counters at 0 in a heap, or none. Cost: as [`PerCpuHeap::alloc_bulk`].
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
    /// The first add to a counter of a static takes its memory. While there is none, counts are kept in the counter itself, by
    /// an atomic that all threads share, and each add tries again.
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

    #[cold]
    fn add_first(&self, value: u64) {
        match self.object.make() {
            Ok(words) => words.add(0, value),
            Err(_) => self.keep(value),
        }
    }

    /// Counts where there is no memory.
    pub(super) fn keep(&self, value: u64) {
        self.baseline.fetch_sub(value, Ordering::Relaxed);
    }

    /// The words, if there is memory; if not, they are tried for.
    #[inline]
    pub(super) fn words(&self) -> Option<Words<1>> {
        self.object.get().or_else(|| self.object.make().ok())
    }

    /// What is counted beside slots. Acquire pairs with the Release of a reset: slots that are read afterwards are as far on as
    /// those that the reset saw, so that no value is below 0.
    pub(super) fn kept(&self) -> u64 {
        self.baseline.load(Ordering::Acquire).wrapping_neg()
    }

    /// The words, if there is memory.
    pub(super) fn existing(&self) -> Option<Words<1>> {
        self.object.get()
    }

    /// What was added since the counter was made or reset: exact. Cost: a load for each CPU.
    #[must_use]
    pub fn get(&self) -> u64 {
        let kept = self.kept();
        self.slots().wrapping_add(kept)
    }

    /// The sum of all slots.
    fn slots(&self) -> u64 {
        self.object.get().map_or(0, |words| words.sum(0))
    }

    /// Sets the counter to 0. Returns what it was: each add is in what one reset returns, or in what is read later.
    ///
    /// Cost: a load for each CPU, again for each other reset that comes in between.
    pub fn reset(&self) -> u64 {
        let mut baseline = self.baseline.load(Ordering::Acquire);
        loop {
            let sum = self.slots();
            // Release pairs with the Acquire of another reset: it sees slots at least as far on as this one did.
            let stored =
                self.baseline.compare_exchange_weak(baseline, sum, Ordering::AcqRel, Ordering::Acquire);
            match stored {
                Ok(_) => return sum.wrapping_sub(baseline),
                Err(newer) => baseline = newer,
            }
        }
    }
}

/// Why no snapshot was taken: as many values as counters are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthsDiffer {
    /// Counters.
    pub counters: usize,
    /// Places for values.
    pub values: usize,
}

error_messages! { LengthsDiffer {
    Self { counters, values } => "{counters} counters do not fit {values} values";
} }

/// Writes what each counter has counted to the value beside it. Where counters were made in order, memory is read in order,
/// unit by unit where there are many. Cost: a load for each counter and CPU.
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
