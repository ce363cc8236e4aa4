//! Giving a span back: it merges with the block before, the block after, or both.

use super::BTree;
use crate::Merge;
use crate::bplus::{Found, Inserted, Position, Removed, Way};
use freehold_units::{Probe, Span, Work};

impl BTree {
    #[inline]
    pub(super) fn release_span(
        &mut self,
        way: Way,
        span: Span,
        probe: &mut impl Probe,
    ) -> Result<Merge, Span> {
        let leaf = &self.tree.leaves[way.end];
        let at = leaf.first_above(span.first());
        let here = Position { leaf: way.end, at };
        let (before, after) = (self.tree.previous(here), self.tree.at_or_after(here));
        let (previous, next) = (self.span_at(before), self.span_at(after));
        probe.count(Work::LinkVisited, self.tree.height as u64 + 1);
        if let Some(block) = previous.filter(|block| block.last() >= span.first()) {
            return Err(block);
        }
        if let Some(block) = next.filter(|block| block.first() <= span.last()) {
            return Err(block);
        }
        let previous = previous.filter(|block| block.touches(span));
        let next = next.filter(|&block| span.touches(block));
        let merge = Merge::of(previous.is_some(), next.is_some());
        probe.count(merge.work(), 1);
        let inside = |position: Option<Position>| position.is_some_and(|position| position.leaf == way.end);
        let found = |at| Found { way, at };
        match (previous, next) {
            (None, None) => self.insert(way, at, span, probe),
            (Some(block), None) if inside(before) => {
                self.resize(&found(at - 1), block, joined(block, span), probe);
            }
            (None, Some(block)) if inside(after) => {
                self.resize(&found(at), block, joined(span, block), probe)
            }
            (Some(low), Some(high)) if inside(before) && inside(after) => {
                let whole = joined(low, high);
                self.tree.leaves[way.end].columns.lasts[at - 1] = whole.last();
                if self.tree.remove(&found(at)).1 == Removed::InPlace {
                    self.update(way, &[low, high], &[whole], probe);
                }
            }
            (previous, next) => self.merge_across(previous, span, next, probe),
        }
        Ok(merge)
    }

    fn span_at(&self, position: Option<Position>) -> Option<Span> {
        let position = position?;
        Span::new(self.tree.key(position)?, *self.tree.columns(position).lasts.get(position.at)?)
    }

    /// A neighbour lies in another leaf: the block after is taken out, and the rest grows or is inserted.
    #[cold]
    fn merge_across(
        &mut self,
        previous: Option<Span>,
        span: Span,
        next: Option<Span>,
        probe: &mut impl Probe,
    ) {
        if let Some((block, found)) = next.and_then(|block| Some((block, self.tree.find(block.first())?)))
            && self.tree.remove(&found).1 == Removed::InPlace
        {
            self.update(found.way, &[block], &[], probe);
        }
        let span = next.map_or(span, |block| joined(span, block));
        match previous.and_then(|block| Some((block, self.tree.find(block.first())?))) {
            Some((block, found)) => self.resize(&found, block, joined(block, span), probe),
            None => {
                let way = self.tree.way_to(span.first());
                let at = self.tree.leaves[way.end].first_above(span.first());
                self.insert(way, at, span, probe);
            }
        }
    }

    /// Adds a block of its own.
    #[inline]
    fn insert(&mut self, way: Way, at: usize, span: Span, probe: &mut impl Probe) {
        if at == self.tree.leaves[way.end].len() {
            self.tree.keep_apart(way, span.last());
        }
        if self.tree.insert_at(way, at, span.first(), span.last()) == Inserted::InPlace {
            self.update(way, &[], &[span], probe);
        }
    }
}

/// From the start of the lower to the end of the higher.
fn joined(low: Span, high: Span) -> Span {
    Span::new(low.first(), high.last()).unwrap_or(low)
}
