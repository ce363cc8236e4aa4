//! The state machine of vmalloc since Linux 6.9: lazy frees, purges and pools, around the tree of free blocks.
//!
//! ```text
//!   alloc --------------> list of the CPU's pool, if it has an area of the size       O(log n)
//!     |  else  ---------> tree, lowest block                                          O(log n)
//!   free  --------------> set of freed areas, of the node that it was allocated for   O(log n)
//!   purge  for each node: decay, a quarter of each list goes to the tree              O(k log n)
//!          for each node: refill, its freed areas go to the heads of its lists        O(k log n), k areas moved
//!   drain                 all lists go to the tree                                    O(k log n)
//! ```
//!
//! A node is a shard, one for each possible CPU. A purge runs in stages, so that a caller may look at the state between
//! them, as allocations on other CPUs do. What is allocated, freed or pooled is an area; all else of the layout is in the
//! tree.
//!
//! The kernel's search depends on the tree's shape where an alignment is above 4,096: it requires `size + align - 1` bytes of a
//! subtree, and takes a *tight* block, which has less, if it comes by. Here such requests get the *certain* block, the lowest
//! that the search cannot miss.
//!
//! Invariants: K4 blocks and areas are disjoint, and together the layout; K18 each area that is not live is in the one list
//! or batch that it says, and the freed pages are counted.
//!
//! Memory: 104 bytes for each area, 10 KiB for each node.
//!
//! Source: facts of Linux 6.18, tried on recordings of it.

mod area;
mod choices;
mod purge;
#[cfg(test)]
mod tests;
mod validate;

pub use choices::{Choices, Decay, MOST_NODES, Pools, Refill};
pub use purge::Stage;

use super::busy::BusyTree;
use super::rbtree::{AddError, Placement, RbTree};
use crate::Error;
use alloc::vec::Vec;
use area::{Area, Areas, Held, List};
use freehold_kva::CheckedRequest;
use freehold_units::{Align, Span};
use purge::Purge;

/// Lists of a pool: one for each number of pages.
const LISTS: usize = 256;
/// Stretches of addresses whose areas without origin belong to one node.
const STRIPE_BYTES: u64 = 64 << 10;

/// A request for an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LazyRequest {
    /// Bytes, the guard's included; whole pages.
    pub size_bytes: u64,
    /// What the area starts at a multiple of.
    pub align: Align,
    /// Where it must lie.
    pub window: Span,
    /// The CPU that asks.
    pub cpu: u32,
}

/// A place for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The area.
    pub place: Span,
    /// Whether it is from a pool; else it is from the tree.
    pub pooled: bool,
}

/// What a space has counted. Pages are the granule's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LazyCounts {
    /// Allocations from pools.
    pub pool_hits: u64,
    /// Purges.
    pub purges: u64,
    /// Pages of freed areas that wait for a purge.
    pub lazy_pages: u64,
    /// The most of these at once.
    pub lazy_pages_most: u64,
    /// Pages in pools.
    pub pooled_pages: u64,
    /// The most pages that were freed or pooled at once: addresses that are neither used nor in the tree.
    pub held_pages_most: u64,
}

/// An address space as the running kernel has it. See the [module](self).
#[derive(Clone, Debug)]
pub struct LazySpace {
    tree: RbTree,
    areas: Areas,
    /// The lists of all pools, node by node.
    lists: Vec<List>,
    /// What was freed and not purged, oldest first.
    lazy: List,
    purge: Option<Purge>,
    /// Requests for exactly this window use pools.
    zone: Span,
    page: Align,
    choices: Choices,
    counts: LazyCounts,
    /// What the last purge, and drains since, gave to the tree.
    returned: Vec<Span>,
}

impl LazySpace {
    /// An empty space; requests for exactly the window `zone` use pools. Cost: O(nodes).
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no node, or more than [`MOST_NODES`], or if a page is one byte, of which there are more
    /// than the counts hold; [`Error::NoMemory`].
    pub fn new(zone: Span, page: Align, choices: Choices) -> Result<Self, Error> {
        if !(1..=MOST_NODES).contains(&choices.nodes) || page == Align::ONE {
            return Err(Error::Invalid);
        }
        let mut lists = Vec::new();
        let count = choices.pooled_nodes() as usize * LISTS;
        lists.try_reserve_exact(count).map_err(|_| Error::NoMemory)?;
        lists.resize(count, List::default());
        let (tree, areas) = (RbTree::new(page)?, BusyTree::new(page)?);
        let counts = LazyCounts::default();
        Ok(Self {
            tree,
            areas,
            lists,
            lazy: List::default(),
            purge: None,
            zone,
            page,
            choices,
            counts,
            returned: Vec::new(),
        })
    }

    /// Adds addresses, which are free. Cost: O(log n).
    ///
    /// # Errors
    /// [`Error::Invalid`] if `span` does not consist of pages, [`Error::Exists`] if it overlaps the space,
    /// [`Error::NoMemory`]. Nothing was changed.
    pub fn add(&mut self, span: Span) -> Result<(), Error> {
        if self.areas.overlaps(span) {
            return Err(Error::Exists);
        }
        self.tree.add(span, &mut ()).map(drop).map_err(|refused| match refused {
            AddError::NotGranular { .. } => Error::Invalid,
            AddError::Overlaps { .. } => Error::Exists,
            AddError::OutOfMemory => Error::NoMemory,
        })
    }

    /// Where the request would go now: the head of its list, if that is aligned, else the lowest block of the tree that the
    /// kernel's search cannot miss. Cost: O(log n), or that of [`LazySpace::find_in_tree`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if the size is 0 or not whole pages; [`Error::Busy`] if no block is certain.
    pub fn find(&self, request: &LazyRequest) -> Result<Found, Error> {
        if request.size_bytes == 0 || !self.page.divides(request.size_bytes) {
            return Err(Error::Invalid);
        }
        if let Some(first) = self.head(request).filter(|&first| request.align.divides(first)) {
            let place =
                Span::from_size(first, request.size_bytes).expect("K18: a list has areas of one size");
            return Ok(Found { place, pooled: true });
        }
        self.find_in_tree(request).map(|place| Found { place, pooled: false }).ok_or(Error::Busy)
    }

    /// Where the tree alone would place the request: in the lowest block that the kernel's search cannot miss. Cost: O(log n);
    /// O(n) in the worst case for an alignment above a page and a window of the request's size, or a length that wraps.
    #[must_use]
    pub fn find_in_tree(&self, request: &LazyRequest) -> Option<Span> {
        let &LazyRequest { size_bytes, window, .. } = request;
        let checked = CheckedRequest { size_bytes, align: request.align.max(self.page), window };
        let length = self.tree.linux_length(&checked);
        if length <= size_bytes {
            // No subtree with a block that fits is passed over, so the search is exact.
            return self.tree.find(Placement::Lowest, &checked, &mut ());
        }
        let wide = CheckedRequest { size_bytes: length, align: self.page, window };
        let block = self.tree.find(Placement::Lowest, &wide, &mut ())?;
        Span::from_size(checked.align.up(block.first())?, size_bytes)
    }

    /// The head of the list that the request is served from, aligned or not.
    fn head(&self, request: &LazyRequest) -> Option<u64> {
        self.lists[self.list(self.origin(request)?, request.size_bytes)?].head
    }

    /// Takes an area where [`LazySpace::find`] says. If none is free, all freed areas and pools go to the tree first. Cost:
    /// that of [`LazySpace::find`], and of [`LazySpace::reclaim`] where that is needed.
    ///
    /// # Errors
    /// As [`LazySpace::find`]; [`Error::NoMemory`].
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&mut self, request: &LazyRequest) -> Result<Found, Error> {
        let found = match self.find(request) {
            Err(Error::Busy) => {
                self.reclaim()?;
                self.find(request)?
            }
            found => found?,
        };
        self.alloc_at(request, found.place).map(|pooled| Found { pooled, ..found })
    }

    /// Takes an area at `place`, whatever the rules say: from any list or set, or from the tree. Other areas there that are not
    /// live go to the tree first. Whether `place` was the head of the request's list. Cost: O(log n) for each area there.
    ///
    /// # Errors
    /// [`Error::Exists`] if something lives there, [`Error::Invalid`] if part of it is not in the space or it is not made of
    /// pages, [`Error::NoMemory`]. Areas that are not live may have gone to the tree.
    pub fn alloc_at(&mut self, request: &LazyRequest, place: Span) -> Result<bool, Error> {
        let origin = self.origin(request);
        let head = self.head(request);
        let pooled = head == Some(place.first()) && place.size_saturating() == request.size_bytes;
        if let (Some(head), Some(node)) = (head, origin)
            && !request.align.divides(head)
            && let Some(list) = self.list(node, request.size_bytes)
        {
            self.lists[list].remove(&mut self.areas, head);
            self.lists[list].push_tail(&mut self.areas, head);
        }
        self.areas.reserve(1)?;
        self.withdraw(place)?;
        self.areas.insert(place, Area::live(origin));
        self.counts.pool_hits += u64::from(pooled);
        Ok(pooled)
    }

    /// Removes `place` from the space. Areas there that are not live go to the tree first. Cost: O(log n) for each area there.
    ///
    /// # Errors
    /// As [`LazySpace::alloc_at`].
    pub fn withdraw(&mut self, place: Span) -> Result<(), Error> {
        self.clear(place, false)?;
        self.tree.remove(place, &mut ()).map(drop).map_err(|refused| match refused {
            super::rbtree::RemoveError::OutOfMemory => Error::NoMemory,
            _ => Error::Invalid,
        })
    }

    /// Makes areas that overlap `place` free in the tree, those that live only if `live` says so. Cost: O(log n) for each of them.
    ///
    /// # Errors
    /// [`Error::Exists`] if one lives, [`Error::NoMemory`]. Areas above it may have gone to the tree.
    pub fn clear(&mut self, place: Span, live: bool) -> Result<(), Error> {
        while let Some((area, at)) = self.areas.last_in(place) {
            if at.held == Held::Live && !live {
                return Err(Error::Exists);
            }
            self.tree.reserve(1)?;
            self.unlist(area);
            self.make_free(area);
        }
        Ok(())
    }

    /// Frees the area that starts at `first`: it waits for a purge. Returns its addresses. Cost: O(log n).
    ///
    /// # Errors
    /// [`Error::Invalid`] if nothing live starts there, [`Error::NoMemory`]. Nothing was changed.
    #[doc(alias = "free_vmap_area_noflush")]
    pub fn free(&mut self, first: u64) -> Result<Span, Error> {
        let area = self.live(first)?;
        let origin = self.areas.at(first).origin;
        if !self.choices.lazy {
            self.tree.reserve(1)?;
            self.refill_one(area);
            return Ok(area);
        }
        let stripe = first / STRIPE_BYTES % u64::from(self.choices.sets());
        self.areas.at_mut(first).held = Held::Lazy(origin.unwrap_or(stripe as usize));
        self.lazy.push_tail(&mut self.areas, first);
        self.counts.lazy_pages += self.pages(area);
        self.counts.lazy_pages_most = self.counts.lazy_pages_most.max(self.counts.lazy_pages);
        self.note_held();
        Ok(area)
    }

    /// Frees the area that starts at `first` to the tree, without waiting. Cost: O(log n).
    ///
    /// # Errors
    /// As [`LazySpace::free`].
    pub fn release(&mut self, first: u64) -> Result<Span, Error> {
        let area = self.live(first)?;
        self.tree.reserve(1)?;
        self.make_free(area);
        Ok(area)
    }

    /// Empties all pools into the tree. Cost: O(log n) for each area in them, and O(nodes).
    ///
    /// # Errors
    /// [`Error::NoMemory`]. Some lists may be empty already.
    #[doc(alias = "vmap_node_shrink_scan")]
    pub fn drain(&mut self) -> Result<(), Error> {
        let mut all = usize::MAX;
        (0..self.lists.len()).try_for_each(|list| self.decay_list(list, &mut all))
    }

    /// Purges everything, and empties the pools: what the kernel does when nothing fits. Cost: as a purge of all freed areas
    /// and [`LazySpace::drain`].
    ///
    /// # Errors
    /// [`Error::NoMemory`]. Part of it may be done.
    pub fn reclaim(&mut self) -> Result<(), Error> {
        self.purge(self.lazy.len)?;
        self.drain()
    }

    /// Whether an area lies in the list that the request is served from. Cost: O(log n).
    #[must_use]
    pub fn is_listed(&self, request: &LazyRequest, place: Span) -> bool {
        let list = self.origin(request).and_then(|node| self.list(node, request.size_bytes));
        let held = self.areas.last_in(place).filter(|(area, _)| *area == place).map(|(_, area)| area.held);
        list.is_some_and(|list| held == Some(Held::Pooled(list)))
    }

    /// Whether so many pages wait that a purge is due. Cost: constant.
    #[must_use]
    pub fn is_purge_due(&self) -> bool {
        self.counts.lazy_pages > self.choices.limit_pages
    }

    /// Freed areas that no purge has taken. Cost: constant.
    #[must_use]
    pub fn lazy_len(&self) -> usize {
        self.lazy.len
    }

    /// What was counted. Cost: constant.
    #[must_use]
    pub fn counts(&self) -> LazyCounts {
        self.counts
    }

    /// The free blocks. Cost: constant.
    #[must_use]
    pub fn tree(&self) -> &RbTree {
        &self.tree
    }

    /// Areas, the live ones and those that wait or are pooled. Cost: constant.
    #[must_use]
    pub fn areas_len(&self) -> usize {
        self.areas.len()
    }

    /// The free block that holds all of `span`, if one does. Cost: O(log n).
    #[must_use]
    pub fn block_of(&self, span: Span) -> Option<Span> {
        self.tree.floor(span.first()).map(|(_, block)| block).filter(|block| block.covers(span))
    }

    /// The node whose pool serves the request, if one does: also the origin of its area.
    fn origin(&self, request: &LazyRequest) -> Option<usize> {
        let nodes = self.choices.pooled_nodes();
        (request.window == self.zone && nodes > 0).then(|| (request.cpu % nodes) as usize)
    }

    /// The number of the list for areas of that size.
    fn list(&self, node: usize, size_bytes: u64) -> Option<usize> {
        let pages = usize::try_from(size_bytes / self.page.bytes()).ok()?;
        (1..=LISTS).contains(&pages).then(|| node * LISTS + pages - 1)
    }

    fn live(&self, first: u64) -> Result<Span, Error> {
        let at = Span::from_size(first, 1).ok_or(Error::Invalid)?;
        let found =
            self.areas.last_in(at).filter(|(area, at)| area.first() == first && at.held == Held::Live);
        found.map(|(area, _)| area).ok_or(Error::Invalid)
    }

    /// Takes an area from the list that it is in.
    fn unlist(&mut self, area: Span) {
        match self.areas.at(area.first()).held {
            Held::Live => {}
            Held::Lazy(_) => {
                self.lazy.remove(&mut self.areas, area.first());
                self.counts.lazy_pages -= self.pages(area);
            }
            Held::Pooled(list) => {
                self.lists[list].remove(&mut self.areas, area.first());
                self.counts.pooled_pages -= self.pages(area);
            }
            // The purge passes over what it no longer has.
            Held::Taken => self.counts.lazy_pages -= self.pages(area),
        }
    }

    /// Makes an area that is in no list free. The caller has reserved a node.
    fn make_free(&mut self, area: Span) {
        self.areas.remove(area.first()).expect("K4: an area starts there");
        self.tree.release_span(area, &mut ()).expect("K4: areas and free blocks are disjoint");
    }

    fn pages(&self, area: Span) -> u64 {
        (area.size_bytes() / u128::from(self.page.bytes())) as u64
    }

    fn note_held(&mut self) {
        let held = self.counts.lazy_pages + self.counts.pooled_pages;
        self.counts.held_pages_most = self.counts.held_pages_most.max(held);
    }
}
