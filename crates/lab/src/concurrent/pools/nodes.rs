//! Locks split further: a node for each CPU, with the busy ranges of some addresses, and pools of freed ranges by size.
//!
//! ```text
//!   node       busy ranges of every so many 64 KiB      lazy: freed, waits      pool: freed before, by pages
//!   alloc      this CPU's pool; else free               then busy, of the address
//!   free       busy, of the address; lazy               with enough of it: pools, up to so many each; else free
//! ```
//!
//! Source: Linux 6.9, whose nodes, sizes and limits these are; it gives a range back to the pool of the node that handed it out, and
//! takes a quarter of each pool away whenever it gives back what waits. Here ranges go to the pool of their address's node.

use super::engines::{PAGE, Pool, address_space};
use super::lock::{Lock, Used};
use super::split::{Busy, Lazy, busy_at, give_back, lazy_pages};
use freehold::kva::{AddressSpace, Request};
use freehold::units::Span;
use freehold_sys::harness;

/// Addresses that one node has in a row.
const ZONE_BITS: u32 = 16;
/// The largest range of a pool, in pages.
const MOST_PAGES: usize = 256;
/// The part of a pool that is taken away when what waits is given back: one in so many.
const DECAY: usize = 4;

/// Freed ranges by their pages.
struct Pools(Vec<Vec<Span>>);

impl Pools {
    fn of(&mut self, pages: u64) -> Option<&mut Vec<Span>> {
        self.0.get_mut(usize::try_from(pages).ok()?.checked_sub(1)?)
    }

    /// A part of each, one in `part`.
    fn take(&mut self, part: usize) -> Vec<Span> {
        let drained = self.0.iter_mut().flat_map(|spans| spans.drain(..spans.len().div_ceil(part)));
        drained.collect()
    }
}

struct Node {
    busy: Lock<Busy>,
    lazy: Lock<Lazy>,
    pools: Lock<Pools>,
}

/// The space.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    free: Lock<AddressSpace<()>>,
    /// Pages that wait in a node before they are given back.
    most: u64,
}

impl Nodes {
    pub(super) fn new(cpus: u32, clock_ns: Option<u64>) -> anyhow::Result<Self> {
        let count = cpus.clamp(1, 128);
        let node = || Node {
            busy: Lock::new(Busy::new(), clock_ns),
            lazy: Lock::new(Lazy::default(), clock_ns),
            pools: Lock::new(Pools(vec![Vec::new(); MOST_PAGES]), clock_ns),
        };
        Ok(Self {
            nodes: (0..count).map(|_| node()).collect(),
            free: Lock::new(address_space()?, clock_ns),
            most: lazy_pages() / u64::from(count),
        })
    }

    fn of(&self, address: u64) -> &Node {
        &self.nodes[(address >> ZONE_BITS) as usize % self.nodes.len()]
    }

    fn here(&self) -> &Node {
        &self.nodes[harness::current_cpu().unwrap_or(0) as usize % self.nodes.len()]
    }

    fn taken(&self, span: Span) -> Span {
        self.of(span.first()).busy.with(|busy| busy.insert(span.first(), span));
        span
    }

    /// Ranges that waited go to the node's pools; what pools have no room for, and a part of what they had, is free.
    fn purge(&self, node: &Node, spans: Vec<Span>) {
        let rest = node.pools.with(|pools| {
            let mut rest = pools.take(DECAY);
            for span in spans {
                match pools.of(span.size_saturating() / PAGE) {
                    Some(pool) => pool.push(span),
                    None => rest.push(span),
                }
            }
            rest
        });
        give_back(&self.free, &rest);
    }

    /// Everything that waits and everything in pools is free.
    fn purge_all(&self) {
        for node in &self.nodes {
            give_back(&self.free, &node.lazy.with(Lazy::take));
            give_back(&self.free, &node.pools.with(|pools| pools.take(1)));
        }
    }
}

impl Pool for Nodes {
    fn alloc(&self, pages: u64) -> Option<u64> {
        let pooled = self.here().pools.with(|pools| pools.of(pages)?.pop());
        match pooled {
            Some(span) => Some(self.taken(span).first()),
            None => self.alloc_request(&Request::new(pages * PAGE)).map(Span::first),
        }
    }

    fn alloc_request(&self, request: &Request) -> Option<Span> {
        let take = || self.free.with(|space| space.alloc(request, ()).ok());
        let span = take().or_else(|| {
            self.purge_all();
            take()
        })?;
        Some(self.taken(span))
    }

    fn free(&self, first: u64) -> bool {
        let node = self.of(first);
        let Some(span) = node.busy.with(|busy| busy.remove(&first)) else { return false };
        if let Some(spans) = node.lazy.with(|lazy| lazy.push(span, self.most)) {
            self.purge(node, spans);
        }
        true
    }

    fn locate(&self, address: u64) -> Option<Span> {
        // A range is in the node of its first address, which is at most so many nodes below.
        let below = (0..self.nodes.len() as u64).map(|zones| address.saturating_sub(zones << ZONE_BITS));
        below.into_iter().find_map(|first| self.of(first).busy.with(|busy| busy_at(busy, address)))
    }

    fn used(&self) -> Vec<(&'static str, Used)> {
        let nodes = self.nodes.iter();
        let locks = nodes.flat_map(|node| {
            [("busy", node.busy.used()), ("lazy", node.lazy.used()), ("pools", node.pools.used())]
        });
        locks.chain([("free", self.free.used())]).collect()
    }

    fn settle(&self) -> usize {
        self.purge_all();
        self.free.with(|space| space.free_blocks().count())
    }
}
