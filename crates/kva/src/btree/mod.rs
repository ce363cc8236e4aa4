//! The free-space index that the talk wished for: a B+tree of free blocks, each child known by the largest
//! request that it can serve.
//!
//! A child is known not by its largest block alone, but by the largest *aligned* room in it, for every alignment up
//! to 1024 granules. A search looks at the class of its alignment, so it never passes over a block that would do,
//! and never enters a child in vain, but for the one in which its window starts. Above the last class it may; it
//! then leaps to the next aligned address instead of looking at every block on the way. Rooms of a class are kept
//! from the first request that needs them.
//!
//! ```text
//!   block      |----------------------|            size 22, but aligned to 16 granules only 9 are left:
//!   multiples  |      16      |       32           that is its room in class 16
//!                             |-------|
//! ```
//!
//! Invariants: K1 blocks disjoint, ascending, never touching; K8 the tree's shape; K9 every stored room exact.
//! Cost: find, carve and release visit O(log blocks) nodes of 32 entries; the first request of a class visits all
//! of them once. Memory: 16 bytes a slot, slots about two thirds full after random use, and a third more for nodes.
//!
//! Source: the talk's wish list; rooms per alignment class are this project's.

mod carve;
mod release;
mod rooms;
mod search;
#[cfg(test)]
mod tests;
mod upkeep;

use crate::arena::Link;
use crate::bplus::{self, Found, Tree};
use crate::error::check;
use crate::index::{Blocks, Want};
use crate::{Broken, Fit, FreeIndex, Merge, OutOfMemory};
use freehold_units::{Align, Probe, Span, Work};
use rooms::{Ends, Kept, Rooms};

/// Which of the addresses that can serve a request is taken. Both are exact for every alignment and window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The lowest address.
    #[default]
    Lowest,
    /// The highest address.
    Highest,
}

/// Free blocks in a B+tree. See the [module](self).
#[derive(Clone, Debug)]
pub struct BTree {
    tree: Tree<Ends, Rooms>,
}

/// A block of the tree and the way to it, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub struct Block(Found);

/// The way to where an address is or would be, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub struct Way(bplus::Way);

impl BTree {
    #[inline]
    fn block(&self, found: &Found) -> Option<Span> {
        let leaf = &self.tree.leaves[found.way.end];
        Span::new(*leaf.keys().get(found.at)?, *leaf.columns.lasts.get(found.at)?)
    }
}

impl BTree {
    /// The size of the largest block below a node, which is nothing to look for unless it is of 2^31 granules.
    fn largest_below(&self, link: Link, height: usize) -> u64 {
        let Some(below) = height.checked_sub(1) else {
            let leaf = &self.tree.leaves[link];
            return leaf.columns.largest(leaf.keys());
        };
        let inner = &self.tree.inners[link];
        let rooms = &inner.sums.classes[0][..inner.len];
        let most = rooms.iter().copied().max().unwrap_or(0);
        self.tree.context.long(most).unwrap_or_else(|| {
            let children = inner.children.iter().zip(rooms).filter(|&(_, &room)| room == most);
            children.map(|(&child, _)| self.largest_below(child, below)).max().unwrap_or(0)
        })
    }
}

impl FreeIndex for BTree {
    type Placement = Placement;

    fn iter(&self) -> impl Iterator<Item = Span> {
        let mut at = self.tree.first();
        core::iter::from_fn(move || {
            let position = at?;
            at = self.tree.next(position);
            Span::new(self.tree.key(position)?, *self.tree.columns(position).lasts.get(position.at)?)
        })
    }

    fn len(&self) -> usize {
        self.tree.len()
    }

    fn largest_bytes(&self) -> u64 {
        self.largest_below(self.tree.root, self.tree.height)
    }

    fn metadata_bytes(&self) -> usize {
        self.tree.bytes()
    }

    fn validate(&self) -> Result<(), Broken> {
        self.tree.validate()?;
        let mut previous: Option<Span> = None;
        let mut blocks = 0;
        for block in self.iter() {
            let apart = previous.is_none_or(|p| p.last() < block.first() && !p.touches(block));
            check(apart, "K1", "blocks ascend and never touch", block.first())?;
            previous = Some(block);
            blocks += 1;
        }
        check(blocks == self.len(), "K1", "every block is a span", 0)
    }
}

impl Blocks for BTree {
    type Choice = Placement;
    type Block = Block;
    type Way = Way;

    fn new(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self { tree: Tree::new(Kept::new(granule))? })
    }

    #[inline]
    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        self.tree.reserve(blocks)
    }

    /// Keeps up the rooms of the request's class from now on, if they are not yet: a space whose requests are
    /// not aligned does not pay for those that are.
    #[inline]
    fn prepare(&mut self, want: &Want, probe: &mut impl Probe) -> Result<(), OutOfMemory> {
        let class = self.tree.context.class_of(want.align);
        if class >= self.tree.context.classes {
            self.tree.context.classes = class + 1;
            probe.count(Work::MaxRecomputed, self.tree.resummarise());
        }
        self.tree.reserve(1)
    }

    #[inline]
    fn find(&self, placement: Placement, want: &Want, probe: &mut impl Probe) -> Option<(Block, Span)> {
        let (found, span) = match placement {
            Placement::Lowest => self.lowest(want, probe),
            Placement::Highest => self.highest(want, probe),
        }?;
        Some((Block(found), span))
    }

    #[inline]
    fn carve(&mut self, block: Block, span: Span, probe: &mut impl Probe) -> Fit {
        self.carve_found(&block.0, span, probe)
    }

    #[inline]
    fn way_to(&self, address: u64) -> Way {
        let way = self.tree.way_to(address);
        self.tree.touch(way.end);
        Way(way)
    }

    #[inline]
    fn release(&mut self, way: Way, span: Span, probe: &mut impl Probe) -> Result<Merge, Span> {
        self.release_span(way.0, span, probe)
    }

    fn at_or_below(&self, address: u64) -> Option<(Block, Span)> {
        let key = self.tree.key(self.tree.at_or_below(address)?)?;
        let found = self.tree.find(key)?;
        Some((Block(found), self.block(&found)?))
    }

    fn before(&self, block: Block) -> Option<(Block, Span)> {
        self.at_or_below(self.block(&block.0)?.first().checked_sub(1)?)
    }
}
