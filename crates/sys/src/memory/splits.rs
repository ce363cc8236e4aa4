//! Limits the mappings that guards make: an eighth of `vm.max_map_count` is left to the threads, files and libraries of
//! the process, which need mappings, too.
//!
//! Counting the mappings of the process is linear. It is done once for each quarter of what the last count left to
//! guards. A refusal is remembered until a guard is undone, and for [`REFUSALS`] more guards.

use crate::fork;
use crate::{SysError, machine, mappings};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

/// One in `SHARE` of all mappings is not for guards.
const SHARE: u64 = 8;
/// Mappings below the share of others at which a count already refuses, so that counts are rare near the limit.
const MARGIN: u64 = 64;
/// Guards that are refused without a count, after a count that refused.
const REFUSALS: i64 = 64;

/// Guards that may be made before the mappings are counted again. Below 0: guards to refuse before that.
static LEFT: AtomicI64 = AtomicI64::new(0);
/// Held while mappings are counted.
static COUNTING: Mutex<()> = Mutex::new(());

/// The refusal of a guard, or of a mapping beyond the limit.
pub(super) const REFUSED: SysError = SysError { call: "mprotect (vm.max_map_count)", errno: libc::ENOMEM };

/// Takes the permission for a guard that is a mapping. Each guard takes two mappings: its own, and the one after it.
pub(super) fn take() -> Result<(), SysError> {
    // Relaxed: no other data depends on it.
    let taken = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| match left {
        0 => None,
        1.. => Some(left - 1),
        _ => Some(left + 1),
    });
    match taken {
        Ok(1..) => Ok(()),
        Ok(_) => Err(REFUSED),
        Err(_) => count(),
    }
}

/// Counts the mappings of the process.
#[cold]
fn count() -> Result<(), SysError> {
    let _counting = fork::lock(|| COUNTING.lock());
    if LEFT.load(Ordering::Relaxed) > 0 {
        // Another thread has just counted.
        return Ok(());
    }
    let mut now = 0;
    let counted = mappings::each(|_, _| now += 1);
    let (Some(most), Ok(())) = (machine::max_mappings(), counted) else {
        // `/proc` does not tell; the kernel refuses mappings beyond its limit.
        return Ok(());
    };
    let left = (most - most / SHARE).saturating_sub(now);
    // Two for each guard. Only a quarter, since others make mappings meanwhile.
    let guards = if left > MARGIN { (left / 2 / 4).max(1) as i64 } else { -REFUSALS };
    LEFT.store(guards, Ordering::Relaxed);
    if guards > 0 { Ok(()) } else { Err(REFUSED) }
}

/// Notes that a guard was undone, so the next one may succeed.
pub(super) fn undone() {
    // Relaxed: as in `take`.
    LEFT.fetch_max(0, Ordering::Relaxed);
}
