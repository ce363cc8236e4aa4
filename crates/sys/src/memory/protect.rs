//! Access to committed pages: made read-only, or removed.

use super::{Reservation, refuse};
use crate::SysError;
use std::ops::Range;

impl Reservation {
    /// Makes committed pages readable, and no longer writable or executable; [`Reservation::commit`] makes them
    /// writable again.
    ///
    /// # Errors
    /// As `mprotect(2)`.
    ///
    /// # Safety
    /// Nobody writes to the pages, or executes them.
    #[doc(alias = "PROT_READ")]
    pub unsafe fn make_read_only(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "mprotect")?;
        refuse("mprotect")?;
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        if !range.is_empty() {
            // SAFETY: the range is part of this reservation, and nobody needs the removed access, as the caller
            // guarantees.
            let failed = unsafe { libc::mprotect(start.as_ptr().cast(), range.len(), libc::PROT_READ) };
            return if failed == 0 { Ok(()) } else { Err(SysError::last("mprotect")) };
        }
        let _ = start;
        Ok(())
    }

    /// Makes pages reserved again: no access, no memory, and one mapping with reserved neighbours. Advice for them is
    /// lost.
    ///
    /// # Errors
    /// As `mmap(2)`: `ENOMEM` for too many mappings. Nothing has changed then.
    ///
    /// # Safety
    /// Nobody uses the pages.
    #[doc(alias = "PROT_NONE")]
    pub unsafe fn uncommit(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "mmap")?;
        refuse("mmap")?;
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        if !range.is_empty() {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
            // SAFETY: the range is part of this reservation, and not in use, as the caller guarantees. The new mapping
            // in its place has never had memory, so the kernel merges it with its neighbours.
            let at = unsafe { libc::mmap(start.as_ptr().cast(), range.len(), libc::PROT_NONE, flags, -1, 0) };
            if at == libc::MAP_FAILED {
                return Err(SysError::last("mmap"));
            }
            super::system::unlock(at, range.len());
        }
        let _ = start;
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use crate::memory::page_bytes;
    use crate::{Reservation, mappings};

    #[test]
    fn what_was_protected_is_one_mapping_again() {
        let page = page_bytes();
        let memory = Reservation::new(64 * page).unwrap();
        let first = memory.base().addr().get() as u64;
        let count = || {
            let mut count = 0;
            let all = first..first + memory.len_bytes() as u64;
            mappings::each(|range, _| count += usize::from(range.start < all.end && all.start < range.end))
                .unwrap();
            count
        };
        let at_first = count();
        for at in (0..64).step_by(4) {
            memory.commit(at * page..(at + 1) * page).unwrap();
            // SAFETY: the page is committed, and nobody else uses it.
            unsafe { memory.base().add(at * page).write(1) };
            // SAFETY: nobody writes to the page.
            unsafe { memory.make_read_only(at * page..(at + 1) * page) }.unwrap();
            // SAFETY: the page can be read.
            assert_eq!(unsafe { memory.base().add(at * page).read() }, 1);
        }
        assert!(count() > at_first);
        // SAFETY: nobody uses the pages.
        unsafe { memory.uncommit(0..64 * page) }.unwrap();
        assert!(count() <= at_first + 1, "{} mappings", count());
        memory.commit(0..page).unwrap();
        // SAFETY: the page is committed.
        assert_eq!(unsafe { memory.base().read() }, 0);
    }
}
