//! No restartable sequences: another architecture or system, or Miri.

use super::Sequence;

/// No area.
pub(super) fn symbols() -> Option<(isize, u32)> {
    None
}

/// The thread pointer is unknown. There is no area, so this is never called.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn thread_pointer() -> *mut u8 {
    std::ptr::null_mut()
}

/// # Safety
/// There is an area at `area`; so this is never called.
pub(super) unsafe fn read(_area: isize, _field: u32) -> u32 {
    u32::MAX
}

/// # Safety
/// As [`Sequence::add`].
pub(super) unsafe fn add_by_cpu_id(_sequence: &Sequence, _slot: *mut u64, _value: u64) -> bool {
    false
}

/// # Safety
/// As [`Sequence::add`].
pub(super) unsafe fn add_by_mm_cid(_sequence: &Sequence, _slot: *mut u64, _value: u64) -> bool {
    false
}

/// # Safety
/// As [`Sequence::add`].
pub(super) unsafe fn fetch_add(_sequence: &Sequence, _slot: *mut u64, _value: u64) -> Option<u64> {
    None
}
