//! Checking every invariant from scratch.

use super::{Need, Tree};
use crate::error::Broken;
use crate::node::{Extent, NodeId};
use freehold_units::Span;

/// What has been seen of the tree so far, in the order of indexes.
struct Seen {
    nodes: Need,
    entries: u64,
    /// Whether the slot before was a gap.
    gap_before: bool,
}

const fn broken(invariant: &'static str, what: &'static str, index: u64) -> Broken {
    Broken { invariant, what, index }
}

impl Tree {
    /// Checks all.
    pub(crate) fn validate(&self) -> Result<(), Broken> {
        let mut seen = Seen { nodes: Need::default(), entries: 0, gap_before: false };
        if self.height > 0 {
            self.check(self.root, self.height, Span::ALL, &mut seen)?;
            if seen.entries == 0 {
                return Err(broken("M5", "a tree without entries has a node", 0));
            }
        }
        if seen.entries != self.len {
            return Err(broken("M5", "the count of entries is wrong", 0));
        }
        if self.undo.is_on() {
            // Nodes that are not in the tree any more are kept until the transaction ends.
            return Ok(());
        }
        if seen.nodes != self.nodes() {
            return Err(broken("M6", "a node is in use and not in the tree", 0));
        }
        if self.leaves.vacant().count() + seen.nodes.leaves != self.leaves.made()
            || self.inners.vacant().count() + seen.nodes.inners != self.inners.made()
        {
            return Err(broken("M6", "a node is neither vacant nor in use", 0));
        }
        Ok(())
    }

    /// Checks a subtree; returns its longest gap.
    fn check(&self, id: NodeId, height: usize, whole: Span, seen: &mut Seen) -> Result<Extent, Broken> {
        let at = whole.first();
        if height == 1 {
            return self.check_leaf(id, whole, seen);
        }
        seen.nodes.inners += 1;
        let inner = self.inner(id);
        if inner.len() < 2 || inner.len() > self.limits.fanout {
            return Err(broken("M3", "an inner node has too few or too many children", at));
        }
        let mut first = whole.first();
        for slot in 0..inner.len() {
            let is_last = slot + 1 == inner.len();
            let last = if is_last { whole.last() } else { inner.pivot(slot) };
            let Some(span) = Span::new(first, last).filter(|span| whole.covers(*span)) else {
                return Err(broken("M1", "an inner node's pivots do not ascend", first));
            };
            let gap = self.check(inner.child(slot), height - 1, span, seen)?;
            if gap != inner.gap(slot) {
                return Err(broken("M4", "what is known of a child's longest gap is wrong", first));
            }
            if !is_last {
                match whole.above(span) {
                    Some(rest) => first = rest.first(),
                    None => return Err(broken("M1", "a child that is not the last ends its node", first)),
                }
            }
        }
        if (inner.len() - 1..15).any(|slot| inner.pivot(slot) != u64::MAX)
            || (inner.len()..16).any(|slot| inner.gap(slot) != Extent::NONE)
        {
            return Err(broken("M3", "what is behind an inner node's last child is not cleared", at));
        }
        Ok(inner.largest_gap())
    }

    fn check_leaf(&self, id: NodeId, whole: Span, seen: &mut Seen) -> Result<Extent, Broken> {
        let leaf = self.leaf(id);
        seen.nodes.leaves += 1;
        seen.entries += leaf.entries() as u64;
        if leaf.len() == 0 || leaf.used() > self.limits.leaf_words || leaf.occupied() >> (leaf.len() - 1) > 1
        {
            return Err(broken("M3", "a leaf has no slots or too many", whole.first()));
        }
        let mut from = Some(whole.first());
        for slot in 0..leaf.len() {
            let (first, last) = leaf.span(slot, whole);
            if Some(first) != from || last < first || last > whole.last() {
                return Err(broken("M1", "a leaf's pivots do not ascend", first));
            }
            let gap = !leaf.has_entry(slot);
            if gap && seen.gap_before {
                return Err(broken("M2", "two gaps follow each other", first));
            }
            seen.gap_before = gap;
            from = last.checked_add(1);
        }
        Ok(leaf.largest_gap(whole))
    }
}
