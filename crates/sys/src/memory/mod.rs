//! A reservation of address space, and the memory behind parts of it.
//!
//! ```text
//!   reserved   [ no access | committed | no access | committed, guarded page ]     one mapping, PROT_NONE at first
//!                            ^ zero until first written; a page costs memory from then on, until it is decommitted
//! ```
//!
//! Cost: one system call each; none asks for memory of its own, but to count mappings where guards are some.

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

/// How pages were made to fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// By a mark in the page table: no mapping is split.
    Marked,
    /// By taking all access away, which splits the mapping. The kernel lacks the other way.
    Protected,
}

/// Address space that this process holds and nothing else is placed in. It is released when dropped.
///
/// Ranges are bytes from its start, and whole pages; others are refused with `EINVAL`.
#[derive(Debug)]
pub struct Reservation {
    base: NonNull<u8>,
    len_bytes: usize,
}

// SAFETY: it owns addresses, not what is stored there; every method may be called from any thread.
unsafe impl Send for Reservation {}
// SAFETY: as above. What may disturb users of the memory is `unsafe` and says so.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves `len_bytes`, a number of whole pages above 0. No access, no memory, nothing charged, nothing locked: also where the
    /// process locks all that it maps (`mlockall`).
    ///
    /// # Errors
    /// `EINVAL` for another length; otherwise as `mmap(2)`, above all `ENOMEM` under a limit of address space, and `EAGAIN` in a process
    /// that locks all that it maps and may lock no more.
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

    /// Makes pages readable and writable. They are zero where they were not committed before, and get memory when first
    /// written. Committed pages stay as they are.
    ///
    /// # Errors
    /// As `mprotect(2)`: `ENOMEM` where memory is charged strictly or the process has too many mappings. Part of the range
    /// may be committed then; to commit it again does no harm.
    #[doc(alias = "mprotect")]
    pub fn commit(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "mprotect")?;
        refuse("mprotect")?;
        // SAFETY: the range is part of this reservation, and more access takes nothing from anyone.
        unsafe { system::commit(start, range.len()) }
    }

    /// Gives the memory of committed pages back. They stay committed, and are zero when next read.
    ///
    /// # Errors
    /// As `madvise(2)`, for pages that are locked; `ENOSYS` where the system [ignores](crate::Ability::GiveBack) the call. What the
    /// pages hold is unknown then.
    ///
    /// # Safety
    /// The pages are committed, and nobody relies on what they hold, during the call too.
    #[doc(alias = "MADV_DONTNEED")]
    pub unsafe fn decommit(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation, committed and not in use, as the caller says.
        unsafe { system::decommit(start, range.len()) }
    }

    /// Puts memory behind committed pages, so that writing to them faults no more.
    ///
    /// # Errors
    /// As `madvise(2)`: `ENOMEM` where there is not enough. Part of the pages may have memory then.
    ///
    /// # Safety
    /// The pages are committed, and nobody writes to them other than atomically.
    #[doc(alias = "MADV_POPULATE_WRITE")]
    pub unsafe fn populate(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation, and committed, as the caller says.
        unsafe { system::populate(start, range.len()) }
    }

    /// Makes every access to pages fault, until they are unguarded. Their memory is given back; where the system refuses that,
    /// zeros are written to what is not zero.
    ///
    /// # Errors
    /// `ENOMEM` of `mprotect (vm.max_map_count)` where guards are mappings and the process has seven eighths of what it may have: an eighth
    /// is left to its threads, files and libraries. `ENOMEM` of `madvise(2)` for page tables.
    ///
    /// # Safety
    /// The pages are committed, and nobody uses them.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    pub unsafe fn guard(&self, range: Range<usize>) -> Result<Guard, SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation and not in use, as the caller says.
        unsafe { system::guard(start, range.len()) }
    }

    /// Whether one more guard may be a mapping of its own, which counts as one: see [`Reservation::guard`].
    ///
    /// Cost: constant on average; mappings are counted now and then, which is linear.
    #[must_use]
    pub fn may_split(&self) -> bool {
        system::may_split()
    }

    /// Makes guarded pages usable again: they are committed, and zero. `guard` is how those were made that were made last: others
    /// of the range may have been made in the other way, if a filter that came between refused the first.
    ///
    /// # Errors
    /// As `madvise(2)` and `mprotect(2)`. Marks that a filter does not let be removed stay.
    #[doc(alias = "MADV_GUARD_REMOVE")]
    pub fn unguard(&self, range: Range<usize>, guard: Guard) -> Result<(), SysError> {
        let start = self.check(&range, "madvise")?;
        refuse("madvise")?;
        // SAFETY: the range is part of this reservation, and more access takes nothing from anyone.
        unsafe { system::unguard(start, range.len(), guard) }
    }

    /// Calls `found` with each run of pages, in bytes from the start of the reservation, that has memory of its own,
    /// present or in swap. Pages that were only read have none, and guards have none; but on Linux 6.13 to 6.15, which does not tell
    /// them from pages in swap, guards that are marks are found as well.
    ///
    /// # Errors
    /// The kernel does not say which pages have memory. `found` may have been called.
    #[doc(alias = "PAGEMAP_SCAN")]
    pub fn resident(&self, range: Range<usize>, mut found: impl FnMut(Range<usize>)) -> Result<(), SysError> {
        let start = self.check(&range, "PAGEMAP_SCAN")?;
        let base = self.base.addr().get();
        system::resident(start, range.len(), &mut |run| found(run.start - base..run.end - base))
    }

    /// Bytes of memory behind pages, present or in swap: what `/proc/self/smaps` says of them. Where the kernel does not tell guards from
    /// pages in swap, guards count if the process has pages in swap.
    ///
    /// # Errors
    /// The kernel does not say which pages have memory.
    pub fn resident_bytes(&self, range: Range<usize>) -> Result<u64, SysError> {
        let start = self.check(&range, "PAGEMAP_SCAN")?;
        system::resident_bytes(start, range.len())
    }

    /// Where a range of whole pages starts, if it is one of this reservation.
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
        // SAFETY: it is the whole reservation, and who drops it has no use for the addresses any more.
        unsafe { system::release(self.base, self.len_bytes) };
    }
}

/// Fails if a test wants this call to.
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
