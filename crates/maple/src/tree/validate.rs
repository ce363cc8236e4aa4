//! Checking every invariant from scratch.

use super::version::{Base, Version};
use super::{Memory, Need, NodePool, Tree};
use crate::node::{Extent, NodeId, SLOTS};
use freehold_units::{Broken, Span, check};

/// The counts so far, in the order of indexes.
struct Seen {
    nodes: Need,
    entries: u64,
    /// Whether the previous slot was a gap.
    gap_before: bool,
}

impl<M: Memory> Tree<M> {
    /// Checks every invariant. `waiting` counts nodes in use that are not in the tree.
    pub(crate) fn validate(&self, waiting: Need) -> Result<(), Broken> {
        let mut seen = Seen { nodes: Need::default(), entries: 0, gap_before: false };
        if self.height > 0 {
            self.check_below(self.root, self.height, Span::ALL, &mut seen)?;
            check(seen.entries > 0, "M5", "a tree without entries has no node", 0)?;
        }
        check(seen.entries == self.len, "M5", "there are as many entries as are counted", 0)?;
        if let Some(version) = self.version.open() {
            return self.check_base(version);
        }
        let used =
            Need { leaves: seen.nodes.leaves + waiting.leaves, inners: seen.nodes.inners + waiting.inners };
        check(used == self.nodes(), "M6", "a node in use is in the tree", 0)?;
        let leaves = self.leaves.count_vacant() + used.leaves == self.leaves.made();
        let inners = self.inners.count_vacant() + used.inners == self.inners.made();
        check(leaves && inners, "M6", "a node is vacant or in use", 0)
    }

    /// Checks that the base of a version is still a valid tree, and shares none of the version's own nodes. Nodes in
    /// neither wait for the transaction's end.
    fn check_base(&self, version: &Version<M>) -> Result<(), Broken> {
        let mut seen = Seen { nodes: Need::default(), entries: 0, gap_before: false };
        let Base { root, height, len } = version.base;
        if height > 0 {
            self.check_below(root, height, Span::ALL, &mut seen)?;
            self.check_shared(root, height)?;
        }
        check(seen.entries == len, "M9", "a version's base has as many entries as before", 0)
    }

    fn check_shared(&self, id: NodeId, height: usize) -> Result<(), Broken> {
        let is_own = self.version.open().is_some_and(|version| match height {
            1 => version.leaves.has(id),
            _ => version.inners.has(id),
        });
        check(!is_own, "M9", "a version's base has none of its own nodes", id.into())?;
        if height == 1 {
            return Ok(());
        }
        let inner = self.inner(id);
        (0..inner.len()).try_for_each(|slot| self.check_shared(inner.child(slot), height - 1))
    }

    /// Checks a subtree; returns its longest gap.
    fn check_below(&self, id: NodeId, height: usize, whole: Span, seen: &mut Seen) -> Result<Extent, Broken> {
        let at = whole.first();
        if height == 1 {
            return self.check_leaf(id, whole, seen);
        }
        seen.nodes.inners += 1;
        let inner = self.inner(id);
        let holds = (2..=self.limits.fanout).contains(&inner.len());
        check(holds, "M3", "an inner node has 2 to 16 children", at)?;
        let mut first = whole.first();
        for slot in 0..inner.len() {
            let is_last = slot + 1 == inner.len();
            let last = if is_last { whole.last() } else { inner.pivot(slot) };
            check(first <= last && last <= whole.last(), "M1", "an inner node's pivots ascend", first)?;
            let span = Span::new(first, last).expect("M1: an inner node's pivots ascend");
            let gap = self.check_below(inner.child(slot), height - 1, span, seen)?;
            check(gap == inner.gap(slot), "M4", "a child's longest gap is known", first)?;
            if !is_last {
                check(last < whole.last(), "M1", "only the last child ends its node", first)?;
                first = last + 1;
            }
        }
        let pivots = (inner.len() - 1..SLOTS - 1).all(|slot| inner.pivot(slot) == u64::MAX);
        let gaps = (inner.len()..SLOTS).all(|slot| inner.gap(slot) == Extent::NONE);
        check(pivots && gaps, "M3", "what is behind an inner node's last child is cleared", at)?;
        Ok(inner.largest_gap())
    }

    fn check_leaf(&self, id: NodeId, whole: Span, seen: &mut Seen) -> Result<Extent, Broken> {
        let leaf = self.leaf(id);
        seen.nodes.leaves += 1;
        seen.entries += leaf.entries() as u64;
        let fits = leaf.len() > 0 && leaf.len() <= self.limits.leaf_slots;
        let holds = fits && leaf.occupied() >> (leaf.len() - 1) <= 1;
        check(holds, "M3", "a leaf has a slot, and no more than fit", whole.first())?;
        let cleared = (leaf.len() - 1..SLOTS - 1).all(|slot| leaf.pivot(slot) == u64::MAX);
        let counted = leaf.occupied().count_ones() as usize == leaf.entries();
        check(
            cleared && counted,
            "M3",
            "a leaf has no pivot behind its last slot, and counts its entries",
            whole.first(),
        )?;
        let mut from = Some(whole.first());
        for slot in 0..leaf.len() {
            let (first, last) = leaf.span(slot, whole);
            let ascends = Some(first) == from && first <= last && last <= whole.last();
            check(ascends, "M1", "a leaf's pivots ascend", first)?;
            let gap = !leaf.has_entry(slot);
            check(!(gap && seen.gap_before), "M2", "no two gaps follow each other", first)?;
            seen.gap_before = gap;
            from = last.checked_add(1);
        }
        Ok(leaf.largest_gap(whole))
    }
}
