//! Keeping rooms right (K9): from a changed leaf up, class by class, stopping where nothing changes.
//!
//! A node's largest room is looked for anew only where the largest was what shrank; else one comparison will do.

use super::OneTree;
use crate::bplus::Way;
use freehold_units::{Probe, Span, Work};

impl<V> OneTree<V> {
    /// The leaf at the end of the way has lost the blocks `before` and gained the blocks `now`.
    #[inline(always)]
    pub(super) fn update(&mut self, way: Way, before: &[Span], now: &[Span], probe: &mut impl Probe) {
        if way.above().is_none() {
            return;
        }
        let size = |blocks: &[Span]| blocks.iter().fold(0, |most, &block| self.short(block).max(most));
        let (lost, gained) = (size(before), size(now));
        self.update_class(way, 0, lost, gained, probe);
        if !self.tree.sums.kept.only_sizes() {
            self.update_aligned(way, before, now, lost.max(gained), probe);
        }
    }

    /// As [`OneTree::update`], for all classes but the first; `most` is the largest of all those blocks' sizes.
    fn update_aligned(&mut self, way: Way, before: &[Span], now: &[Span], most: u32, probe: &mut impl Probe) {
        let Some((parent, taken)) = way.above() else { return };
        for class in self.tree.sums.kept.classes().skip(1) {
            // No block has more aligned room than room.
            if most >= self.tree.sums.row(class, parent)[taken] {
                let room = |blocks: &[Span]| {
                    let rooms = blocks
                        .iter()
                        .map(|&block| self.tree.sums.kept.room_in(block.first(), self.short(block), class));
                    rooms.max().unwrap_or(0)
                };
                let (lost, gained) = (room(before), room(now));
                self.update_class(way, class, lost, gained, probe);
            }
        }
    }

    /// The leaf at the end of the way has lost blocks with that most room in a class, and gained blocks with that most.
    #[inline]
    fn update_class(&mut self, way: Way, class: usize, lost: u32, gained: u32, probe: &mut impl Probe) {
        let Some((parent, taken)) = way.above() else { return };
        let known = self.tree.sums.row(class, parent)[taken];
        if lost.max(gained) < known {
            return;
        }
        probe.touch(&self.tree.sums.row(class, parent)[taken]);
        let room = if gained >= known {
            gained
        } else {
            let leaf = &self.tree.leaves[way.end()];
            probe.touch(leaf.columns.lanes());
            leaf.columns.room_in_class(&self.tree.sums.kept, leaf.keys(), class)
        };
        if room != known {
            self.propagate(way, class, room, probe);
        }
    }

    /// The leaf at the end of the way has another room in a class: tells the nodes above.
    fn propagate(&mut self, way: Way, class: usize, room: u32, probe: &mut impl Probe) {
        let mut now = room;
        let mut above = way.above();
        while let Some((link, taken)) = above {
            let before = core::mem::replace(&mut self.tree.sums.row_mut(class, link)[taken], now);
            probe.count(Work::MaxRecomputed, 1);
            probe.touch(&self.tree.inners[link].parent);
            above = self.tree.above(link);
            let Some((parent, taken)) = above else { return };
            let known = self.tree.sums.row(class, parent)[taken];
            probe.touch(&self.tree.sums.row(class, parent)[taken]);
            if now <= known {
                if before < known {
                    return;
                }
                probe.touch(self.tree.sums.row(class, link));
                now = self.tree.sums.most(class, link);
                if now == known {
                    return;
                }
            }
        }
    }
}
