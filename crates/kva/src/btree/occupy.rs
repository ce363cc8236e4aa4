//! Taking addresses out of a free block.

use super::segment::Segment;
use super::{At, OneTree};
use crate::Fit;
use crate::bplus::{Found, Inserted, Removed};
use freehold_units::{Probe, Span};

impl<V> OneTree<V> {
    /// `taken`, in the block that was found, becomes a region. What is new goes behind what is there: moving what was
    /// just stored would wait for the stores.
    #[inline]
    pub(super) fn cut(&mut self, block: At, taken: Span, region: Segment<V>, probe: &mut impl Probe) {
        let At { found, span: block, none_below } = block;
        debug_assert!(block.covers(taken));
        let fit = Fit::of(block, taken);
        probe.count(fit.work(), 1);
        let (below, above) = (block.below(taken), block.above(taken));
        match (below, above) {
            (None, None) => {
                self.tree.columns_mut(found.position()).begin_region(found.at(), region);
                self.blocks -= 1;
                self.update(found.way(), &[block], &[], probe);
                self.set_hot(found, block.first(), none_below);
            }
            (None, Some(rest)) => {
                self.tree.columns_mut(found.position()).begin_region(found.at(), region);
                let free = Segment::free(self.short(rest));
                self.set_hot(found.way().entry(found.at() + 1), rest.first(), none_below);
                self.insert_after(found, block, rest.first(), free, rest, probe);
            }
            (Some(rest), None) => {
                self.set_block(found, rest);
                self.set_hot(found, rest.first(), none_below);
                self.insert_after(found, block, taken.first(), region, rest, probe);
            }
            (Some(below), Some(above)) => {
                self.cut_middle(found, block, [below, taken, above], region, probe);
                self.forget_hot();
            }
        }
        self.regions += 1;
    }

    /// Puts a segment behind the entry that was found, where of `block` as much as `rest` is left.
    #[inline]
    fn insert_after(
        &mut self,
        found: Found,
        block: Span,
        first: u64,
        segment: Segment<V>,
        rest: Span,
        probe: &mut impl Probe,
    ) {
        if self.tree.insert_at(found.way(), found.at() + 1, first, segment) == Inserted::InPlace {
            self.update(found.way(), &[block], &[rest], probe);
        } else {
            self.forget_hot();
        }
    }

    fn cut_middle(
        &mut self,
        found: Found,
        block: Span,
        [below, taken, above]: [Span; 3],
        region: Segment<V>,
        probe: &mut impl Probe,
    ) {
        self.set_block(found, below);
        self.blocks += 1;
        let (way, rest) = (found.way(), Segment::free(self.short(above)));
        if self.tree.insert_at(way, found.at() + 1, taken.first(), region) == Inserted::InPlace {
            if self.tree.insert_at(way, found.at() + 2, above.first(), rest) == Inserted::InPlace {
                self.update(way, &[block], &[below, above], probe);
            }
            return;
        }
        let way = self.tree.way_to(above.first());
        if self.tree.insert(way, above.first(), rest) == Inserted::InPlace {
            self.update(way, &[], &[above], probe);
        }
    }

    /// `taken`, the start of the block that was found, goes to the segment before it.
    pub(super) fn cut_start(&mut self, block: At, taken: Span, probe: &mut impl Probe) {
        let At { found, span: block, .. } = block;
        probe.count(Fit::of(block, taken).work(), 1);
        if let Some(rest) = block.above(taken) {
            self.set_block(found, rest);
            self.update(found.way(), &[block], &[rest], probe);
        } else {
            self.blocks -= 1;
            if self.tree.remove(found).1 == Removed::InPlace {
                self.update(found.way(), &[block], &[], probe);
            }
        }
    }

    /// The segment that was found is that block now.
    #[inline]
    pub(super) fn set_block(&mut self, found: Found, block: Span) {
        let room = self.short(block);
        let leaf = &mut self.tree.leaves[found.way().end()];
        leaf.set_key(found.at(), block.first());
        leaf.columns.set_room(found.at(), room);
    }
}
