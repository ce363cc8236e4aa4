//! Cutting a span out of a block, and keeping rooms right.

use super::BTree;
use crate::Fit;
use crate::bplus::{Found, Inserted, Path, Removed};
use freehold_units::{Probe, Span, Work};

impl BTree {
    #[inline]
    pub(super) fn carve_found(&mut self, found: &Found, span: Span, probe: &mut impl Probe) -> Fit {
        let block = self.block(found).unwrap_or(span);
        debug_assert!(block.covers(span));
        let fit = Fit::of(block, span);
        probe.count(fit.work(), 1);
        match (block.below(span), block.above(span)) {
            (None, None) => {
                if self.tree.remove(found).1 == Removed::InPlace {
                    self.update(&found.path, &[block], &[], probe);
                }
            }
            (None, Some(rest)) | (Some(rest), None) => self.resize(found, block, rest, probe),
            (Some(below), Some(above)) => {
                self.tree.leaves[found.path.leaf].set_key(found.at, above.first());
                let inserted = self.tree.insert_at(&found.path, found.at, below.first(), below.last());
                if inserted == Inserted::InPlace {
                    self.update(&found.path, &[block], &[below, above], probe);
                }
            }
        }
        fit
    }

    /// Gives a block another span, between the same neighbours and not below what its leaf may hold.
    #[inline]
    pub(super) fn resize(&mut self, found: &Found, block: Span, span: Span, probe: &mut impl Probe) {
        let leaf = &mut self.tree.leaves[found.path.leaf];
        leaf.set_key(found.at, span.first());
        leaf.columns.lasts[found.at] = span.last();
        if span.last() > block.last() && found.at + 1 == leaf.len() {
            self.tree.keep_apart(&found.path, span.last());
        }
        self.update(&found.path, &[block], &[span], probe);
    }

    /// The leaf at the end of the path has lost the blocks `before` and gained the blocks `now`. Only a class
    /// whose largest room was lost is looked through again.
    #[inline]
    pub(super) fn update(&mut self, path: &Path, before: &[Span], now: &[Span], probe: &mut impl Probe) {
        let Some(known) = self.tree.leaf_summary(path) else { return };
        let kept = &self.tree.context;
        let most = |blocks: &[Span], class| {
            blocks.iter().fold(0, |most, &block| kept.room_in(block, class).max(most))
        };
        let mut room = known;
        for (class, room) in room.0.iter_mut().enumerate().take(kept.classes) {
            let gained = most(now, class);
            if gained >= *room {
                *room = gained;
            } else if most(before, class) == *room {
                let leaf = &self.tree.leaves[path.leaf];
                *room = leaf.columns.room_in_class(kept, leaf.keys(), class);
            }
        }
        if room != known {
            probe.count(Work::MaxRecomputed, 1);
            self.tree.set_leaf_summary(path, room);
        }
    }
}
