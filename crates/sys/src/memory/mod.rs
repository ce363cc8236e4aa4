//! A reservation of address space, and the memory behind parts of it.
//!
//! ```text
//!   reserved   [ no access | committed | no access | committed, guarded page ]     one mapping, PROT_NONE at first
//!                            ^ zero until first written; a page costs memory from then on, until it is decommitted
//! ```
//!
//! Cost: one system call each. No call allocates, except to count mappings where guards are mappings.

mod advice;
#[cfg(not(any(miri, not(target_os = "linux"))))]
mod linux;
mod locked;
mod mapped;
#[cfg(not(any(miri, not(target_os = "linux"))))]
mod page_scan;
#[cfg(any(miri, not(target_os = "linux")))]
mod plain;
mod protect;
mod scan;
#[cfg(not(any(miri, not(target_os = "linux"))))]
mod splits;
#[cfg(test)]
mod tests;
#[cfg(not(any(miri, not(target_os = "linux"))))]
mod trials;

#[cfg(not(any(miri, not(target_os = "linux"))))]
use linux as system;
#[cfg(any(miri, not(target_os = "linux")))]
use plain as system;

use crate::SysError;
use std::ops::Range;
use std::ptr::NonNull;

#[cfg(not(any(miri, not(target_os = "linux"))))]
pub(crate) use linux::wiped_word;
#[cfg(any(miri, not(target_os = "linux")))]
pub(crate) use plain::{try_give_back, try_guard_marks, try_page_scan, try_seals, wiped_word};
pub use scan::PageScan;
pub use system::page_bytes;
#[cfg(not(any(miri, not(target_os = "linux"))))]
pub(crate) use trials::{try_give_back, try_guard_marks, try_page_scan, try_seals};

/// The way in which pages were made to fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// By a mark in the page table: no mapping is split.
    Marked,
    /// By removing all access, which splits the mapping. Used if the kernel lacks guard marks.
    Protected,
}

/// Address space that this process holds, where nothing else is placed. It is released when dropped.
///
/// Ranges are byte offsets from its start, in whole pages; others are refused with `EINVAL`.
#[derive(Debug)]
pub struct Reservation {
    base: NonNull<u8>,
    len_bytes: usize,
}

// SAFETY: it owns addresses, not their content; every method may be called from any thread.
unsafe impl Send for Reservation {}
// SAFETY: as above. Methods that may disturb users of the memory are `unsafe`.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves `len_bytes`, a number of whole pages above 0. The addresses have no access and no memory. Nothing is
    /// charged or locked, even if the process locks all that it maps (`mlockall`).
    ///
    /// # Errors
    /// `EINVAL` for another length; otherwise as `mmap(2)`. `ENOMEM` under a limit of address space is the most
    /// frequent. `EAGAIN` in a process that locks all that it maps and may lock no more.
    #[doc(alias = "mmap")]
    pub fn new(len_bytes: usize) -> Result<Self, SysError> {
        if len_bytes == 0 || !len_bytes.is_multiple_of(page_bytes()) {
            return Err(SysError::invalid("mmap"));
        }
        refuse("mmap")?;
        Ok(Self { base: system::reserve(len_bytes)?, len_bytes })
    }

    /// Its first byte.
    #[inline]
    #[must_use]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Makes pages readable and writable. Pages that were not committed are zero, and get memory when first written.
    /// Committed pages stay as they are.
    ///
    /// # Errors
    /// As `mprotect(2)`: `ENOMEM` if memory is charged strictly or the process has too many mappings. Part of the range
    /// may be committed then; committing it again does no harm.
    #[doc(alias = "mprotect")]
    pub fn commit(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "mprotect")?;
        refuse("mprotect")?;
        // SAFETY: the range is part of this reservation, and more access takes nothing from anyone.
        unsafe { system::commit(start, range.len()) }
    }

    /// Decommits the memory of pages. They stay readable and writable, and are zero when next read.
    ///
    /// # Errors
    /// As `madvise(2)`, for pages that are locked; `ENOSYS` if the system [ignores](crate::Ability::GiveBack) the call.
    /// The content of the pages is unknown then.
    ///
    /// # Safety
    /// - The pages are committed.
    /// - Nobody relies on their content, not even during the call.
    #[doc(alias = "MADV_DONTNEED")]
    pub unsafe fn decommit(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation. It is committed and not in use, as the caller guarantees.
        unsafe { system::decommit(start, range.len()) }
    }

    /// Gives committed pages memory, so that writing to them no longer faults.
    ///
    /// # Errors
    /// As `madvise(2)`: `ENOMEM` if there is not enough. Some of the pages may have memory then.
    ///
    /// # Safety
    /// - The pages are committed.
    /// - Nobody writes to them other than atomically.
    #[doc(alias = "MADV_POPULATE_WRITE")]
    pub unsafe fn populate(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation, and committed, as the caller guarantees.
        unsafe { system::populate(start, range.len()) }
    }

    /// Makes every access to pages fault until they are unguarded. Their memory is decommitted. If the system refuses
    /// that, zeros are written to the pages that are not zero.
    ///
    /// # Errors
    /// - `ENOMEM` of `mprotect (vm.max_map_count)`: guards are mappings, and the process has seven eighths of the
    ///   mappings that it may have. An eighth is left to its threads, files and libraries.
    /// - `ENOMEM` of `madvise(2)`: no memory for page tables.
    ///
    /// # Safety
    /// - The pages are committed; some may be guarded already.
    /// - Nobody uses them.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    pub unsafe fn guard(&self, range: Range<usize>) -> Result<Guard, SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation, and not in use, as the caller guarantees.
        unsafe { system::guard(start, range.len()) }
    }

    /// Whether one more guard may be a mapping of its own, and counts it: see [`Reservation::guard`].
    ///
    /// Cost: constant on average; now and then the mappings are counted, which is linear.
    #[must_use]
    pub fn may_split(&self) -> bool {
        system::may_split()
    }

    /// Makes guarded pages usable again: they are committed, and zero. `guard` is the way in which the latest of them
    /// were made. Others in the range may have been made the other way, if a filter refused the first way later.
    ///
    /// For a range that nobody uses. If a filter refuses to remove marks, pages without one lose their content, too: each
    /// is tried by a write.
    ///
    /// # Errors
    /// As `madvise(2)` and `mprotect(2)`. Marks whose removal a filter refuses stay.
    #[doc(alias = "MADV_GUARD_REMOVE")]
    pub fn unguard(&self, range: Range<usize>, guard: Guard) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation, and more access takes nothing from anyone.
        unsafe { system::unguard(start, range.len(), guard) }
    }

    /// Calls `found` with each run of pages, in bytes from the start of the reservation, that has memory of its own,
    /// present or in swap. Pages that were only read have none, and neither have guards. But Linux 6.13 to 6.15 cannot
    /// distinguish guard marks from pages in swap: there, guard marks are found as well.
    ///
    /// # Errors
    /// The kernel does not provide it. `found` may have been called.
    #[doc(alias = "PAGEMAP_SCAN")]
    pub fn resident(&self, range: Range<usize>, mut found: impl FnMut(Range<usize>)) -> Result<(), SysError> {
        let start = self.check(&range, "PAGEMAP_SCAN")?;
        let base = self.base.addr().get();
        system::resident(start, range.len(), &mut |run| found(run.start - base..run.end - base))
    }

    /// Bytes of memory behind pages, present or in swap, as in `/proc/self/smaps`. If the kernel cannot distinguish
    /// guards from pages in swap, guards count as soon as the process has pages in swap.
    ///
    /// # Errors
    /// The kernel does not provide it.
    pub fn resident_bytes(&self, range: Range<usize>) -> Result<u64, SysError> {
        let start = self.check(&range, "PAGEMAP_SCAN")?;
        system::resident_bytes(start, range.len())
    }

    /// The start address of a range, if the range is whole pages of this reservation.
    fn check(&self, range: &Range<usize>, call: &'static str) -> Result<NonNull<u8>, SysError> {
        let page = page_bytes();
        let whole = range.start.is_multiple_of(page) && range.end.is_multiple_of(page);
        if !whole || range.start > range.end || range.end > self.len_bytes {
            return Err(SysError::invalid(call));
        }
        // SAFETY: the start is within the reservation, or one past its end.
        Ok(unsafe { self.base.add(range.start) })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: this is the whole reservation, and nobody uses its addresses after the drop.
        unsafe { system::release(self.base, self.len_bytes) };
    }
}

/// Fails if a test requests that this call fails.
#[inline]
fn refuse(call: &'static str) -> Result<(), SysError> {
    #[cfg(feature = "failing")]
    return crate::failing::check(call);
    #[cfg(not(feature = "failing"))]
    {
        let _ = call;
        Ok(())
    }
}
