//! How many more mappings guards may make: an eighth of `vm.max_map_count` is left to the rest of the process, whose threads, files
//! and libraries need mappings, too.
//!
//! The mappings of the process are counted, which is linear, once for each quarter of what was left to guards at the last count. A refusal
//! is remembered until a guard is undone, and for [`REFUSALS`] more.

use crate::fork;
use crate::{SysError, machine, mappings};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

/// Of all mappings, one in so many is not for guards.
const SHARE: u64 = 8;
/// The mappings between a count that refuses and the share of others: so counts are few where guards end.
const MARGIN: u64 = 64;
/// Guards that are refused without a count, after a count that refused.
const REFUSALS: i64 = 64;

/// Guards that may be made before mappings are counted again; less than 0, those that are refused until then.
static LEFT: AtomicI64 = AtomicI64::new(0);
/// Held while mappings are counted.
static COUNTING: Mutex<()> = Mutex::new(());

/// The refusal of a guard, or of a mapping that would be one too many.
pub(super) const REFUSED: SysError = SysError { call: "mprotect (vm.max_map_count)", errno: libc::ENOMEM };

/// Asks for a guard that is a mapping. Each takes two: itself, and what lies behind it.
pub(super) fn take() -> Result<(), SysError> {
    // Relaxed: nothing else is read that another thread wrote.
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
        // `/proc` does not tell, and the kernel refuses what is too many.
        return Ok(());
    };
    let left = (most - most / SHARE).saturating_sub(now);
    // Two for each guard, and others make mappings meanwhile.
    let guards = if left > MARGIN { (left / 2 / 4).max(1) as i64 } else { -REFUSALS };
    LEFT.store(guards, Ordering::Relaxed);
    if guards > 0 { Ok(()) } else { Err(REFUSED) }
}

/// Says that a guard was undone, so that the next may find room.
pub(super) fn undone() {
    // Relaxed: as in `take`.
    LEFT.fetch_max(0, Ordering::Relaxed);
}
