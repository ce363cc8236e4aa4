//! Keeping what inner nodes know of gaps (K9): for each class of alignment, a size that no room below a child exceeds.
//!
//! A free makes one gap longer: the bounds above it rise where they are lower. An allocation makes a gap shorter and
//! leaves the bounds alone, too high at worst: a search that enters a leaf in vain lowers its bound to what there is
//! (`search.rs`). So each fruitless leaf visit is paid for by an earlier allocation, once for each class.
//!
//! In trees of three levels and more a leaf is seldom in the cache, so there an allocation without alignment lowers its
//! leaf's bound at once, unless the gap passes the lanes' reach (`freehold bench kva --workload churn`). For aligned requests that costs more than it saves: the
//! rooms that are left are mostly as large (`freehold replay` of `pthread.kva`).

use super::RegionTree;
use crate::bplus::{LeafNode, Step};
use freehold_units::pool::NodeId;
use freehold_units::{Probe, Work};

impl<V> RegionTree<V> {
    /// Finds anew the bounds of the leaf that `granule` belongs to, and of all above it.
    pub(super) fn refresh(&mut self, granule: u64) {
        let path = self.tree.path_to(granule);
        (0..self.tree.height).for_each(|level| self.tree.measure(path.steps[level], level));
    }

    /// A gap of `gap` granules in a leaf below `parent` was cut. If it was the largest there, the leaf's bound in the
    /// first class is lowered to what is left.
    pub(super) fn lower(&mut self, leaf: NodeId, parent: Step, gap: u64) {
        let row = self.tree.inners[parent.inner()].row(0);
        if row.bound(parent.slot()) == gap {
            row.set(parent.slot(), self.tree.leaves[leaf].largest_room(0));
        }
    }

    /// Granules of the largest gap below a node. Enters the child with the largest bound and, if that was too high, each
    /// whose bound is larger than what was found. Lowers theirs to what there is: a second time it enters the first alone.
    pub(super) fn largest_gap(&self, node: NodeId, height: usize, probe: &mut impl Probe) -> u64 {
        probe.count(Work::NodeVisited, 1);
        let Some(below) = height.checked_sub(1) else {
            return self.tree.leaves[node].largest_room(0);
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
