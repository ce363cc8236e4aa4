//! The modes of adds: how an add finds its slot, and how it adds.

#![allow(unsafe_code, reason = "slots are found by address")]

use freehold_sys::rseq::Sequence;
use freehold_sys::thread_slot;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The mode of a heap's adds, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddMode {
    /// A restartable sequence on the CPU's own slot.
    Sequence,
    /// An atomic add on the slot of the CPU, whose number comes from the area of restartable sequences.
    Indexed,
    /// An atomic add on the slot of the thread.
    Sticky,
}

impl fmt::Display for AddMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sequence => "mode 1: restartable sequences",
            Self::Indexed => "mode 2: the CPU's number and atomic adds",
            Self::Sticky => "mode 3: a slot for each thread and atomic adds",
        })
    }
}

/// Adds to the slots of one heap. They are `stride_bytes` apart: one for each CPU, then the overflow slot, then the
/// slot of batches.
#[derive(Debug)]
pub(super) struct Adder {
    /// The add of the first mode; disabled in the others.
    adds: Sequence,
    /// The source of the CPU's number; disabled in the third mode.
    finds: Sequence,
    mode: AddMode,
    cpus: u32,
    stride_bytes: usize,
    /// Whether any add ever went to the overflow slot of an object, or to that of batches. Set before the add.
    overflow: AtomicBool,
    batches: AtomicBool,
}

impl Adder {
    /// An adder in `mode`. All modes except the third need the sequence.
    pub(super) fn new(mode: AddMode, sequence: Sequence, cpus: u32, stride_bytes: usize) -> Self {
        debug_assert!(mode == AddMode::Sticky || !sequence.is_absent());
        let only = |on: bool| if on { sequence } else { Sequence::absent() };
        Self {
            adds: only(mode == AddMode::Sequence),
            finds: only(mode != AddMode::Sticky),
            mode,
            cpus,
            stride_bytes,
            overflow: AtomicBool::new(false),
            batches: AtomicBool::new(false),
        }
    }

    pub(super) fn add_mode(&self) -> AddMode {
        self.mode
    }

    /// Offset in bytes of a thread's area from its thread pointer, if adds are restartable sequences indexed by `cpu_id`.
    pub(super) fn area_offset(&self) -> Option<isize> {
        self.adds.area_by_cpu_id()
    }

    /// The present index of this thread, below the number of CPUs. Another thread may have the same index.
    #[inline]
    pub(super) fn index(&self) -> u32 {
        self.finds.index().unwrap_or_else(|| self.sticky_index())
    }

    /// The permanent index of this thread. Consecutive threads are spread over all indexes.
    #[inline]
    fn sticky_index(&self) -> u32 {
        // Multiples of the golden ratio's fraction lie far apart in 0..2^32. The result is scaled down to the number of
        // CPUs.
        let spread = thread_slot::number().wrapping_mul(0x9e37_79b9);
        ((u64::from(spread) * u64::from(self.cpus)) >> 32) as u32
    }

    /// Adds `value`, modulo 2^64, to a slot of the object's word at `first`.
    ///
    /// # Safety
    /// - `first` is an aligned word, in the first unit, of a live object of this adder's heap.
    #[inline]
    pub(super) unsafe fn add(&self, first: *mut u64, value: u64) {
        // SAFETY:
        // - The word exists in each unit (contract of this function).
        // - In the first mode only the sequence writes to slots of CPUs (P10).
        unsafe {
            if !self.adds.add(first, value) {
                self.add_atomic(first, value);
            }
        }
    }

    /// [`Adder::add`] to two words.
    ///
    /// # Safety
    /// As [`Adder::add`], for both.
    #[inline]
    pub(super) unsafe fn add_two(&self, (first, value): (*mut u64, u64), (other, more): (*mut u64, u64)) {
        // SAFETY: as above.
        unsafe {
            if !self.adds.add(first, value) {
                self.add_two_atomic((first, value), (other, more));
            } else if !self.adds.add(other, more) {
                self.add_to_overflow(other, more);
            }
        }
    }

    /// Not inlined, and called last, so that the first mode saves no registers for it. Otherwise a record of a
    /// histogram takes the time of 2.5 adds instead of 2.
    ///
    /// # Safety
    /// As [`Adder::add_two`].
    #[inline(never)]
    unsafe fn add_two_atomic(&self, (first, value): (*mut u64, u64), (other, more): (*mut u64, u64)) {
        // SAFETY: as above.
        unsafe {
            self.add_atomic(first, value);
            self.add_atomic(other, more);
        }
    }

    /// [`Adder::add`], which returns the slot's previous value.
    ///
    /// # Safety
    /// As [`Adder::add`].
    #[inline]
    pub(super) unsafe fn fetch_add(&self, first: *mut u64, value: u64) -> u64 {
        // SAFETY: as above.
        unsafe {
            match self.adds.fetch_add(first, value) {
                Some(old) => old,
                None => self.add_atomic(first, value),
            }
        }
    }

    /// An atomic add to the slot of the CPU or the thread; in the first mode, to the overflow slot.
    ///
    /// # Safety
    /// As [`Adder::add`].
    #[inline]
    unsafe fn add_atomic(&self, first: *mut u64, value: u64) -> u64 {
        // SAFETY: the index is below the number of CPUs.
        unsafe {
            if self.mode == AddMode::Sequence {
                self.add_to_overflow(first, value)
            } else {
                self.slot(first, self.index()).fetch_add(value, Ordering::Relaxed)
            }
        }
    }

    /// The add of a thread without a registered area: the kernel gives it no CPU's number.
    ///
    /// # Safety
    /// As [`Adder::add`].
    #[cold]
    pub(super) unsafe fn add_to_overflow(&self, first: *mut u64, value: u64) -> u64 {
        self.overflow.store(true, Ordering::Relaxed);
        // SAFETY: the overflow unit follows those of CPUs.
        unsafe { self.slot(first, self.cpus).fetch_add(value, Ordering::Relaxed) }
    }

    /// Adds whole batches to the slot that all CPUs share.
    ///
    /// # Safety
    /// As [`Adder::add`].
    #[cold]
    pub(super) unsafe fn add_batches(&self, first: *mut u64, value: u64) {
        self.batches.store(true, Ordering::Relaxed);
        // SAFETY: the unit of batches is the last.
        unsafe { self.slot(first, self.cpus + 1).fetch_add(value, Ordering::Relaxed) };
    }

    /// The sum of the added batches.
    ///
    /// # Safety
    /// As [`Adder::add`].
    pub(super) unsafe fn batches(&self, first: *mut u64) -> u64 {
        if !self.batches.load(Ordering::Relaxed) {
            return 0;
        }
        // SAFETY: the unit of batches is the last.
        unsafe { self.slot(first, self.cpus + 1).load(Ordering::Relaxed) }
    }

    /// Number of units that hold parts of sums: those of CPUs, and the overflow unit once it was used.
    #[inline]
    pub(super) fn summed_units(&self) -> u32 {
        self.cpus + u32::from(self.overflow.load(Ordering::Relaxed))
    }

    /// Units that were ever written to.
    pub(super) fn used_units(&self) -> impl Iterator<Item = u32> {
        let batches = self.batches.load(Ordering::Relaxed).then_some(self.cpus + 1);
        (0..self.summed_units()).chain(batches)
    }

    /// The slot of a unit.
    ///
    /// # Safety
    /// - As [`Adder::add`].
    /// - `unit` is one of the heap's.
    #[inline]
    pub(super) unsafe fn slot<'a>(&self, first: *mut u64, unit: u32) -> &'a AtomicU64 {
        // SAFETY:
        // - The word exists in each unit, aligned as in the first.
        // - Sequences store whole aligned words, which is atomic.
        unsafe { AtomicU64::from_ptr(first.byte_add(unit as usize * self.stride_bytes)) }
    }
}
