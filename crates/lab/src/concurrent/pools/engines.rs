//! Who hands out ranges to threads: one lock, split locks, pools.

use super::lock::{Lock, Used};
use super::pool::{FIRST_PAGE, PAGE, Pool, address_space, whole};
use super::split::Split;
use crate::concurrent::Who;
use freehold::kva::{AddressSpace, PooledSpace, Request};
use freehold::units::{Align, Span};
use parking_lot::RwLock;
use std::collections::BTreeMap;

/// Ours.
pub const POOLED: &str = "pooled-space";
/// One lock over an `AddressSpace`.
pub const ONE_LOCK: &str = "one-lock";

/// One lock over all.
struct OneLock(Lock<AddressSpace<()>>);

impl Pool for OneLock {
    fn alloc_request(&self, request: &Request) -> Option<Span> {
        self.0.with(|space| space.alloc(request, ()).ok())
    }

    fn free(&self, first: u64) -> bool {
        self.0.with(|space| space.free(first).is_ok())
    }

    fn locate(&self, address: u64) -> Option<Span> {
        self.0.with(|space| space.region_at(address).map(|region| region.span()))
    }

    fn used(&self) -> Used {
        self.0.used()
    }

    fn settle(&self) -> usize {
        self.0.with(|space| space.free_blocks().count())
    }
}

impl Pool for PooledSpace {
    #[inline]
    fn alloc(&self, pages: u64) -> Option<u64> {
        Self::alloc(self, pages * PAGE).ok().map(Span::first)
    }

    fn alloc_request(&self, request: &Request) -> Option<Span> {
        Self::alloc_request(self, request).ok()
    }

    #[inline]
    fn free(&self, first: u64) -> bool {
        Self::free(self, first).is_ok()
    }

    fn locate(&self, address: u64) -> Option<Span> {
        Self::locate(self, address)
    }

    fn used(&self) -> Used {
        let stats = self.stats();
        Used { taken: stats.core_locks, waits: stats.core_lock_waits }
    }

    fn settle(&self) -> usize {
        self.trim();
        usize::from(self.stats().unused_bytes == self.span().size_bytes() && self.validate().is_ok())
    }
}

/// Regions in a `BTreeMap` behind a lock: only found, or taken one behind the other.
#[derive(Default)]
struct Found(RwLock<BTreeMap<u64, u64>>);

impl Pool for Found {
    fn alloc_request(&self, request: &Request) -> Option<Span> {
        let mut regions = self.0.write();
        let next = regions.last_key_value().map_or(FIRST_PAGE * PAGE, |(_, last)| last + 1);
        let span = Span::from_size(next, request.size_bytes)?;
        regions.insert(span.first(), span.last());
        Some(span)
    }

    fn free(&self, first: u64) -> bool {
        self.0.write().remove(&first).is_some()
    }

    fn locate(&self, address: u64) -> Option<Span> {
        let regions = self.0.read();
        let (&first, &last) = regions.range(..=address).next_back()?;
        Span::new(first, last).filter(|span| span.contains(address))
    }

    fn settle(&self) -> usize {
        usize::from(self.0.read().is_empty())
    }
}

/// A space that can be made anew.
pub type Entry = (Who, fn() -> anyhow::Result<Box<dyn Pool>>);

/// Every space that hands out ranges.
pub const ENTRIES: [Entry; 4] = [
    (Who::default(POOLED), || Ok(Box::new(PooledSpace::new(whole(), Align::PAGE)?))),
    (Who::ours(ONE_LOCK), || Ok(Box::new(OneLock(Lock::new(address_space()?))))),
    (Who::ours("split-locks").variant("busy-free-lazy"), || Ok(Box::new(Split::new(true)?))),
    (Who::linux("split-locks").variant("nodes"), || Ok(Box::new(Split::new(false)?))),
];
/// One that only finds them.
pub const FINDS: Entry = (Who::other("rwlock-btreemap"), || Ok(Box::<Found>::default()));

/// Beside spaces, and no rival of theirs: two locks, each thread its own, by which the pair is promised.
pub const REFERENCE: Who = Who::ours("two-locks");
