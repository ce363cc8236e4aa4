//! One lock split: what is busy, what is free, and what was freed and waits; on one node, as the talk wishes, or on a node for each CPU,
//! with the busy ranges of some addresses and pools of freed ranges by size.
//!
//! ```text
//!   free       busy ranges are none of it                one lock over all
//!   node       busy ranges of every so many 64 KiB      lazy: freed, waits      pool: freed before, by pages
//!   alloc      this CPU's pool; else free               then busy, of the address
//!   free       busy, of the address; lazy               with enough of it: pools, up to so many each; else free
//! ```
//!
//! Source: the talk's wish; Linux 5.5 split busy from free, 5.11 gave what is lazy a lock of its own; Linux 6.9, whose nodes, sizes and limits
//! these are: it gives a range back to the pool of the node that handed it out, and takes a quarter of each pool away whenever it
//! gives back what waits. Here ranges go to the pool of their address's node.

use super::lock::{Lock, Used};
use super::pool::{PAGE, Pool, address_space};
use freehold::kva::{AddressSpace, Request};
use freehold::units::Span;
use freehold_harness::threads;
use freehold_sys::topology;
use std::collections::BTreeMap;
use std::mem;

/// Bytes that wait for each doubling of the CPUs, as in Linux.
const LAZY_BYTES: u64 = 32 << 20;
/// Addresses that one node has in a row.
const ZONE_BITS: u32 = 16;
/// The largest range of a pool, in pages.
const MOST_PAGES: usize = 256;
/// The part of a pool that is taken away when what waits is given back: one in so many.
const DECAY: usize = 4;
/// Nodes, at most.
const MOST_NODES: u32 = 128;

/// What was freed and waits.
#[derive(Default)]
struct Lazy {
    spans: Vec<Span>,
    pages: u64,
}

impl Lazy {
    /// Puts a span aside. All of them, once they are so many pages.
    fn push(&mut self, span: Span, most: u64) -> Option<Vec<Span>> {
        self.spans.push(span);
        self.pages += span.size_saturating() / PAGE;
        (self.pages > most).then(|| self.take())
    }

    /// All of them.
    fn take(&mut self) -> Vec<Span> {
        self.pages = 0;
        mem::take(&mut self.spans)
    }
}

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
    /// By first address.
    busy: Lock<BTreeMap<u64, Span>>,
    lazy: Lock<Lazy>,
    pools: Option<Lock<Pools>>,
}

/// The space.
pub(super) struct Split {
    nodes: Vec<Node>,
    free: Lock<AddressSpace<()>>,
    /// Pages that wait in a node before they are given back.
    most: u64,
}

impl Split {
    /// On one node; or on one for each CPU, with pools.
    pub(super) fn new(is_one: bool) -> anyhow::Result<Self> {
        let count = if is_one { 1 } else { topology::possible_cpus().clamp(1, MOST_NODES) };
        let node = |_| Node {
            busy: Lock::new(BTreeMap::new()),
            lazy: Lock::new(Lazy::default()),
            pools: (!is_one).then(|| Lock::new(Pools(vec![Vec::new(); MOST_PAGES]))),
        };
        // As in Linux, so many bytes for each bit of the number of CPUs.
        let cpus = topology::online_cpus().map_or(1, |cpus| cpus.len().max(1));
        let lazy_pages = u64::from(cpus.ilog2() + 1) * (LAZY_BYTES / PAGE);
        let free = Lock::new(address_space()?);
        Ok(Self { nodes: (0..count).map(node).collect(), free, most: lazy_pages / u64::from(count) })
    }

    fn of(&self, address: u64) -> &Node {
        match &self.nodes[..] {
            [one] => one,
            nodes => &nodes[(address >> ZONE_BITS) as usize % nodes.len()],
        }
    }

    fn taken(&self, span: Span) -> Span {
        self.of(span.first()).busy.with(|busy| busy.insert(span.first(), span));
        span
    }

    /// Gives spans back under the lock of what is free.
    fn give_back(&self, spans: &[Span]) {
        self.free.with(|space| {
            for span in spans {
                let freed = space.free(span.first());
                debug_assert!(freed.is_ok(), "what waits is a region of the space");
            }
        });
    }

    /// Ranges that waited go to the node's pools; what pools have no room for, and a part of what they had, is free.
    fn purge(&self, node: &Node, spans: Vec<Span>) {
        let Some(pools) = &node.pools else { return self.give_back(&spans) };
        let rest = pools.with(|pools| {
            let mut rest = pools.take(DECAY);
            for span in spans {
                match pools.of(span.size_saturating() / PAGE) {
                    Some(pool) => pool.push(span),
                    None => rest.push(span),
                }
            }
            rest
        });
        self.give_back(&rest);
    }

    /// Everything that waits and everything in pools is free.
    fn purge_all(&self) {
        for node in &self.nodes {
            self.give_back(&node.lazy.with(Lazy::take));
            if let Some(pools) = &node.pools {
                self.give_back(&pools.with(|pools| pools.take(1)));
            }
        }
    }
}

impl Pool for Split {
    fn alloc(&self, pages: u64) -> Option<u64> {
        let here = |nodes: &[Node]| threads::current_cpu().unwrap_or(0) as usize % nodes.len();
        let pools = match &self.nodes[..] {
            [Node { pools: None, .. }] => None,
            nodes => nodes[here(nodes)].pools.as_ref(),
        };
        match pools.and_then(|pools| pools.with(|pools| pools.of(pages)?.pop())) {
            Some(span) => Some(self.taken(span).first()),
            None => self.alloc_request(&Request::new(pages * PAGE)).map(Span::first),
        }
    }

    fn alloc_request(&self, request: &Request) -> Option<Span> {
        let take = || self.free.with(|space| space.alloc(request, ()).ok());
        let span = take().or_else(|| {
            // What waits may be what is lacking.
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
        below.into_iter().find_map(|first| {
            let at_or_below = |busy: &mut BTreeMap<u64, Span>| {
                let span = busy.range(..=address).next_back().map(|(_, &span)| span);
                span.filter(|span| span.contains(address))
            };
            self.of(first).busy.with(at_or_below)
        })
    }

    fn used(&self) -> Used {
        let of_node = |node: &Node| -> Used {
            [node.busy.used(), node.lazy.used()].into_iter().chain(node.pools.iter().map(Lock::used)).sum()
        };
        self.nodes.iter().map(of_node).chain([self.free.used()]).sum()
    }

    fn settle(&self) -> usize {
        self.purge_all();
        self.free.with(|space| space.free_blocks().count())
    }
}
