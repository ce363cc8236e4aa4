//! Lists of freed large blocks that keep their pages, by size class.
//!
//! A name in a list is a hint: a purge may have taken the block since. A request for any place removes names until one
//! is valid. Others do not, so a list that is full drops the names that are not valid before it grows.

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
            if list.len() == list.capacity() {
                list.retain(|&name| zone.space.is_extent_ready(name));
                // Room for as many again, so that few frees look at all names.
                let more = list.len().max(1);
                if list.try_reserve(more).is_err() {
                    // Without memory for the list, the block waits for a purge.
                    return;
                }
            }
            list.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RetainPolicy, VirtualMemory, Zero};
    use freehold_kva::Request;

    #[test]
    fn requests_for_places_leave_few_names() {
        let retain = RetainPolicy::bytes(4 << 20);
        let vm = VirtualMemory::builder().reserve(64 << 20).retain(retain).build().unwrap();
        // Never taken from the lists, as they name a place.
        let request = Request::new(2 << 20).align_bytes(1 << 20);
        let count = if cfg!(miri) { 24 } else { 200 };
        (0..count).for_each(|_| drop(vm.alloc_request(&request, Zero::No).unwrap()));
        let lists = &vm.shared.residency.large.lists;
        let names: usize = lists.iter().map(|list| lock(list).len()).sum();
        assert!((1..16).contains(&names), "{names} names");
        vm.validate().unwrap();
    }
}
