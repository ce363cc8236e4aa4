//! Locked memory: pages that the system may not evict, as under `mlockall`.

use super::{Reservation, refuse};
use crate::SysError;
use std::ops::Range;

impl Reservation {
    /// Unlocks a part, as needed under `mlockall(MCL_FUTURE)`, which locks every new mapping. Memory committed later is
    /// populated when it is touched, not at once.
    ///
    /// # Errors
    /// As `munlock(2)`.
    #[doc(alias = "munlock")]
    pub fn unlock(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "munlock")?;
        refuse("munlock")?;
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        // SAFETY: the range is part of this reservation, and its users see no difference.
        done("munlock", unsafe { libc::munlock(start.as_ptr().cast(), range.len()) })?;
        let _ = start;
        Ok(())
    }

    /// Locks the pages of a part: those that have memory at once, others when they are first touched.
    ///
    /// # Errors
    /// As `mlock2(2)`: `ENOMEM` or `EPERM` under a limit of locked memory (`RLIMIT_MEMLOCK`), which counts the whole
    /// part.
    #[doc(alias = "MLOCK_ONFAULT")]
    pub fn lock_on_fault(&self, range: Range<usize>) -> Result<(), SysError> {
        let start = self.check(&range, "mlock2")?;
        refuse("mlock2")?;
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        // SAFETY: the range is part of this reservation, and its users see no difference.
        done("mlock2", unsafe {
            libc::mlock2(start.as_ptr().cast(), range.len(), libc::MLOCK_ONFAULT as _)
        })?;
        let _ = start;
        Ok(())
    }

    /// As [`Reservation::decommit`], for pages that may be locked and stay so (Linux 5.18).
    ///
    /// # Errors
    /// As `madvise(2)`: `EINVAL` if the kernel lacks it. The content of the pages is unknown then.
    ///
    /// # Safety
    /// As for [`Reservation::decommit`].
    #[doc(alias = "MADV_DONTNEED_LOCKED")]
    pub unsafe fn decommit_locked(&self, range: Range<usize>) -> Result<(), SysError> {
        #[cfg(not(any(miri, not(target_os = "linux"))))]
        {
            let start = self.check(&range, "madvise")?;
            refuse("madvise")?;
            // SAFETY: the range is part of this reservation. It is committed and not in use, as the caller guarantees.
            done("madvise", unsafe {
                libc::madvise(start.as_ptr().cast(), range.len(), super::system::MADV_DONTNEED_LOCKED)
            })
        }
        #[cfg(any(miri, not(target_os = "linux")))]
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.decommit(range)
        }
    }
}

/// The result of a call that returns 0, or sets `errno`.
#[cfg(not(any(miri, not(target_os = "linux"))))]
fn done(call: &'static str, returned: libc::c_int) -> Result<(), SysError> {
    if returned == 0 { Ok(()) } else { Err(SysError::last(call)) }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use crate::Reservation;
    use crate::memory::page_bytes;

    #[test]
    fn locked_pages_are_given_back_and_stay_locked() {
        let page = page_bytes();
        let memory = Reservation::new(4 * page).unwrap();
        memory.commit(0..4 * page).unwrap();
        if let Err(error) = memory.lock_on_fault(0..4 * page) {
            eprintln!("nothing is locked here: {error}");
            return;
        }
        // SAFETY: the page is committed, and nobody else uses it.
        unsafe { memory.base().write(1) };
        // SAFETY: nobody relies on what the pages hold.
        assert_eq!(unsafe { memory.decommit(0..4 * page) }.unwrap_err().errno, libc::EINVAL);
        // SAFETY: as above.
        match unsafe { memory.decommit_locked(0..4 * page) } {
            // SAFETY: as above.
            Ok(()) => assert_eq!(unsafe { memory.base().read() }, 0),
            Err(error) => eprintln!("before Linux 5.18: {error}"),
        }
        memory.unlock(0..4 * page).unwrap();
        // SAFETY: as above.
        unsafe { memory.decommit(0..4 * page) }.unwrap();
    }
}
