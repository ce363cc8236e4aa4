//! Upkeep of the bounds in inner nodes (K9): for each class of alignment, an upper bound of the usable gaps below a
//! child.
//!
//! A free makes a gap longer and raises the bounds above it that are lower. An allocation makes a gap shorter and
//! leaves the bounds alone, so they may be too high. A search that finds nothing in a leaf lowers the leaf's bound to
//! the exact value (`search.rs`). So each fruitless leaf visit is amortized against an earlier allocation, once for
//! each class.
//!
//! In trees of three levels or more a leaf is seldom in the cache. There an allocation without alignment lowers its
//! leaf's bound at once, unless the gap passes the lanes' reach (`freehold bench kva --workload churn`). For aligned
//! requests that costs more than it saves: the usable gaps that are left are mostly as large (`freehold replay` of
//! `pthread.kva`).

use super::{EntryHandle, RegionTree};
use crate::bplus::{LeafNode, Step, usable_gap};
use freehold_units::pool::NodeId;
use freehold_units::{Probe, Work};

impl<V> RegionTree<V> {
    /// Recomputes the bounds of the leaf that `granule` belongs to, and of all its ancestors.
    pub(super) fn refresh(&mut self, granule: u64) {
        let path = self.tree.path_to(granule);
        (0..self.tree.height).for_each(|level| self.tree.measure(path.steps[level], level));
    }

    /// Lowers the leaf's bound in the first class after a gap of `gap` granules in it was cut, if the bound was that
    /// gap's size.
    pub(super) fn lower(&mut self, leaf: NodeId, parent: Step, gap: u64) {
        let row = self.tree.inners[parent.inner()].row(0);
        if row.bound(parent.slot()) == gap {
            row.set(parent.slot(), self.tree.leaves[leaf].largest_usable_gap(0));
        }
    }

    /// Raises the bounds above the leaf of an entry for a gap in it that starts at `start` and is now `gap` long.
    pub(super) fn raise_at(&mut self, at: EntryHandle, start: u64, gap: u64) {
        if self.tree.height == 0 {
            return;
        }
        // Usually the leaf's own bounds are as high already, and those above are never lower.
        let parent = &self.tree.inners[at.parent.inner()];
        let is_low = |(class, &mask): (usize, &u64)| {
            parent.row(class).bound(at.parent.slot()) < usable_gap(start, gap, mask)
        };
        if self.tree.classes.masks().iter().enumerate().any(is_low) {
            let first = self.tree.leaves[at.leaf].start(at.slot);
            self.tree.raise(&self.tree.path_to(first), start, gap, &mut ());
        }
    }

    /// Granules of the largest gap below a node. It enters the child with the largest bound. If that bound was too
    /// high, it also enters each child whose bound exceeds the largest gap so far. It makes these bounds exact, so the
    /// next call enters only one child.
    pub(super) fn largest_gap(&self, node: NodeId, height: usize, probe: &mut impl Probe) -> u64 {
        probe.count(Work::NodeVisited, 1);
        let Some(below) = height.checked_sub(1) else {
            return self.tree.leaves[node].largest_usable_gap(0);
        };
        let (inner, row) = (&self.tree.inners[node], self.tree.inners[node].row(0));
        let (mut first, mut bound) = (0, row.bound(0));
        for slot in 1..inner.len() {
            if row.bound(slot) > bound {
                (first, bound) = (slot, row.bound(slot));
            }
        }
        let mut known = self.largest_gap(inner.child(first), below, probe);
        if known == bound {
            return known;
        }
        row.set(first, known);
        for slot in 0..inner.len() {
            if row.bound(slot) > known {
                let largest = self.largest_gap(inner.child(slot), below, probe);
                row.set(slot, largest);
                known = known.max(largest);
            }
        }
        known
    }
}
