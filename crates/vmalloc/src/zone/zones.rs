//! All zones of a mapping.

use super::sizes::{LARGE_GRANULE, Sizes};
use super::{Lending, Zone};
use crate::builder::{Builder, Commit, MIN_RESERVE};
use crate::error::{BuildError, PoolError};
use crate::lock::lock;
use crate::mapping::Mapping;
use freehold_kva::LayoutError;
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
    small: Arc<Zone>,
    large: Arc<Zone>,
    pools: Mutex<Vec<Arc<Zone>>>,
    pub(crate) lending: Lending,
    /// Whether mappings have names.
    pub(crate) named: bool,
}

impl Zones {
    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        let len = asked.reserve_bytes.next_multiple_of(MIN_RESERVE);
        let strictly = || match machine::overcommit() {
            Some(Overcommit::Never) => Commit::Strict,
            _ => Commit::Lazy,
        };
        let mapping = Mapping::new(len, asked.commit.unwrap_or_else(strictly))?;
        // Blocks are found by their addresses.
        let blocks = |name, range: Range<usize>, granule: usize| {
            let granule = Align::new(granule as u64).ok_or(LayoutError::Empty)?;
            Zone::new(&mapping, name, range.clone(), mapping.address(range.start), granule, None)
        };
        let small = blocks("freehold blocks", 0..len / 4, page_bytes())?;
        let large = blocks("freehold large blocks", len / 4..len / 2, LARGE_GRANULE)?;
        let named = [&small, &large].into_iter().all(|zone| name(&mapping, zone));
        Ok(Self {
            sizes: Sizes::new(page_bytes()),
            small: Arc::new(small),
            large: Arc::new(large),
            pools: Mutex::new(Vec::new()),
            lending: Lending::new(len / 2..len)?,
            named,
            mapping,
        })
    }

    pub(crate) fn addresses(&self) -> Span {
        let span = Span::from_size(self.mapping.address(0), self.mapping.len() as u64);
        span.expect("V1: a mapping has addresses")
    }

    /// The zone for blocks of `len` bytes, whole pages, and what to ask it for.
    #[inline]
    pub(crate) fn for_len(&self, len: usize) -> (&Arc<Zone>, u64) {
        if self.sizes.is_small(len) {
            return (&self.small, len as u64);
        }
        (&self.large, self.sizes.large_bytes(len))
    }

    /// The held block that has an address.
    pub(crate) fn locate(&self, address: u64) -> Option<Span> {
        self.small.space.locate(address).or_else(|| self.large.space.locate(address))
    }

    /// Opens a pool's zone.
    pub(crate) fn open(&self, zone: Zone) -> Result<Arc<Zone>, PoolError> {
        name(&self.mapping, &zone);
        let zone = Arc::new(zone);
        let mut pools = lock(&self.pools);
        pools.try_reserve(1).map_err(OutOfMemory::from)?;
        pools.push(Arc::clone(&zone));
        Ok(zone)
    }

    /// Takes a pool's zone off the list. Nobody begins to purge it any more.
    pub(crate) fn close(&self, zone: &Arc<Zone>) {
        lock(&self.pools).retain(|other| !Arc::ptr_eq(other, zone));
    }

    /// Keeps lent addresses taken whose pages the system refused to take back.
    pub(crate) fn keep_pending(&self, start: usize) {
        self.mapping.count_refused();
        self.lending.keep_pending(start);
    }

    /// The zone at a position in the list of all: blocks, then pools.
    fn at(&self, number: usize) -> Option<Arc<Zone>> {
        match number {
            0 => Some(Arc::clone(&self.small)),
            1 => Some(Arc::clone(&self.large)),
            _ => lock(&self.pools).get(number - 2).cloned(),
        }
    }

    /// All zones. No lock is held between two of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<Zone>> {
        (0..).map_while(|number| self.at(number))
    }
}

/// Names a zone's mapping, where the kernel has names.
fn name(mapping: &Mapping, zone: &Zone) -> bool {
    CString::new(zone.name.as_str()).is_ok_and(|name| mapping.name(zone.range(), &name))
}
