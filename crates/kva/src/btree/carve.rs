//! Cutting a span out of a block.

use super::BTree;
use crate::Fit;
use crate::bplus::{Found, Inserted, Removed};
use freehold_units::{Probe, Span};

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
                    self.update(found.way, &[block], &[], probe);
                }
            }
            (None, Some(rest)) | (Some(rest), None) => self.resize(found, block, rest, probe),
            (Some(below), Some(above)) => {
                self.tree.leaves[found.way.end].set_key(found.at, above.first());
                let inserted = self.tree.insert_at(found.way, found.at, below.first(), below.last());
                if inserted == Inserted::InPlace {
                    self.update(found.way, &[block], &[below, above], probe);
                }
            }
        }
        fit
    }

    /// Gives a block another span, between the same neighbours and not below what its leaf may hold.
    #[inline]
    pub(super) fn resize(&mut self, found: &Found, block: Span, span: Span, probe: &mut impl Probe) {
        let leaf = &mut self.tree.leaves[found.way.end];
        leaf.set_key(found.at, span.first());
        leaf.columns.lasts[found.at] = span.last();
        if span.last() > block.last() && found.at + 1 == leaf.len() {
            self.tree.keep_apart(found.way, span.last());
        }
        self.update(found.way, &[block], &[span], probe);
    }
}
