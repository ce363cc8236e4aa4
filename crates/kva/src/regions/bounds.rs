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
use crate::bplus::{LeafPath, Rows, Step};
use freehold_units::{Probe, Work};

impl<V> RegionTree<V> {
    /// What there is to know of a leaf.
    pub(super) fn summary(&self, leaf: &Leaf<V>) -> Summary {
        let largest = leaf.largest_gap();
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
        for &Step { inner, slot } in &path.steps[..self.tree.height] {
            let inner = &mut self.tree.inners[inner];
            inner.rows.set(slot as usize, summary);
            summary = inner.rows.total(inner.len());
        }
    }

    /// The gap in the leaf at the end of `path` that starts at `end` has grown to `gap` granules.
    #[inline]
    pub(super) fn raise(&mut self, path: &LeafPath, end: u64, gap: u64, probe: &mut impl Probe) {
        let height = self.tree.height;
        if height == 0 {
            return;
        }
        let mut rooms = [code(gap), 0, 0, 0];
        for (class, mask) in self.classes.aligned() {
            rooms[class] = code(room(end, gap, mask));
        }
        for &Step { inner, slot } in &path.steps[..height] {
            probe.count(Work::MaxRecomputed, 1);
            let Rooms { largest, rooms: known } = &mut self.tree.inners[inner].rows;
            let slot = slot as usize;
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
        if self.tree.height == 0 {
            return;
        }
        let Step { inner, slot } = path.steps[0];
        let slot = slot as usize;
        if self.tree.inners[inner].rows.largest[slot] == gap {
            let largest = self.tree.leaves[path.leaf].largest_gap();
            self.lower_largest(path, gap, largest, probe);
        }
        for class in 1..CLASSES {
            let mask = self.classes.mask(class);
            if mask != 0 && self.tree.inners[inner].rows.rooms[class][slot] == code(room(end, gap, mask)) {
                let room = code(self.tree.leaves[path.leaf].largest_room(mask));
                self.lower_room(path, class, room, probe);
            }
        }
    }

    /// The largest gap of the leaf was of `was` granules and is of `largest`.
    #[inline]
    fn lower_largest(&mut self, path: &LeafPath, was: u64, mut largest: u64, probe: &mut impl Probe) {
        let height = self.tree.height;
        for (level, &Step { inner, slot }) in path.steps[..height].iter().enumerate() {
            probe.count(Work::MaxRecomputed, 1);
            let inner = &mut self.tree.inners[inner];
            let slot = slot as usize;
            // Another child of the node below has as large a gap.
            if inner.rows.largest[slot] != was || largest == was {
                break;
            }
            inner.rows.largest[slot] = largest;
            inner.rows.rooms[0][slot] = code(largest);
            if level + 1 < height {
                largest = inner.rows.largest_of(inner.len());
            }
        }
    }

    /// The largest room of a class in the leaf is `room` now.
    #[inline]
    fn lower_room(&mut self, path: &LeafPath, class: usize, mut room: i32, probe: &mut impl Probe) {
        let height = self.tree.height;
        for (level, &Step { inner, slot }) in path.steps[..height].iter().enumerate() {
            probe.count(Work::MaxRecomputed, 1);
            let inner = &mut self.tree.inners[inner];
            let known = &mut inner.rows.rooms[class][slot as usize];
            if *known <= room {
                break;
            }
            *known = room;
            if level + 1 < height {
                room = inner.rows.most(class, inner.len());
            }
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
