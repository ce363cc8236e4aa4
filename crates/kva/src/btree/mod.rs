//! The B+tree that the talk wished for, and regions in it too: one tree of all addresses, each child known by the
//! largest request that it can serve.
//!
//! ```text
//!   addresses   |  hole  |######|g|....|####|.........|###|  hole  |
//!   segments    0        a        b    c    d         e   f            where each starts; it ends where the next does
//!   mark        0        !1       5    !0   9         !0  0            room of free blocks, guard of regions inverted
//!   value       -        x        -    y    -         z   -            of regions
//! ```
//!
//! A region lies where its block was cut and becomes a block where it lies, so that one way down the tree and one
//! leaf serve a whole request; with the two kinds apart each needs a way and a leaf of its own.
//!
//! A child is known not by its largest block alone, but by the largest *aligned* room in it, for every alignment up
//! to 1024 granules. A search looks at the class of its alignment, so it never passes over a block that would do,
//! and never enters a child in vain, but for the one in which its window starts. Above the last class it may; it
//! then leaps to the next aligned address instead of looking at every block on the way. Rooms are kept for the
//! classes that requests ask for (`asked.rs`).
//!
//! ```text
//!   block      |----------------------|            size 22, but aligned to 16 granules only 9 are left:
//!   multiples  |      16      |       32           that is its room in class 16
//!                             |-------|
//! ```
//!
//! Invariants: K1 blocks never touch; K8 the tree's shape, and the way to any address of a block leads to its leaf;
//! K9 every stored room exact.
//! Cost: every operation visits O(log segments) nodes, leaves of 32 segments and nodes of 64 children; the first
//! request of a class visits all of them once. Giving back never needs memory.
//!
//! Source: the talk's wish list; rooms per alignment class, and regions in the same tree, are this project's.

mod asked;
mod hot;
mod kept;
mod lanes;
mod occupy;
mod rooms;
mod search;
mod segment;
#[cfg(test)]
mod tests;
mod upkeep;
mod vacate;
mod validate;

use crate::arena::Link;
use crate::bplus::{Columns, Found, Position, Tree, Way};
use crate::index::{Entry, Map, Want};
use crate::{Broken, FreeIndex, OutOfMemory, Shortcuts};
use asked::Asked;
use freehold_units::{Align, Probe, Span, Work};
use hot::Hot;
use kept::Kept;
use rooms::Rooms;
use segment::{Segment, Segments, WIDTH};

/// Which of the addresses that can serve a request is taken. Both are exact for every alignment and window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The lowest address.
    #[default]
    Lowest,
    /// The highest address.
    Highest,
}

/// Free blocks and regions in one B+tree. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub enum BTree {}

impl FreeIndex for BTree {
    type Placement = Placement;
    type Map<V> = OneTree<V>;
}

/// The tree of all segments.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct OneTree<V> {
    tree: Tree<Segments<V>, Rooms, WIDTH>,
    blocks: usize,
    regions: usize,
    /// Where the first address was ever free.
    lowest: u64,
    hot: Hot,
    asked: Asked,
    remembers_hot: bool,
}

/// A segment, all its addresses and the way to it, valid until the tree changes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct At {
    found: Found,
    span: Span,
    /// As [`Hot::none_below`] if it is a block that was searched for.
    none_below: u32,
}

impl At {
    fn new(found: Found, span: Span) -> Self {
        Self { found, span, none_below: Hot::UNKNOWN }
    }
}

impl<V> OneTree<V> {
    /// All addresses of a segment: up to where the next one starts.
    #[inline]
    fn span(&self, position: Position) -> Option<Span> {
        let leaf = &self.tree.leaves[position.leaf];
        let first = *leaf.keys().get(position.at)?;
        let next = match leaf.keys().get(position.at + 1) {
            Some(&next) => next,
            None => self.first_behind(position.leaf),
        };
        // What no segment follows ends with the last address.
        Span::new(first, next.wrapping_sub(1))
    }

    /// Where the segments of the next leaf start, 0 if there is none.
    fn first_behind(&self, leaf: Link) -> u64 {
        let next = self.tree.leaves[leaf].next;
        self.tree.leaves[next].keys().first().copied().unwrap_or(0)
    }

    /// Asks at once for all of a leaf that may not be in the cache, and for what its parent knows of it. They would
    /// else be waited for one by one.
    #[inline]
    fn touch(&self, way: Way) {
        if let Some((parent, taken)) = way.above()
            && self.tree.height > 1
        {
            let known = self.tree.sums.row(0, parent)[taken];
            core::hint::black_box(self.tree.leaves[way.end()].columns.touch() ^ known);
        }
    }

    /// Asks at once for what a search that begins at `edge` reads of a node above leaves: its lows say where among the
    /// rooms to begin, and these which child to take, so they would else be waited for one after the other. A search
    /// that takes a node from its start reads little of it, and higher nodes are few and in the cache.
    #[inline]
    fn touch_node(&self, node: Link, class: usize, edge: u64, probe: &mut impl Probe) {
        let inner = &self.tree.inners[node];
        if edge >= inner.lows[1] {
            let (rooms, children) = (self.tree.sums.row(class, node), &inner.children);
            let words = [0, 16, 32, 48].map(|at| rooms[at] ^ children[at].number());
            core::hint::black_box(words[0] ^ words[1] ^ words[2] ^ words[3]);
            probe.touch(rooms);
            probe.touch(children);
        }
    }

    #[inline]
    fn room(&self, position: Position) -> u32 {
        self.tree.columns(position).room(position.at)
    }

    /// A region's granules of guard, and its value.
    #[inline]
    fn region_of(&self, position: Position) -> Option<(u32, &V)> {
        self.tree.columns(position).region(position.at)
    }

    /// The size of a free block in the short form.
    #[inline]
    fn short(&self, block: Span) -> u32 {
        self.tree.sums.kept.short(block.last() - block.first())
    }

    #[inline]
    fn entry(&self, position: Position) -> Option<Entry<'_, V>> {
        let (guard_granules, value) = self.region_of(position)?;
        let taken = self.span(position)?;
        let guard_bytes = u64::from(guard_granules).saturating_mul(self.tree.sums.kept.granule().bytes());
        let span = Span::new(taken.first(), taken.last().checked_sub(guard_bytes)?)?;
        Some(Entry { span, taken, guard_granules, value })
    }

    /// Every segment in address order.
    fn positions(&self) -> impl Iterator<Item = Position> {
        core::iter::successors(self.tree.first(), |&at| self.tree.next(at))
    }

    /// The size of the largest block below a node, which is nothing to look for unless it is of 2^26 granules.
    fn largest_below(&self, link: Link, height: usize) -> u64 {
        let (most, len, children) = match height {
            0 => {
                let leaf = &self.tree.leaves[link];
                (lanes::most(leaf.columns.lanes()), leaf.len(), None)
            }
            _ => {
                let inner = &self.tree.inners[link];
                (self.tree.sums.most(0, link), inner.len, Some(inner))
            }
        };
        if most == 0 {
            return 0;
        }
        if let Some(reach) = self.tree.sums.kept.long(most) {
            return reach.saturating_add(1);
        }
        let sizes = (0..len).map(|at| match children {
            Some(inner) if self.tree.sums.row(0, link)[at] == most => {
                self.largest_below(inner.children[at], height - 1)
            }
            Some(_) => 0,
            None => {
                let position = Position { leaf: link, at };
                if self.room(position) == most {
                    self.span(position).map_or(0, Span::size_saturating)
                } else {
                    0
                }
            }
        });
        sizes.max().unwrap_or(0)
    }
}

impl<V> Map<V> for OneTree<V> {
    type Choice = Placement;
    type Block = At;
    type Place = At;

    fn new(granule: Align) -> Result<Self, OutOfMemory> {
        let mut tree = Tree::new(Rooms::new(Kept::new(granule)))?;
        tree.reserve(1)?;
        tree.insert(tree.way_to(0), 0, Segment::HOLE);
        Ok(Self {
            tree,
            blocks: 0,
            regions: 0,
            lowest: u64::MAX,
            hot: Hot::NONE,
            asked: Asked::default(),
            remembers_hot: true,
        })
    }

    /// Fix-ups are not put off: they stop at the first node whose largest room is another child's.
    fn set_shortcuts(&mut self, shortcuts: Shortcuts, _: &mut impl Probe) {
        self.remembers_hot = shortcuts.hot_block;
        self.forget_hot();
    }

    fn duplicate(&self) -> Self
    where
        V: Clone,
    {
        self.clone()
    }

    /// What is cut from the middle of a block adds two segments, and so does a span that is added amid a hole. A
    /// region that becomes free adds none.
    #[inline]
    fn reserve(&mut self, regions: usize, _: usize) -> Result<(), OutOfMemory> {
        self.tree.reserve(regions.saturating_mul(2))
    }

    /// A space whose requests are not aligned does not pay for those that are.
    #[inline]
    fn prepare(&mut self, want: &Want, probe: &mut impl Probe) -> Result<(), OutOfMemory> {
        let class = self.tree.sums.kept.class_of(want.align);
        if class > 0 || !self.tree.sums.kept.only_sizes() {
            self.keep_for(class, probe)?;
        }
        self.reserve(1, 0)
    }

    #[inline]
    fn find(&self, placement: Placement, want: &Want, probe: &mut impl Probe) -> Option<(At, Span)> {
        if placement == Placement::Highest {
            return self.highest(want, probe);
        }
        let short = self.tree.sums.kept.short(want.size_bytes - 1);
        if let Some((block, span)) = self.in_hot_block(want, short) {
            probe.count(Work::NodeVisited, 1);
            probe.touch(self.tree.leaves[block.found.way().end()].keys());
            return Some((block, span));
        }
        let (block, span) = self.lowest(want, probe)?;
        // What was passed over is known to be smaller if all was seen, size was all that mattered, and is not rounded.
        let knows = want.window.first() <= self.lowest
            && self.tree.sums.kept.class_of(want.align) == 0
            && self.tree.sums.kept.long(short).is_some();
        Some((At { none_below: if knows { short } else { Hot::UNKNOWN }, ..block }, span))
    }

    #[inline]
    fn occupy(&mut self, block: At, taken: Span, guard_granules: u32, value: V, probe: &mut impl Probe) {
        self.cut(block, taken, Segment::region(guard_granules, value), probe);
        if probe.counts_lines() {
            self.tree.leaves[block.found.way().end()].columns.touch_from(block.found.at(), probe);
            self.tree.touch_moved(taken.first(), probe);
        }
    }

    #[inline]
    fn vacate(&mut self, place: At, taken: Span, probe: &mut impl Probe) -> Option<V> {
        if probe.counts_lines() {
            self.tree.touch_change(taken.first(), 1, probe);
        }
        let value = self.release(place.found, taken, probe);
        if probe.counts_lines() {
            self.tree.touch_moved(taken.first(), probe);
        }
        value
    }

    fn extend(&mut self, _: At, block: At, more: Span, probe: &mut impl Probe) {
        self.forget_hot();
        self.cut_start(block, more, probe);
    }

    fn shorten(&mut self, place: At, less: Span, probe: &mut impl Probe) {
        self.forget_hot();
        self.release_end(place.found, less, probe);
    }

    fn add(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        self.forget_hot();
        self.lowest = self.lowest.min(span.first());
        self.release_hole(span, probe)
    }

    fn block_at_or_below(&self, address: u64) -> Option<(At, Span)> {
        let way = self.tree.way_to(address);
        if let Some(at) = self.tree.leaves[way.end()].first_above(address).checked_sub(1) {
            let found = way.entry(at);
            if self.room(found.position()) > 0 {
                let span = self.span(found.position())?;
                return Some((At::new(found, span), span));
            }
        }
        // The highest granule that is free at or below the address.
        let align = self.tree.sums.kept.granule();
        let last = align.down(address) + (align.bytes() - 1);
        let want = Want { size_bytes: align.bytes(), align, window: Span::new(0, last)? };
        let (block, _) = self.highest(&want, &mut ())?;
        Some((block, block.span))
    }

    fn block_before(&self, block: At) -> Option<(At, Span)> {
        self.block_at_or_below(self.tree.key(block.found.position())?.checked_sub(1)?)
    }

    fn blocks(&self) -> impl Iterator<Item = Span> {
        self.positions().filter(|&at| self.room(at) > 0).filter_map(|at| self.span(at))
    }

    fn block_count(&self) -> usize {
        self.blocks
    }

    fn largest_bytes(&self) -> u64 {
        self.largest_below(self.tree.root, self.tree.height)
    }

    #[inline]
    fn region(&self, first: u64) -> Option<(At, Entry<'_, V>)> {
        let found = match self.at_hot_block(first) {
            Some(found) => found,
            None => {
                let way = self.tree.way_to(first);
                self.touch(way);
                self.tree.find_on(way, first)?
            }
        };
        let entry = self.entry(found.position())?;
        Some((At::new(found, entry.taken), entry))
    }

    fn region_at(&self, address: u64) -> Option<Entry<'_, V>> {
        self.entry(self.tree.at_or_below(address)?)
    }

    fn value_at(&mut self, address: u64) -> Option<(u64, &mut V)> {
        let position = self.tree.at_or_below(address)?;
        let last = self.entry(position)?.span.last();
        Some((last, self.tree.columns_mut(position).value_mut(position.at)?))
    }

    fn region_over(&self, span: Span) -> Option<Entry<'_, V>> {
        let mut at = self.tree.at_or_below(span.last());
        while let Some(position) = at {
            if self.span(position)?.last() < span.first() {
                return None;
            }
            if let Some(entry) = self.entry(position) {
                return Some(entry);
            }
            at = self.tree.previous(position);
        }
        None
    }

    fn regions<'a>(&'a self) -> impl Iterator<Item = Entry<'a, V>>
    where
        V: 'a,
    {
        self.positions().filter_map(|at| self.entry(at))
    }

    fn region_count(&self) -> usize {
        self.regions
    }

    /// The tree's memory, divided by the number of segments of each kind.
    fn bytes(&self) -> (usize, usize) {
        let all = self.tree.bytes();
        let blocks = (all as u128 * self.blocks as u128 / self.tree.len() as u128) as usize;
        (blocks, all - blocks)
    }

    fn validate(&self) -> Result<(), Broken> {
        self.check_all()
    }
}
