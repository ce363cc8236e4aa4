//! All zones of a mapping.

use super::sizes::Sizes;
use super::{Lending, Place, Use, Zone};
use crate::builder::Advice;
use crate::builder::{Builder, Commit, MIN_RESERVE};
use crate::error::{BuildError, PoolError};
use crate::lock::lock;
use crate::mapping::Mapping;
use freehold_kva::{self as kva, LayoutError, Request};
use freehold_sys::machine::{self, Overcommit};
use freehold_sys::page_bytes;
use freehold_units::{Align, OutOfMemory, Span};
use std::ffi::CString;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Zones {
    pub(crate) mapping: Mapping,
    pub(crate) sizes: Sizes,
    blocks: Arc<Zone>,
    /// By their numbers.
    pools: Mutex<Vec<Arc<Zone>>>,
    pub(crate) lending: Lending,
    /// Whether the kernel names mappings.
    pub(crate) named: bool,
}

impl Zones {
    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        let len = asked.reserve_bytes.next_multiple_of(MIN_RESERVE);
        let strictly = || match machine::overcommit() {
            Some(Overcommit::Never) => Commit::Strict,
            _ => Commit::Lazy,
        };
        let mapping = Mapping::new(len, asked.commit.unwrap_or_else(strictly), asked)?;
        let granule = Align::new(page_bytes() as u64).ok_or(LayoutError::Empty)?;
        let blocks = Zone::new(Place::of_blocks(&mapping), granule, None)?;
        let named = name(&mapping, &blocks);
        Ok(Self {
            sizes: Sizes::new(page_bytes()),
            blocks: Arc::new(blocks),
            pools: Mutex::new(Vec::new()),
            lending: Lending::default(),
            named,
            mapping,
        })
    }

    pub(crate) fn addresses(&self) -> Span {
        let span = Span::from_size(self.mapping.address(0), self.mapping.len() as u64);
        span.expect("V1: a mapping has addresses")
    }

    /// The zone of blocks.
    #[inline]
    pub(crate) fn blocks(&self) -> &Arc<Zone> {
        &self.blocks
    }

    /// The held block that contains an address.
    pub(crate) fn locate(&self, address: u64) -> Option<Span> {
        self.blocks.space.locate(address)
    }

    /// Takes addresses for a pool or a vector.
    pub(crate) fn lend(&self, request: &Request, by: Use) -> Result<Range<usize>, kva::AllocError> {
        self.lending.take(&self.blocks, &self.mapping, request, by)
    }

    /// Returns lent addresses whose pages are gone. Keeps them as pending if they are not, until a retry succeeds.
    pub(crate) fn end_lending(&self, range: Range<usize>, by: Use, is_reset: bool) {
        if !is_reset {
            self.mapping.count_refused();
        }
        self.lending.end(&self.blocks, range, by, is_reset);
    }

    /// Frees all pages, guards and addresses of a pool without held or claimed slots, which had that advice.
    pub(crate) fn end_pool(&self, lent: Range<usize>, given: Advice) {
        let is_reset = Lending::reset(&self.mapping, &lent);
        self.mapping.end_advice(lent.clone(), given);
        self.end_lending(lent, Use::Pool, is_reset);
    }

    /// Retries the decommit of what dropped pools and vectors left.
    pub(crate) fn retry_pending(&self) {
        self.lending.retry(&self.blocks, &self.mapping);
    }

    /// Opens a pool's zone.
    pub(crate) fn open(&self, mut zone: Zone) -> Result<Arc<Zone>, PoolError> {
        name(&self.mapping, &zone);
        let mut pools = lock(&self.pools);
        pools.try_reserve(1).map_err(OutOfMemory::from)?;
        zone.number = 1 + pools.last().map_or(0, |last| last.number);
        let zone = Arc::new(zone);
        pools.push(Arc::clone(&zone));
        Ok(zone)
    }

    /// Removes a pool's zone from the list. No purge begins on it any more.
    pub(crate) fn close(&self, zone: &Arc<Zone>) {
        lock(&self.pools).retain(|other| !Arc::ptr_eq(other, zone));
    }

    /// All zones: blocks, then pools in the order in which they were made. No lock is held between two of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<Zone>> {
        let mut last = 0;
        let pools = std::iter::from_fn(move || {
            let pools = lock(&self.pools);
            let pool = pools.get(pools.partition_point(|pool| pool.number <= last))?;
            last = pool.number;
            Some(Arc::clone(pool))
        });
        std::iter::once(Arc::clone(&self.blocks)).chain(pools)
    }
}

/// Names a zone's mapping, if the kernel has such names.
fn name(mapping: &Mapping, zone: &Zone) -> bool {
    CString::new(zone.place.name.as_str()).is_ok_and(|name| mapping.name(zone.place.range.clone(), &name))
}

#[cfg(test)]
mod tests {
    use crate::{SlotLayout, VirtualMemory};

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn a_new_pool_asks_the_system_without_the_lock_of_the_list() {
        let layout = SlotLayout::new(4096).count(32).huge_pages();
        let vm = VirtualMemory::builder().reserve(64 << 20).build().unwrap();
        if !vm.slots(&layout).unwrap().zone.place.advice.huge_pages {
            return eprintln!("not run: the kernel has no huge pages");
        }
        let is_advised = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            maps.lines().any(|line| line.starts_with("VmFlags:") && line.contains(" hg"))
        };
        std::thread::scope(|scope| {
            let pools = crate::lock::lock(&vm.shared.zones().pools);
            scope.spawn(|| drop(vm.slots(&layout).unwrap()));
            let start = std::time::Instant::now();
            while !is_advised() && start.elapsed().as_secs() < 20 {
                std::thread::yield_now();
            }
            drop(pools);
            assert!(start.elapsed().as_secs() < 20, "it waits for the lock");
        });
    }

    #[test]
    fn a_pool_that_ends_hides_no_other_from_who_goes_through_all() {
        let vm = VirtualMemory::builder().reserve(64 << 20).build().unwrap();
        let pool = |name| vm.slots(&SlotLayout::new(4096).count(32).name(name)).unwrap();
        let (first, _second) = (pool("first"), pool("second"));
        let mut zones = vm.shared.zones().all();
        let names = |zones: &mut dyn Iterator<Item = _>| {
            let name = |zone: std::sync::Arc<super::Zone>| zone.place.name.clone();
            zones.map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(&mut zones.by_ref().take(2)), ["freehold blocks", "first"]);
        drop(first);
        assert_eq!(names(&mut zones), ["second"]);
        assert_eq!(names(&mut vm.shared.zones().all()), ["freehold blocks", "second"]);
    }
}
