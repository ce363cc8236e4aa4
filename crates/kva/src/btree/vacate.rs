//! Making addresses free: they merge with the block before, the block after, or both.

use super::OneTree;
use super::segment::Segment;
use crate::Merge;
use crate::bplus::{Found, Inserted, Position, Removed, Way};
use freehold_units::{Probe, Span, Work};

impl<V> OneTree<V> {
    /// The region that was found, of which `taken` are all addresses, becomes a block or part of one.
    #[inline]
    pub(super) fn release(&mut self, found: Found, taken: Span, probe: &mut impl Probe) -> Option<V> {
        let value = self.tree.columns_mut(found.position()).end_region(found.at())?;
        self.regions -= 1;
        self.set_free(found, taken, probe);
        Some(value)
    }

    /// The segment that was found, `span`, which nobody holds, becomes a block or part of one.
    #[inline]
    fn set_free(&mut self, found: Found, span: Span, probe: &mut impl Probe) {
        let (way, at) = (found.way(), found.at());
        let (before, after) = (self.tree.previous(found.position()), self.tree.next(found.position()));
        let (previous, next) = (self.block_at(before), self.block_at(after));
        probe.count(Work::LinkVisited, self.tree.height as u64 + 1);
        let merge = Merge::of(previous.is_some(), next.is_some());
        probe.count(merge.work(), 1);
        let inside = |position: Option<Position>| position.is_some_and(|position| position.leaf == way.end());
        match (previous, next) {
            (None, None) => {
                self.blocks += 1;
                self.set_block(found, span);
                self.claim(way, at, span);
                self.update(way, &[], &[span], probe);
                self.pull_hot(found, span.first());
            }
            (Some(block), None) if inside(before) => {
                self.claim(way, at, span);
                self.merge(way.entry(at - 1), found, &[block], joined(block, span), probe);
            }
            (None, Some(block)) if inside(after) => {
                self.merge(found, way.entry(at + 1), &[block], joined(span, block), probe);
            }
            (Some(low), Some(high)) if inside(before) && inside(after) => {
                self.blocks -= 1;
                self.merge(way.entry(at - 1), found, &[low, high], joined(low, high), probe);
            }
            (previous, next) => {
                self.merge_across(previous, span, next, probe);
                self.forget_hot();
            }
        }
    }

    /// The entry `grown` becomes the block `whole`, in which the blocks `before` are; as many entries, from `gone` on
    /// in the same leaf, go.
    #[inline]
    fn merge(&mut self, grown: Found, gone: Found, before: &[Span], whole: Span, probe: &mut impl Probe) {
        self.set_block(grown, whole);
        if self.tree.remove_run(gone, before.len()) == Removed::InPlace {
            self.update(grown.way(), before, &[whole], probe);
            self.pull_hot(grown, whole.first());
        } else {
            self.forget_hot();
        }
    }

    #[inline]
    fn block_at(&self, position: Option<Position>) -> Option<Span> {
        let position = position.filter(|&position| self.room(position) > 0)?;
        self.span(position)
    }

    /// A neighbour lies in another leaf. The block after is taken out, and what has become free, if there is a
    /// block before; then what is left grows.
    #[cold]
    fn merge_across(
        &mut self,
        previous: Option<Span>,
        span: Span,
        next: Option<Span>,
        probe: &mut impl Probe,
    ) {
        let mut whole = span;
        if let Some(block) = next {
            self.remove_block(block, probe);
            self.blocks -= 1;
            whole = joined(whole, block);
        }
        let mut grown: &[Span] = &[];
        if let Some(block) = &previous {
            if let Some(found) = self.tree.find(span.first()) {
                self.tree.remove(found);
            }
            whole = joined(*block, whole);
            grown = core::slice::from_ref(block);
        } else {
            self.blocks += 1;
        }
        if let Some(found) = self.tree.find(whole.first()) {
            self.set_block(found, whole);
            self.tree.keep_apart(found.way(), whole.last());
            self.update(found.way(), grown, &[whole], probe);
        }
    }

    fn remove_block(&mut self, block: Span, probe: &mut impl Probe) {
        if let Some(found) = self.tree.find(block.first())
            && self.tree.remove(found).1 == Removed::InPlace
        {
            self.update(found.way(), &[block], &[], probe);
        }
    }

    /// If the segment is the last of its leaf, the next leaf is said to start above it.
    #[inline]
    fn claim(&mut self, way: Way, at: usize, block: Span) {
        if at + 1 == self.tree.leaves[way.end()].len() {
            self.tree.keep_apart(way, block.last());
        }
    }

    /// `less`, the end of the region that was found, becomes a block or part of one.
    pub(super) fn release_end(&mut self, found: Found, less: Span, probe: &mut impl Probe) {
        let region = self.tree.key(found.position());
        let mut whole = less;
        if let Some(block) = self.block_at(self.tree.next(found.position())) {
            self.remove_block(block, probe);
            whole = joined(less, block);
        } else {
            self.blocks += 1;
        }
        probe.count(Merge::of(false, whole != less).work(), 1);
        if let Some(found) = region.and_then(|first| self.tree.find(first)) {
            self.claim(found.way(), found.at(), whole);
            self.insert_block(found.way(), found.at() + 1, whole, probe);
        }
    }

    fn insert_block(&mut self, way: Way, at: usize, block: Span, probe: &mut impl Probe) {
        let room = self.short(block);
        if self.tree.insert_at(way, at, block.first(), Segment::free(room)) == Inserted::InPlace {
            self.update(way, &[], &[block], probe);
        }
    }

    /// `span`, in which no region lies, becomes a block or part of one; the error is the first block in it.
    pub(super) fn release_hole(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        let mut at = self.tree.at_or_below(span.first());
        while let Some(block) =
            at.and_then(|position| self.span(position)).filter(|block| block.overlaps(span))
        {
            if self.block_at(at).is_some() {
                return Err(block);
            }
            at = at.and_then(|position| self.tree.next(position));
        }
        self.divide(span.first());
        if let Some(after) = span.last().checked_add(1) {
            self.divide(after);
        }
        if let Some(found) = self.tree.find(span.first()) {
            self.set_free(found, span, probe);
        }
        Ok(())
    }

    /// Makes sure that a segment starts at `address`, unless a block does not end there.
    fn divide(&mut self, address: u64) {
        let Some(position) = self.tree.at_or_below(address) else { return };
        let (Some(hole), Some(found)) =
            (self.span(position), self.tree.key(position).and_then(|key| self.tree.find(key)))
        else {
            return;
        };
        if hole.first() == address || self.room(position) > 0 || self.region_of(position).is_some() {
            return;
        }
        self.claim(found.way(), found.at(), hole);
        self.tree.insert_at(found.way(), found.at() + 1, address, Segment::HOLE);
    }
}

/// From the start of the lower to the end of the higher.
fn joined(low: Span, high: Span) -> Span {
    Span::new(low.first(), high.last()).unwrap_or(low)
}
