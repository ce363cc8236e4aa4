//! All regions of a space, each with the gap after it, in one B+tree ordered by address.
//!
//! ```text
//!   addresses   |  hole  |######|g|....|####|.........|###|  hole  |
//!   entries             * ~~~~~~~~      ~~~~           ~~~
//!   gap behind          0          4         9            0           * a marker: here a span of the layout starts
//! ```
//!
//! An allocation adds one entry and a free removes one: free space needs no entries, no merging and no memory. Inner
//! nodes keep bounds of the gaps below each child. A search uses them to find the lowest or highest gap that can serve
//! a request (`search.rs`). Leaves are unordered and searched whole (`leaf/`, `lanes.rs`).
//!
//! Addresses are in granules here. An end may be 2^64, so ends are `u128` where speed does not matter.
//!
//! Invariants: K4 entries and gaps cover the layout without overlap; K8 the tree's shape, and the reach of lanes; K9
//! the bounds in inner nodes.
//!
//! Cost: every operation visits O(log regions) nodes, plus the fruitless leaf visits of a search (`bounds.rs`).
//!
//! Source: the talk's wish for a B-tree; regions and gaps in one entry are this project's.

mod blocks;
mod bounds;
mod granule_request;
mod insert;
mod iter;
mod lanes;
mod layout;
mod leaf;
mod order;
mod remove;
mod remove_run;
mod search;
mod split;
#[cfg(test)]
mod tests;
mod validate;

use crate::bplus::{LeafPath, Step, Tree};
use freehold_units::pool::{NO_NODE, NodeId};
use freehold_units::{Align, OutOfMemory, Probe, Span};
use leaf::Leaf;

pub(crate) use granule_request::GranuleRequest;
pub(crate) use iter::{Entries, EntryRef, Piece};
pub(crate) use leaf::RegionAttrs;
pub(crate) use remove::Removed;
pub(crate) use remove_run::RemovedRun;
pub(crate) use search::{Order, Searched, search};

/// An entry in its leaf. Valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryHandle {
    leaf: NodeId,
    slot: usize,
    /// The leaf's position in its parent, if it has one.
    parent: Step,
}

/// A region as the tree stores it.
#[derive(Debug, PartialEq)]
pub(crate) struct RegionEntry<'a, V> {
    /// The usable addresses.
    pub(crate) span: Span,
    /// The last address of the guard or, without one, of the region.
    taken_last: u64,
    pub(crate) terms: RegionAttrs,
    /// `None` for a placeholder, which reserves addresses for a region that will move there.
    pub(crate) value: Option<&'a V>,
}

impl<V> RegionEntry<'_, V> {
    /// The usable addresses and the guard.
    pub(crate) fn taken(&self) -> Span {
        Span::new(self.span.first(), self.taken_last).expect("K4: a region has an address")
    }

    /// The guard.
    #[inline]
    pub(crate) fn guard(&self) -> Option<Span> {
        Span::new(self.span.last().checked_add(1)?, self.taken_last)
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct RegionTree<V> {
    tree: Tree<Leaf<V>, u64>,
    /// log2 of the granule in bytes.
    shift: u32,
    /// Number of far leaves, which have high halves.
    far_leaves: usize,
    regions: usize,
    /// Number of gaps that are not empty.
    blocks: usize,
}

impl<V> RegionTree<V> {
    /// A tree without a span. [`RegionTree::add_span`] adds the first.
    pub(crate) fn empty(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self {
            tree: Tree::empty()?,
            shift: granule.bytes().trailing_zeros(),
            far_leaves: 0,
            regions: 0,
            blocks: 0,
        })
    }

    /// Reserves memory for `entries` more regions or spans.
    #[inline]
    pub(crate) fn reserve(&mut self, entries: usize) -> Result<(), OutOfMemory> {
        self.tree.reserve(entries)
    }

    #[inline]
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// The number of regions and placeholders.
    pub(crate) fn len(&self) -> usize {
        self.regions
    }

    /// The number of free blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks
    }

    /// The size of the largest free block in bytes, 0 if there is none, `u64::MAX` for 2^64.
    ///
    /// Cost: O(log n), plus a visit to each node whose bound is too high. That visit tightens the bound, so it is
    /// amortized against an earlier allocation.
    pub(crate) fn largest_bytes(&self, probe: &mut impl Probe) -> u64 {
        if self.tree.root == NO_NODE {
            return 0;
        }
        let granules = self.largest_gap(self.tree.root, self.tree.height, probe);
        u64::try_from(u128::from(granules) << self.shift).unwrap_or(u64::MAX)
    }

    /// Bytes of memory held, including values and spare nodes.
    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.far_leaves * size_of::<[[u32; leaf::WIDTH]; 3]>()
    }

    /// The region that starts at `first`.
    pub(crate) fn region(&self, first: u64) -> Option<(EntryHandle, RegionEntry<'_, V>)> {
        self.region_at(first).filter(|(_, entry)| entry.span.first() == first)
    }

    /// The region whose addresses or guard contain `address`, and where its entry is.
    pub(crate) fn region_at(&self, address: u64) -> Option<(EntryHandle, RegionEntry<'_, V>)> {
        let granule = address >> self.shift;
        let (leaf, parent) = self.tree.leaf_for(granule)?;
        let (slot, _) = self.tree.leaves[leaf].region_at(granule)?;
        Some((EntryHandle { leaf, slot, parent }, self.entry(&self.tree.leaves[leaf], slot)))
    }

    /// [`RegionTree::region_at`] for a look-up, which needs no handle.
    #[inline(always)] // see `AddressSpace::region_at`
    pub(crate) fn entry_at(&self, address: u64) -> Option<RegionEntry<'_, V>> {
        let granule = address >> self.shift;
        let leaf = &self.tree.leaves[self.tree.leaf_for(granule)?.0];
        let (slot, bounds) = leaf.region_at(granule)?;
        Some(entry_within(leaf, slot, bounds, self.shift))
    }

    /// The value of the region that contains `address`, guard excluded.
    pub(crate) fn value_at(&mut self, address: u64) -> Option<&mut V> {
        let (found, entry) = self.region_at(address)?;
        if entry.span.contains(address) { self.tree.leaves[found.leaf].value_mut(found.slot) } else { None }
    }

    /// The value of a region.
    pub(crate) fn value_of(&self, at: EntryHandle) -> &V {
        self.tree.leaves[at.leaf].value(at.slot).expect("K16: a region that does not move has a value")
    }

    pub(crate) fn entry_of(&self, at: EntryHandle) -> RegionEntry<'_, V> {
        self.entry(&self.tree.leaves[at.leaf], at.slot)
    }

    /// The lowest region or placeholder that does not end, guard included, below `address`.
    pub(crate) fn region_from(&self, address: u64) -> Option<RegionEntry<'_, V>> {
        if let Some((_, entry)) = self.region_at(address) {
            return Some(entry);
        }
        // Usually the address is free, and a region starts where its block ends.
        let next = self.block_at(address).and_then(|block| block.last().checked_add(1));
        let found = next.and_then(|next| self.region_at(next)).map(|(_, entry)| entry);
        let above = || {
            Span::new(address, u64::MAX)
                .and_then(|above| self.entries(above).find_map(|at| self.region_of(at)))
        };
        found.or_else(above)
    }

    /// The highest region that overlaps `span`, its guard included.
    pub(crate) fn region_over(&self, span: Span) -> Option<RegionEntry<'_, V>> {
        self.entries(span).rev().find_map(|at| self.region_of(at))
    }

    #[inline]
    fn path_to(&self, granule: u64) -> Option<LeafPath> {
        (self.tree.root != NO_NODE).then(|| self.tree.path_to(granule))
    }

    #[inline]
    fn entry<'a>(&self, leaf: &'a Leaf<V>, slot: usize) -> RegionEntry<'a, V> {
        entry_within(leaf, slot, leaf.bounds(slot), self.shift)
    }

    /// The granules `start..end` as a span of bytes.
    #[inline]
    fn span(&self, start: u128, end: u128) -> Span {
        let (first, last) = (start << self.shift, (end << self.shift) - 1);
        Span::new(first as u64, last as u64).expect("K4: a region or gap has an address")
    }

    /// The granules `start..end` as a span of bytes; `None` if there are none.
    fn span_if(&self, start: u128, end: u128) -> Option<Span> {
        (start < end).then(|| self.span(start, end))
    }
}

/// The entry with these [`Leaf::bounds`].
#[inline]
fn entry_within<V>(leaf: &Leaf<V>, slot: usize, (start, end): (u64, u64), shift: u32) -> RegionEntry<'_, V> {
    let terms = leaf.terms(slot);
    // An end of 2^64 wraps to 0.
    let last_below = |end: u64| (end << shift).wrapping_sub(1);
    let span = Span::new(start << shift, last_below(end.wrapping_sub(terms.guard_granules.into())));
    RegionEntry {
        span: span.expect("K4: a region has an address"),
        taken_last: last_below(end),
        terms,
        value: leaf.value(slot),
    }
}
