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
//! If the thread is preempted, moved or interrupted by a signal between start and commit, it goes on at the abort handler,
//! which jumps to the beginning. So between the load and the store no other thread ran on this CPU, and none has the same
//! index elsewhere: `cpu_id` is the CPU's, `mm_cid` is given to one running thread of the process at a time.
//!
//! The area is the one that the C library registers for each thread. Nothing is registered here, nothing is written but
//! `rseq_cs`, and the fields that the kernel writes are only read. A thread whose area is not registered has a negative
//! `cpu_id`; the call returns `false`, and the caller falls back to an atomic add.
//!
//! A debugger that single-steps through a sequence never gets to its end, since every stop restarts it.
//!
//! # Invariants
//! P10: slots that [`Sequence::add`] is used on are written in no other way while any thread may add.
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

/// The field of the area by which slots are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The CPU's number. A slot's memory is the CPU's own, and so on its NUMA node.
    CpuId,
    /// A number that the kernel gives each running thread of the process, the lowest that is not in use: few threads on
    /// many CPUs use few slots.
    MmCid,
}

/// No field: the area is not looked at.
const NONE: u32 = 0;
/// Where `cpu_id` is in the area.
const CPU_ID: u32 = 4;
/// Where `mm_cid` is in the area.
const MM_CID: u32 = 24;

/// Adds to slots that lie a fixed distance apart, one for each index.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// `area` if the index is `cpu_id`, else 0, so the fast path tests one field.
    area_by_cpu_id: isize,
    /// From the thread pointer to the area.
    area: isize,
    /// From there to the index.
    field: u32,
    /// Slots: indexes are below.
    limit: u32,
    /// Bytes from a slot to the next.
    stride_bytes: usize,
}

impl Sequence {
    /// For `limit` slots that lie `stride_bytes` apart. `None` if the index is `mm_cid` and the kernel does not write it.
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

    /// The index of this thread now. It may be another's when the caller looks at it. `None` if this thread has no
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

    /// Adds `value` to the slot of this CPU, modulo 2^64. False, and nothing is added, if this thread has no registered area
    /// or its index is not below the limit.
    ///
    /// Safe in signal handlers. To other threads it is a relaxed load and a relaxed store.
    ///
    /// # Safety
    /// `slot`, and each place `stride_bytes` further up to the limit, is valid and aligned for reads and writes of a
    /// `u64`, and P10 holds for it.
    #[inline]
    #[must_use]
    pub unsafe fn add(&self, slot: *mut u64, value: u64) -> bool {
        // SAFETY: the area exists in every thread (`Rseq`); the slots are valid, as the caller says.
        unsafe {
            if self.area_by_cpu_id != 0 {
                arch::add_by_cpu_id(self, slot, value)
            } else {
                self.field == MM_CID && arch::add_by_mm_cid(self, slot, value)
            }
        }
    }

    /// [`Sequence::add`], and returns what was there before.
    ///
    /// # Safety
    /// As [`Sequence::add`].
    #[inline]
    #[must_use]
    pub unsafe fn fetch_add(&self, slot: *mut u64, value: u64) -> Option<u64> {
        if self.is_absent() {
            return None;
        }
        // SAFETY: the area exists in every thread (`Rseq`); the slots are valid, as the caller says.
        unsafe { arch::fetch_add(self, slot, value) }
    }
}
