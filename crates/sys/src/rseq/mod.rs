//! Restartable sequences: work on the CPU's own slot that the kernel restarts if the thread is moved or interrupted.
//!
//! ```text
//!   thread pointer + offset -> area   | cpu_id_start | cpu_id | rseq_cs        | flags | node_id | mm_cid |
//!                              bytes    0              4        8                16      20        24
//!
//!   add:  rseq_cs = descriptor of [start, commit)     so the kernel knows where the sequence is
//!   start:   index = cpu_id or mm_cid
//!            old = slot[index], new = old + value
//!            slot[index] = new                        one store commits
//!   commit:
//! ```
//!
//! If the thread is preempted, moved or interrupted by a signal between start and commit, it resumes at the abort
//! handler, which jumps back to the beginning. So no other thread ran on this CPU between the load and the store, and
//! none has the same index elsewhere: `cpu_id` belongs to the CPU, and the kernel gives an `mm_cid` to one running
//! thread of the process at a time.
//!
//! The area is the one that the C library registers for each thread. This module registers nothing, writes only
//! `rseq_cs`, and only reads the fields that the kernel writes. A thread whose area is not registered has a negative
//! `cpu_id`; the call returns `false`, and the caller falls back to an atomic add.
//!
//! A debugger that single-steps through a sequence never reaches its end, since every stop restarts it.
//!
//! # Invariants
//! P10: while any thread may use [`Sequence::add`] on a slot, the slot is written in no other way.
//!
//! Source: M. Desnoyers, "Restartable sequences", Linux 4.18; `mm_cid`, Linux 6.3.

#[cfg(all(target_arch = "aarch64", target_os = "linux", not(miri)))]
mod aarch64;
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux", not(miri)))]
mod abort_tests;
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux", not(miri))))]
mod absent;
mod detect;
#[cfg(all(test, not(miri)))]
mod tests;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod x86_64;

#[cfg(all(target_arch = "aarch64", target_os = "linux", not(miri)))]
use aarch64 as arch;
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux", not(miri))))]
use absent as arch;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
use x86_64 as arch;

pub use detect::{Absent, Rseq, detect};

/// The field of the area that selects a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The CPU's number. A slot's memory is used by its CPU only, and so lies on that CPU's NUMA node.
    CpuId,
    /// The lowest number that no other running thread of the process has, given by the kernel. Few threads on many CPUs
    /// use few slots.
    MmCid,
}

/// No field: the area is not read.
const NONE: u32 = 0;
/// Offset of `cpu_id` in the area.
const CPU_ID: u32 = 4;
/// Offset of `mm_cid` in the area.
const MM_CID: u32 = 24;

/// Adds to slots that lie a fixed distance apart, one for each index.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// `area` if the index is `cpu_id`, else 0, so the fast path tests one field.
    area_by_cpu_id: isize,
    /// Offset of the area from the thread pointer.
    area: isize,
    /// Offset of the index in the area.
    field: u32,
    /// Number of slots: valid indexes are below.
    limit: u32,
    /// Bytes from one slot to the next.
    stride_bytes: usize,
}

impl Sequence {
    /// A sequence for `limit` slots that lie `stride_bytes` apart. `None` if the index is `mm_cid` and the kernel does
    /// not write that.
    #[must_use]
    pub fn new(rseq: &Rseq, index: Index, limit: u32, stride_bytes: usize) -> Option<Self> {
        let field = match index {
            Index::CpuId => CPU_ID,
            Index::MmCid if rseq.has_mm_cid() => MM_CID,
            Index::MmCid => return None,
        };
        Some(Self::by_field(rseq.area(), field, limit, stride_bytes))
    }

    const fn by_field(area: isize, field: u32, limit: u32, stride_bytes: usize) -> Self {
        let area_by_cpu_id = if field == CPU_ID { area } else { 0 };
        Self { area_by_cpu_id, area, field, limit, stride_bytes }
    }

    /// A disabled sequence: `index` is `None`, `add` returns `false`.
    #[must_use]
    pub const fn absent() -> Self {
        Self::by_field(0, NONE, 0, 0)
    }

    /// Whether it is [`absent`](Self::absent).
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        self.field == NONE
    }

    /// Offset in bytes of a thread's area from its thread pointer, for a sequence that is written elsewhere and indexed by
    /// `cpu_id`. `None` if this one has another index, or none.
    #[must_use]
    pub const fn area_by_cpu_id(&self) -> Option<isize> {
        if self.area_by_cpu_id == 0 { None } else { Some(self.area_by_cpu_id) }
    }

    /// The present index of this thread. It may have changed when the caller uses it. `None` if this thread has no
    /// registered area, or the index is not below the limit.
    #[inline]
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        if self.is_absent() {
            return None;
        }
        // SAFETY: the area exists in every thread (`Rseq`), and has both fields.
        let (cpu, index) = unsafe { (arch::read(self.area, CPU_ID), arch::read(self.area, self.field)) };
        (cpu.cast_signed() >= 0 && index < self.limit).then_some(index)
    }

    /// Adds `value` to the slot of this CPU, modulo 2^64. Returns `false` without adding if this thread has no
    /// registered area, or its index is not below the limit.
    ///
    /// Safe in signal handlers. To other threads it is a relaxed load and a relaxed store.
    ///
    /// # Safety
    /// - `slot`, and each address a multiple of `stride_bytes` above it, up to the limit, is valid and aligned for
    ///   reads and writes of a `u64`.
    /// - P10 holds for each.
    #[inline]
    #[must_use]
    pub unsafe fn add(&self, slot: *mut u64, value: u64) -> bool {
        // SAFETY:
        // - The area exists in every thread (`Rseq`).
        // - The slots are valid, as the caller guarantees.
        unsafe {
            if self.area_by_cpu_id != 0 {
                arch::add_by_cpu_id(self, slot, value)
            } else {
                self.field == MM_CID && arch::add_by_mm_cid(self, slot, value)
            }
        }
    }

    /// As [`Sequence::add`], and returns the previous value.
    ///
    /// # Safety
    /// As [`Sequence::add`].
    #[inline]
    #[must_use]
    pub unsafe fn fetch_add(&self, slot: *mut u64, value: u64) -> Option<u64> {
        if self.is_absent() {
            return None;
        }
        // SAFETY:
        // - The area exists in every thread (`Rseq`).
        // - The slots are valid, as the caller guarantees.
        unsafe { arch::fetch_add(self, slot, value) }
    }
}
