//! Vectors whose growth can fail.

use crate::OutOfMemory;
use alloc::vec::Vec;

/// An empty vector with capacity for `count` items.
pub(crate) fn with_room<T>(count: u32) -> Result<Vec<T>, OutOfMemory> {
    let mut items = Vec::new();
    items.try_reserve_exact(count as usize)?;
    Ok(items)
}

/// A vector of `count` equal items.
pub(crate) fn repeated<T: Clone>(item: T, count: u32) -> Result<Vec<T>, OutOfMemory> {
    let mut items = with_room(count)?;
    items.resize(count as usize, item);
    Ok(items)
}

/// Reserves capacity for one more item and a sixteenth of the present length, so that growth stays cheap.
pub(crate) fn reserve_one<T>(items: &mut Vec<T>) -> Result<(), OutOfMemory> {
    if items.len() < items.capacity() {
        return Ok(());
    }
    Ok(items.try_reserve_exact((items.len() / 16).max(4))?)
}
