//! Keeping what inner nodes know of gaps (K9): the largest gap exactly, rooms of aligned classes from above.
//!
//! A free makes one gap longer: the bounds above it rise where they are lower. An allocation makes one gap shorter: where
//! it was as large as the bound, the bound is found anew. Rooms of other classes only shrink by that, so their bounds
//! stay, too high at worst; a search that enters a leaf in vain puts its bound right.

use super::RegionTree;
use super::classes::CLASSES;
use super::lanes::room;
use super::leaf::Leaf;
use super::rooms::{Rooms, Summary, code};
use crate::bplus::{LeafPath, Rows};
use freehold_units::pool::NodeId;
use freehold_units::{Probe, Work};

impl<V> RegionTree<V> {
    /// What there is to know of a leaf.
    pub(super) fn summary(&self, leaf: &Leaf<V>) -> Summary {
        let largest = if self.keeps_bounds { leaf.largest_gap() } else { 0 };
        let mut summary = Summary { largest, rooms: [0; _] };
        summary.rooms[0] = code(largest);
        for (class, mask) in self.classes.aligned() {
            summary.rooms[class] = code(leaf.largest_room(mask));
        }
        summary
    }

    /// Finds anew what is known of the leaf at the end of `path`, and of all above it.
    pub(super) fn refresh(&mut self, path: &LeafPath) {
        let mut summary = self.summary(&self.tree.leaves[path.leaf]);
        for &step in &path.steps[..self.tree.height] {
            let inner = &mut self.tree.inners[step.inner()];
            inner.rows.set(step.slot(), summary);
            summary = inner.rows.total(inner.len());
        }
    }

    /// The gap in the leaf at the end of `path` that starts at `end` has grown to `gap` granules.
    #[inline]
    pub(super) fn raise(&mut self, path: &LeafPath, end: u64, gap: u64, probe: &mut impl Probe) {
        let height = self.tree.height;
        if height == 0 || !self.keeps_bounds {
            return;
        }
        let mut rooms = [code(gap), 0, 0, 0];
        for (class, mask) in self.classes.aligned() {
            rooms[class] = code(room(end, gap, mask));
        }
        for &step in &path.steps[..height] {
            probe.count(Work::MaxRecomputed, 1);
            let Rooms { largest, rooms: known } = &mut self.tree.inners[step.inner()].rows;
            let slot = step.slot();
            let mut rises = gap > largest[slot];
            largest[slot] = largest[slot].max(gap);
            for (known, room) in known.iter_mut().zip(rooms) {
                rises |= room > known[slot];
                known[slot] = known[slot].max(room);
            }
            if !rises {
                break;
            }
        }
    }

    /// A gap of `gap` granules that started at `end`, in the leaf at the end of `path`, has been cut or is gone.
    #[inline]
    pub(super) fn lower(&mut self, path: &LeafPath, end: u64, gap: u64, probe: &mut impl Probe) {
        if self.tree.height == 0 || !self.keeps_bounds {
            return;
        }
        let (step, slot) = (path.steps[0], path.steps[0].slot());
        if self.tree.inners[step.inner()].rows.largest[slot] == gap {
            let largest = self.tree.leaves[path.leaf].largest_gap();
            self.lower_largest(path, gap, largest, probe);
        }
        let _=end;
    }

    /// The largest gap of the leaf was of `was` granules and is of `largest`.
    #[inline]
    fn lower_largest(&mut self, path: &LeafPath, was: u64, mut largest: u64, probe: &mut impl Probe) {
        let mut below: Option<NodeId> = None;
        for &step in &path.steps[..self.tree.height] {
            // Another child of the node below has a larger gap.
            if self.tree.inners[step.inner()].rows.largest[step.slot()] != was {
                break;
            }
            probe.count(Work::MaxRecomputed, 1);
            if let Some(below) = below {
                let below = &self.tree.inners[below];
                largest = below.rows.largest_of(below.len());
            }
            if largest == was {
                break;
            }
            let rows = &mut self.tree.inners[step.inner()].rows;
            rows.largest[step.slot()] = largest;
            rows.rooms[0][step.slot()] = code(largest);
            below = Some(step.inner());
        }
    }

    /// The largest room of a class in the leaf, which was `was` at most, is `room` now.
    #[inline]
    fn lower_room(&mut self, path: &LeafPath, class: usize, was: i32, mut room: i32, probe: &mut impl Probe) {
        let mut below: Option<NodeId> = None;
        for &step in &path.steps[..self.tree.height] {
            // Another child of the node below has a higher bound, or had one when this was set.
            if self.tree.inners[step.inner()].rows.rooms[class][step.slot()] != was {
                break;
            }
            probe.count(Work::MaxRecomputed, 1);
            if let Some(below) = below {
                let below = &self.tree.inners[below];
                room = below.rows.most(class, below.len());
            }
            if room == was {
                break;
            }
            self.tree.inners[step.inner()].rows.rooms[class][step.slot()] = room;
            below = Some(step.inner());
        }
    }

    /// Gives the alignment of a class bounds: those of all gaps, which searches then lower.
    #[cold]
    pub(super) fn start_class(&mut self, class: usize) {
        for inner in self.tree.inners.iter_mut() {
            inner.rows.rooms[class] = inner.rows.rooms[0];
        }
    }
}
