//! Lists whose growth can be refused.

use crate::OutOfMemory;
use alloc::vec::Vec;

/// An empty list with room for `count` items.
pub(crate) fn with_room<T>(count: u32) -> Result<Vec<T>, OutOfMemory> {
    let mut items = Vec::new();
    items.try_reserve_exact(count as usize)?;
    Ok(items)
}

/// A list of `count` equal items.
pub(crate) fn repeated<T: Clone>(item: T, count: u32) -> Result<Vec<T>, OutOfMemory> {
    let mut items = with_room(count)?;
    items.resize(count as usize, item);
    Ok(items)
}

/// Makes room for one more item, and for a sixteenth more than there are, so that growth stays cheap.
pub(crate) fn reserve_one<T>(items: &mut Vec<T>) -> Result<(), OutOfMemory> {
    if items.len() < items.capacity() {
        return Ok(());
    }
    Ok(items.try_reserve_exact((items.len() / 16).max(4))?)
}
