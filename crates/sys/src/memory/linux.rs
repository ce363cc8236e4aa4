//! Memory by Linux's system calls.

use super::{Guard, page_scan, splits, trials};
use crate::SysError;
use crate::abilities::{Ability, Lacking};
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Guard marks (Linux 6.13); libc has no names for them yet.
const MADV_GUARD_INSTALL: libc::c_int = 102;
const MADV_GUARD_REMOVE: libc::c_int = 103;
/// Decommits locked pages, too (Linux 5.18); libc does not name it on every target.
pub(super) const MADV_DONTNEED_LOCKED: libc::c_int = 24;

pub(super) use page_scan::Pagemap;

/// Bytes of a page.
#[must_use]
pub fn page_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *crate::fork::get_or_init(&BYTES, || {
        // SAFETY: `sysconf` reads a constant of the system.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        // Linux has no smaller page, and always answers.
        usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4096)
    })
}

pub(super) fn reserve(len: usize) -> Result<NonNull<u8>, SysError> {
    map(None, len)
}

/// A new mapping without access, at a given address or at one of the kernel's choice.
fn map(address: Option<usize>, len: usize) -> Result<NonNull<u8>, SysError> {
    let fixed = if address.is_some() { libc::MAP_FIXED_NOREPLACE } else { 0 };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    let wanted = ptr::without_provenance_mut(address.unwrap_or(0));
    // SAFETY: a new mapping that replaces none touches nothing that exists.
    let at = unsafe { libc::mmap(wanted, len, libc::PROT_NONE, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return Err(SysError::last("mmap"));
    }
    unlock(at, len);
    NonNull::new(at.cast()).ok_or(SysError::invalid("mmap"))
}

/// Unlocks new addresses in a process that locks all that it maps (`mlockall`): pages made writable there would all be
/// populated, and could not be decommitted.
pub(super) fn unlock(at: *mut libc::c_void, len: usize) {
    // SAFETY: the mapping was just made, and nobody has locked it on purpose. If the call is refused, nothing changes.
    let _ = unsafe { libc::munlock(at, len) };
}

pub(super) fn reserve_at(address: usize, len: usize) -> Result<NonNull<u8>, SysError> {
    let base = map(Some(address), len)?;
    if base.addr().get() != address {
        // Linux before 4.17 treats the address as a hint.
        // SAFETY: the mapping was just made, and nobody else has its address.
        unsafe { release(base, len) };
        return Err(SysError { call: "mmap", errno: libc::EEXIST });
    }
    Ok(base)
}

/// # Safety
/// The mapping is one of `reserve`, whole and not used any more.
pub(super) unsafe fn release(base: NonNull<u8>, len: usize) {
    // SAFETY: guaranteed by the caller. A whole mapping is unmapped without a split; a filter that refuses the call
    // leaks the addresses.
    let _ = unsafe { libc::munmap(base.as_ptr().cast(), len) };
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn commit(start: NonNull<u8>, len: usize) -> Result<(), SysError> {
    // SAFETY: guaranteed by the caller.
    unsafe { protect(start, len, libc::PROT_READ | libc::PROT_WRITE) }
}

/// # Safety
/// The range is part of a reservation, and nobody relies on its content.
pub(super) unsafe fn decommit(start: NonNull<u8>, len: usize) -> Result<(), SysError> {
    if let Err(Lacking::Ignored { call }) = Ability::GiveBack.is_there() {
        return Err(SysError { call, errno: libc::ENOSYS });
    }
    // SAFETY: guaranteed by the caller.
    unsafe { advise(start, len, libc::MADV_DONTNEED) }
}

/// # Safety
/// The range is part of a reservation, committed, and written to atomically at most.
pub(super) unsafe fn populate(start: NonNull<u8>, len: usize) -> Result<(), SysError> {
    // SAFETY: guaranteed by the caller; the pages keep their content.
    match unsafe { advise(start, len, libc::MADV_POPULATE_WRITE) } {
        // Linux before 5.14, or a filter.
        Err(error) if error.is_refusal() => {
            // SAFETY: guaranteed by the caller.
            unsafe { write_nothing(start, len) };
            Ok(())
        }
        populated => populated,
    }
}

/// Writes to each page without a change, so that it has memory and is writable.
///
/// # Safety
/// As for `populate`.
pub(super) unsafe fn write_nothing(start: NonNull<u8>, len: usize) {
    for at in (0..len).step_by(page_bytes()) {
        // SAFETY: the byte is within the range.
        let byte = unsafe { &*start.add(at).cast::<AtomicU8>().as_ptr() };
        // Were the compiler sure of the 0, it would write nothing at all.
        byte.fetch_or(std::hint::black_box(0), Ordering::Relaxed);
    }
}

/// Whether this process ever made guards in each way: an unguard undoes both, since a filter may be installed between.
static MARKED: AtomicBool = AtomicBool::new(false);
static PROTECTED: AtomicBool = AtomicBool::new(false);

/// # Safety
/// The range is part of a reservation, committed, and nobody uses it.
pub(super) unsafe fn guard(start: NonNull<u8>, len: usize) -> Result<Guard, SysError> {
    if Ability::GuardMarks.is_there().is_ok() {
        // Relaxed, and below: a thread that unguards pages got them from the thread that guarded them.
        MARKED.store(true, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        match unsafe { mark(start, len) } {
            Err(error) if error.is_refusal() => {}
            marked => return marked.map(|()| Guard::Marked),
        }
    }
    splits::take()?;
    PROTECTED.store(true, Ordering::Relaxed);
    // SAFETY: guaranteed by the caller, for all three calls.
    let guarded = unsafe {
        if decommit(start, len).is_err() {
            // Some of the pages may have been guarded before.
            unguard(start, len, Guard::Protected)?;
            zero(start, len);
        }
        protect(start, len, libc::PROT_NONE)
    };
    match guarded {
        // Removing access needs no memory except for one more mapping.
        Err(error) if error.errno == libc::ENOMEM => Err(splits::REFUSED),
        guarded => guarded.map(|()| Guard::Protected),
    }
}

pub(super) fn may_split() -> bool {
    splits::take().is_ok()
}

/// # Safety
/// The range is part of a reservation, and nobody uses it.
pub(super) unsafe fn mark(start: NonNull<u8>, len: usize) -> Result<(), SysError> {
    // SAFETY: guaranteed by the caller.
    unsafe { advise(start, len, MADV_GUARD_INSTALL) }
}

/// Writes zeros to the words that are not zero, so pages that were never written get no memory.
///
/// # Safety
/// The range is part of a reservation, whole pages, committed, and nobody uses it.
unsafe fn zero(start: NonNull<u8>, len: usize) {
    for at in (0..len).step_by(size_of::<u64>()) {
        // SAFETY: the word is aligned, within the range, and not used by anybody else.
        unsafe {
            let word = start.add(at).cast::<u64>();
            if word.read() != 0 {
                word.write(0);
            }
        }
    }
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn unguard(start: NonNull<u8>, len: usize, guard: Guard) -> Result<(), SysError> {
    let may_be_marked = guard == Guard::Marked || MARKED.load(Ordering::Relaxed);
    let may_be_protected = guard == Guard::Protected || PROTECTED.load(Ordering::Relaxed);
    // SAFETY: guaranteed by the caller, for all calls.
    unsafe {
        let unmarked = if may_be_marked { advise(start, len, MADV_GUARD_REMOVE) } else { Ok(()) };
        if may_be_protected || unmarked.is_err() {
            commit(start, len)?;
            splits::undone();
        }
        match unmarked {
            // A filter forbids it, which is harmless if there are no marks.
            Err(error) if error.is_refusal() => {
                let is_unmarked = trials::is_unmarked(start, len);
                // The trial has given memory to the pages that it could write.
                let _ = decommit(start, len).or_else(|_| advise(start, len, MADV_DONTNEED_LOCKED));
                if is_unmarked { Ok(()) } else { Err(error) }
            }
            unmarked => unmarked,
        }
    }
}

/// # Safety
/// The range is part of a reservation, and nobody writes to it.
pub(super) unsafe fn make_executable(start: NonNull<u8>, len: usize) -> Result<(), SysError> {
    // SAFETY: guaranteed by the caller.
    unsafe { protect(start, len, libc::PROT_READ | libc::PROT_EXEC) }
}

/// # Safety
/// The range is part of a reservation.
pub(super) unsafe fn name(start: NonNull<u8>, len: usize, name: &CStr) -> Result<(), SysError> {
    let (option, kind) = (libc::PR_SET_VMA, libc::PR_SET_VMA_ANON_NAME as libc::c_ulong);
    let (at, len) = (start.addr().get() as libc::c_ulong, len as libc::c_ulong);
    // SAFETY: the call copies the name, and changes nothing that the memory's users see.
    let failed = unsafe { libc::prctl(option, kind, at, len, name.as_ptr()) };
    if failed == 0 { Ok(()) } else { Err(SysError::last("prctl")) }
}

pub(super) fn resident(
    start: NonNull<u8>,
    len: usize,
    found: &mut dyn FnMut(Range<usize>),
) -> Result<(), SysError> {
    let first = start.addr().get();
    page_scan::resident(first..first + len, &mut |run, _| found(run))
}

pub(super) fn resident_bytes(start: NonNull<u8>, len: usize) -> Result<u64, SysError> {
    let first = start.addr().get();
    page_scan::bytes(|found| page_scan::resident(first..first + len, found))
}

/// A word that is 0 at first and in every child, in a page that is never released. `None` if the kernel cannot make
/// one.
pub(crate) fn wiped_word() -> Option<&'static AtomicU64> {
    let len = page_bytes();
    let page = reserve(len).ok()?;
    // SAFETY: the page is this function's; only children lose its content.
    if unsafe { commit(page, len).and_then(|()| advise(page, len, libc::MADV_WIPEONFORK)) }.is_err() {
        // SAFETY: this is the whole mapping, and nobody has its address.
        unsafe { release(page, len) };
        return None;
    }
    // SAFETY: the page is zero, aligned, readable and writable, and stays mapped.
    Some(unsafe { page.cast().as_ref() })
}

/// # Safety
/// The range is part of a reservation, and nobody needs the access that is removed.
unsafe fn protect(start: NonNull<u8>, len: usize, access: libc::c_int) -> Result<(), SysError> {
    // Emulators refuse what the kernel allows.
    if len == 0 {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    let failed = unsafe { libc::mprotect(start.as_ptr().cast(), len, access) };
    if failed == 0 { Ok(()) } else { Err(SysError::last("mprotect")) }
}

/// # Safety
/// The range is part of a reservation, and nobody needs the content that the advice discards.
pub(super) unsafe fn advise(start: NonNull<u8>, len: usize, advice: libc::c_int) -> Result<(), SysError> {
    loop {
        // SAFETY: guaranteed by the caller.
        let failed = unsafe { libc::madvise(start.as_ptr().cast(), len, advice) };
        if failed == 0 {
            return Ok(());
        }
        let error = SysError::last("madvise");
        if error.errno != libc::EINTR {
            return Err(error);
        }
    }
}
