//! Trials of abilities on a scratch page: they check effects, not return values.

use super::{Reservation, linux, page_bytes, page_scan};
use crate::SysError;
use crate::abilities::Lacking;
use std::ptr::{self, NonNull};

/// A committed page that only the trial knows. Tests that make calls fail do not count those of trials.
fn scratch() -> Result<Reservation, SysError> {
    let len_bytes = page_bytes();
    let memory = Reservation { base: linux::reserve(len_bytes)?, len_bytes };
    // SAFETY: the page is the reservation's.
    unsafe { linux::commit(memory.base, len_bytes) }?;
    Ok(memory)
}

/// Bytes that a trial may write.
const MASK_BYTES: usize = 8;

/// Whether the kernel fails to write to an address, where a thread would get a signal. It is asked to write the mask of
/// blocked signals without changing it: the only suitable call that no filter forbids.
///
/// # Safety
/// - Eight bytes from there on belong to a mapping of this process.
/// - Nobody uses them, if they can be written at all.
pub(super) unsafe fn faults(at: NonNull<u8>) -> Result<bool, SysError> {
    let new = ptr::null::<u8>();
    // SAFETY: it writes at most eight bytes, which nobody uses.
    let done =
        unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, new, at.as_ptr(), MASK_BYTES) };
    match SysError::last("rt_sigprocmask") {
        _ if done == 0 => Ok(false),
        SysError { errno: libc::EFAULT, .. } => Ok(true),
        error => Err(error),
    }
}

/// Whether no page of a range has a guard mark. Unmarked pages are zero afterwards as before.
///
/// # Safety
/// - The range is part of a reservation, in whole pages.
/// - It is readable and writable except for guard marks, and zero.
/// - Nobody uses it.
pub(super) unsafe fn is_unmarked(start: NonNull<u8>, len: usize) -> bool {
    (0..len).step_by(page_bytes()).all(|at| {
        // SAFETY: the page is in the range; it is written only if the kernel could write it.
        unsafe {
            let page = start.add(at);
            let is_usable = faults(page) == Ok(false);
            if is_usable {
                page.write_bytes(0, MASK_BYTES);
            }
            is_usable
        }
    })
}

/// Marks the page, and lets the kernel try to write there.
pub(crate) fn try_guard_marks() -> Result<(), Lacking> {
    let page = scratch()?;
    // SAFETY: the page is this function's.
    unsafe { linux::mark(page.base, page.len_bytes) }?;
    // SAFETY: as above.
    if unsafe { faults(page.base) }? { Ok(()) } else { Err(Lacking::Ignored { call: "madvise" }) }
}

/// Writes to the page, decommits it, and reads it.
pub(crate) fn try_give_back() -> Result<(), Lacking> {
    let page = scratch()?;
    // SAFETY: the page is this function's, and committed.
    unsafe {
        page.base.as_ptr().write_volatile(1);
        linux::advise(page.base, page.len_bytes, libc::MADV_DONTNEED)?;
        match page.base.as_ptr().read_volatile() {
            0 => Ok(()),
            _ => Err(Lacking::Ignored { call: "madvise" }),
        }
    }
}

/// Writes to the page, and scans it.
pub(crate) fn try_page_scan() -> Result<(), Lacking> {
    let page = scratch()?;
    let first = page.base.addr().get();
    // SAFETY: the page is this function's, and committed.
    unsafe { page.base.as_ptr().write_volatile(1) };
    let mut found = 0;
    page_scan::by_call(first..first + page.len_bytes, &mut |run, _| found += run.len())?;
    if found == page.len_bytes { Ok(()) } else { Err(Lacking::Ignored { call: "PAGEMAP_SCAN" }) }
}

/// Seals the page, which can never be unmapped afterwards.
pub(crate) fn try_seals() -> Result<(), Lacking> {
    /// The same number on all architectures; libc does not name it on each.
    const SYS_MSEAL: libc::c_long = 462;
    let page = scratch()?;
    let (at, len) = (page.base.as_ptr(), page.len_bytes);
    // SAFETY: the page is this function's, and the call removes no access.
    if unsafe { libc::syscall(SYS_MSEAL, at, len, 0) } != 0 {
        return Err(SysError::last("mseal").into());
    }
    // SAFETY: the page is this function's, and no longer used.
    let unmapped = unsafe { libc::munmap(at.cast(), len) } == 0;
    std::mem::forget(page);
    if unmapped { Err(Lacking::Ignored { call: "mseal" }) } else { Ok(()) }
}
