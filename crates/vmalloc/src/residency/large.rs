//! Lists of freed large blocks that keep their pages, by size class.
//!
//! A name in a list is a hint: a purge may have taken the block since. Each request removes names until one is valid.
//! So a list never has more names than the most blocks of its size that were held at one time.

use crate::lock::lock;
use crate::zone::{Held, Zone, Zones};
use freehold_kva::pooled::SlabRef;
use std::sync::Mutex;

/// Sizes of large blocks: four for each doubling, from 1 MiB to the longest reservation.
pub(crate) const LARGE_CLASSES: usize = 4 * 28;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Large {
    lists: [Mutex<Vec<SlabRef>>; LARGE_CLASSES],
}

impl Large {
    pub(super) fn new() -> Self {
        Self { lists: [const { Mutex::new(Vec::new()) }; LARGE_CLASSES] }
    }

    /// A freed block of that size that still has its pages.
    pub(super) fn take(&self, zones: &Zones, zone: &Zone, size_bytes: u64, len: usize) -> Option<Held> {
        let list = self.lists.get(zones.sizes.large_class(size_bytes))?;
        loop {
            let name = lock(list).pop()?;
            if let Some(held) = zone.alloc_again(&zones.mapping, name, len) {
                return Some(held);
            }
        }
    }

    /// Frees a large block that keeps its pages and was counted.
    pub(super) fn free(&self, zones: &Zones, zone: &Zone, held: &Held) {
        let name = zone.space.extent_name(held.position);
        zone.free_resident(held.position, None);
        let list = self.lists.get(zones.sizes.large_class(held.slot_bytes));
        if let (Some(name), Some(list)) = (name, list) {
            let mut list = lock(list);
            // Without memory for the list, the block waits for a purge.
            if list.try_reserve(1).is_ok() {
                list.push(name);
            }
        }
    }
}
