//! Memory from the global allocator, under Miri and on systems other than Linux: all of it exists from the start.

use super::Guard;
use crate::SysError;
use crate::abilities::Lacking;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::NonNull;

/// Bytes of a page.
#[must_use]
pub fn page_bytes() -> usize {
    4096
}

fn layout(len: usize) -> Result<Layout, SysError> {
    Layout::from_size_align(len, page_bytes()).map_err(|_| SysError::invalid("mmap"))
}

pub(super) fn reserve(len: usize) -> Result<NonNull<u8>, SysError> {
    // SAFETY: `len` is not 0.
    let at = unsafe { alloc_zeroed(layout(len)?) };
    NonNull::new(at).ok_or(SysError { call: "mmap", errno: libc::ENOMEM })
}

pub(super) fn reserve_at(_address: usize, _len: usize) -> Result<NonNull<u8>, SysError> {
    Err(SysError { call: "mmap", errno: libc::ENOSYS })
}

/// # Safety
/// The memory is what `reserve` returned, whole and not used any more.
pub(super) unsafe fn release(base: NonNull<u8>, len: usize) {
    if let Ok(layout) = layout(len) {
        // SAFETY: guaranteed by the caller.
        unsafe { dealloc(base.as_ptr(), layout) };
    }
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn commit(_start: NonNull<u8>, _len: usize) -> Result<(), SysError> {
    Ok(())
}

/// # Safety
/// The range is part of a reservation, and nobody relies on what it holds.
pub(super) unsafe fn decommit(start: NonNull<u8>, len: usize) -> Result<(), SysError> {
    // SAFETY: guaranteed by the caller.
    unsafe { start.write_bytes(0, len) };
    Ok(())
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn populate(_start: NonNull<u8>, _len: usize) -> Result<(), SysError> {
    Ok(())
}

/// # Safety
/// The range is part of a reservation, and nobody uses it.
pub(super) unsafe fn guard(_start: NonNull<u8>, _len: usize) -> Result<Guard, SysError> {
    Err(SysError { call: "madvise", errno: libc::ENOSYS })
}

pub(super) fn may_split() -> bool {
    true
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn unguard(_start: NonNull<u8>, _len: usize, _guard: Guard) -> Result<(), SysError> {
    Err(SysError { call: "madvise", errno: libc::ENOSYS })
}

pub(super) fn resident(
    _start: NonNull<u8>,
    _len: usize,
    _found: &mut dyn FnMut(Range<usize>),
) -> Result<(), SysError> {
    Err(SysError { call: "PAGEMAP_SCAN", errno: libc::ENOSYS })
}

pub(super) fn resident_bytes(_start: NonNull<u8>, _len: usize) -> Result<u64, SysError> {
    Err(SysError { call: "PAGEMAP_SCAN", errno: libc::ENOSYS })
}

/// # Safety
/// The range is part of a reservation, and nobody writes to it.
pub(super) unsafe fn make_executable(_start: NonNull<u8>, _len: usize) -> Result<(), SysError> {
    Err(SysError { call: "mprotect", errno: libc::ENOSYS })
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn name(_start: NonNull<u8>, _len: usize, _name: &CStr) -> Result<(), SysError> {
    Err(SysError { call: "prctl", errno: libc::EINVAL })
}

/// There is no page map.
#[derive(Debug)]
pub(super) struct Pagemap;

impl Pagemap {
    pub(super) fn open() -> Result<Self, SysError> {
        Err(SysError { call: "open", errno: libc::ENOSYS })
    }

    pub(super) fn resident(
        &mut self,
        _addresses: Range<usize>,
        _found: &mut dyn FnMut(Range<usize>),
    ) -> Result<(), SysError> {
        Err(SysError { call: "PAGEMAP_SCAN", errno: libc::ENOSYS })
    }

    pub(super) fn resident_bytes(&mut self, _addresses: Range<usize>) -> Result<u64, SysError> {
        Err(SysError { call: "PAGEMAP_SCAN", errno: libc::ENOSYS })
    }
}

pub(crate) fn try_page_scan() -> Result<(), Lacking> {
    Err(SysError { call: "PAGEMAP_SCAN", errno: libc::ENOSYS }.into())
}

pub(crate) fn try_guard_marks() -> Result<(), Lacking> {
    Err(SysError { call: "madvise", errno: libc::ENOSYS }.into())
}

/// `decommit` writes zeros.
pub(crate) fn try_give_back() -> Result<(), Lacking> {
    Ok(())
}

pub(crate) fn try_seals() -> Result<(), Lacking> {
    Err(SysError { call: "mseal", errno: libc::ENOSYS }.into())
}

pub(crate) fn wiped_word() -> Option<&'static std::sync::atomic::AtomicU64> {
    None
}
