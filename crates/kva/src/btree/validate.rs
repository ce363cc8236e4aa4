//! Checking the tree from scratch.

use super::OneTree;
use crate::error::{Broken, check};

impl<V> OneTree<V> {
    pub(super) fn check_all(&self) -> Result<(), Broken> {
        self.tree.validate()?;
        check(self.tree.first().and_then(|at| self.tree.key(at)) == Some(0), "K4", "segments start at 0", 0)?;
        let (mut blocks, mut regions, mut after_block) = (0, 0, false);
        for position in self.positions() {
            let (span, room) = (self.span(position), self.room(position));
            let first = self.tree.key(position).unwrap_or(0);
            check(span.is_some(), "K4", "a segment is a span", first)?;
            let is_block = room > 0;
            if let Some(block) = span.filter(|_| is_block) {
                check(!after_block, "K1", "blocks never touch", first)?;
                check(room == self.short(block), "K9", "a block's room is its size", first)?;
                check(self.region_of(position).is_none(), "K4", "nobody holds a block", first)?;
                let end = self.tree.way_to(block.last()).end();
                check(end == position.leaf, "K8", "all of a block leads to its leaf", first)?;
                blocks += 1;
            }
            if self.region_of(position).is_some() {
                check(self.entry(position).is_some(), "K4", "a guard is smaller than what is taken", first)?;
                regions += 1;
            }
            check(self.is_below_hot(first, room), "K15", "nothing below the hot place has such room", first)?;
            after_block = is_block;
        }
        check(blocks == self.blocks, "K1", "there are as many blocks as are counted", 0)?;
        check(regions == self.regions, "K4", "there are as many regions as are counted", 0)
    }
}
