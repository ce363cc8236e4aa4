//! Keeping what inner nodes know of gaps (K9): for each class of alignment, a size that no room below a child exceeds.
//!
//! A free makes one gap longer: the bounds above it rise where they are lower. An allocation makes a gap shorter and
//! leaves the bounds alone, too high at worst: a search that enters a leaf in vain lowers its bound to what there is
//! (`search.rs`). So each fruitless leaf visit is amortized against an earlier allocation, in searches that may change the tree and whose
//! alignment has a class. `AddressSpace::find` and `alloc_congruent` only read: they enter such leaves every time.
//!
//! In trees of three levels and more a leaf is seldom in the cache, so there an allocation without alignment lowers its
//! leaf's bound at once, unless the gap passes the lanes' reach (`freehold bench kva --workload churn`). For aligned requests that costs more than it saves: the
//! rooms that are left are mostly as large (`freehold replay` of `pthread.kva`).

use super::RegionTree;
use super::classes::{CLASSES, Classes};
use super::lanes::room;
use super::leaf::Leaf;
use crate::bplus::{LeafPath, Step};
use freehold_units::pool::NodeId;
use freehold_units::{Extent, Probe, Work};

/// A size in granules in 31 bits: a larger one never has the smaller code. Up to 2^26 it is the size itself.
#[inline]
pub(super) fn code(granules: u64) -> i32 {
    granules.checked_sub(1).map_or(0, |reach| Extent::of_reach(reach).code() as i32)
}

impl Classes {
    /// The largest room in a leaf for each class.
    pub(super) fn rooms<V>(&self, leaf: &Leaf<V>) -> [i32; CLASSES] {
        let mut rooms = [0; CLASSES];
        for (class, mask) in self.in_use() {
            rooms[class] = code(leaf.largest_room(mask));
        }
        rooms
    }
}

impl<V> RegionTree<V> {
    /// Finds anew the bounds of the leaf that `granule` belongs to, and of all above it.
    pub(super) fn refresh(&mut self, granule: u64) {
        let path = self.tree.path_to(granule);
        let mut bounds = self.classes.rooms(&self.tree.leaves[path.leaf]);
        for &step in &path.steps[..self.tree.height] {
            let inner = &mut self.tree.inners[step.inner()];
            inner.set_bounds(step.slot(), bounds);
            bounds = inner.total();
        }
    }

    /// The gap in the leaf at the end of `path` that starts at `end` has grown to `gap` granules.
    #[inline]
    pub(super) fn raise(&mut self, path: &LeafPath, end: u64, gap: u64, probe: &mut impl Probe) {
        if self.tree.height == 0 {
            return;
        }
        for (class, mask) in self.classes.in_use() {
            let room = code(room(end, gap, mask));
            for &step in &path.steps[..self.tree.height] {
                probe.count(Work::MaxRecomputed, 1);
                let inner = &mut self.tree.inners[step.inner()];
                if inner.bound(class, step.slot()) >= room {
                    break;
                }
                inner.set_bound(class, step.slot(), room);
            }
        }
    }

    /// A gap of `gap` granules in a leaf below `parent` was cut. If it was the largest there, the leaf's bound in the
    /// first class is lowered to what is left.
    pub(super) fn lower(&mut self, leaf: NodeId, parent: Step, gap: u64) {
        if self.tree.inners[parent.inner()].bound(0, parent.slot()) == code(gap) {
            let largest = code(self.tree.leaves[leaf].largest_room(0));
            self.tree.inners[parent.inner()].set_bound(0, parent.slot(), largest);
        }
    }

    /// Gives the alignment of a class bounds: those of all gaps, which searches then lower.
    #[cold]
    pub(super) fn start_class(&mut self, class: usize) {
        for inner in self.tree.inners.iter_mut() {
            inner.copy_row(0, class);
        }
    }

    /// Granules of the largest gap, if it is larger than `known`: else that. Enters the nodes whose bounds are.
    pub(super) fn largest_gap(&self, node: NodeId, height: usize, known: u64) -> u64 {
        let Some(below) = height.checked_sub(1) else {
            return self.tree.leaves[node].largest_room(0).max(known);
        };
        let inner = &self.tree.inners[node];
        let larger = |known: u64, slot| match inner.bound(0, slot) >= code(known.saturating_add(1)) {
            true => self.largest_gap(inner.child(slot), below, known),
            false => known,
        };
        // The child with the largest bound first: then the others are mostly passed over.
        let best = inner.first_with(0, inner.most(0), 0);
        let others = (0..inner.len()).filter(|&slot| Some(slot) != best);
        best.into_iter().chain(others).fold(known, larger)
    }
}
