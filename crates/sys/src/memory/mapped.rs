//! A reservation in the process's list of mappings: its address, its name, and the use of its pages.

use super::{Reservation, page_bytes, refuse, system};
use crate::SysError;
use std::ffi::CStr;
use std::ops::Range;

impl Reservation {
    /// Reserves `len_bytes` at `address`, both multiples of a page, if nothing else is mapped there.
    ///
    /// # Errors
    /// `EINVAL` if one is no multiple of a page; `EEXIST` if something is mapped there. Otherwise as `mmap(2)`:
    /// `ENOMEM` under a limit, `EPERM` for the lowest addresses.
    #[doc(alias = "MAP_FIXED_NOREPLACE")]
    pub fn at(address: usize, len_bytes: usize) -> Result<Self, SysError> {
        let page = page_bytes();
        let whole = address.is_multiple_of(page) && len_bytes.is_multiple_of(page);
        if !whole || address == 0 || len_bytes == 0 || address.checked_add(len_bytes).is_none() {
            return Err(SysError::invalid("mmap"));
        }
        refuse("mmap")?;
        Ok(Self { base: system::reserve_at(address, len_bytes)?, len_bytes })
    }

    /// Gives a part a name, under which `/proc/self/smaps` shows it as a mapping of its own (Linux 5.17).
    ///
    /// # Errors
    /// `EINVAL` if the kernel is built without such names, or for a name of more than 79 bytes or with one of ``[]\$`
    /// `` or an unprintable character; `ENOMEM` for too many mappings.
    #[doc(alias = "PR_SET_VMA_ANON_NAME")]
    pub fn name(&self, range: Range<usize>, name: &CStr) -> Result<(), SysError> {
        let start = self.check(&range, "prctl")?;
        refuse("prctl")?;
        // SAFETY: the range is part of this reservation.
        unsafe { system::name(start, range.len(), name) }
    }

    /// Makes committed pages readable and executable, and no longer writable. Where instructions are cached apart from
    /// data, as on aarch64, the caller must maintain the caches.
    ///
    /// # Errors
    /// As `mprotect(2)`.
    ///
    /// # Safety
    /// Nobody writes to the pages any more.
    #[doc(alias = "PROT_EXEC")]
    pub unsafe fn make_executable(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "mprotect")?;
        refuse("mprotect")?;
        // SAFETY: the range is part of this reservation, and nobody writes to it, as the caller guarantees.
        unsafe { system::make_executable(start, range.len()) }
    }
}
