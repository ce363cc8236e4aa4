//! Keeping rooms right (K9): from a changed leaf up, class by class, stopping where nothing changes.
//!
//! A node's largest room is looked for anew only where the largest was what shrank; else one comparison will do.

use super::OneTree;
use crate::arena::Link;
use crate::bplus::Way;
use freehold_units::{Probe, Span, Work};

impl<V> OneTree<V> {
    /// The leaf at the end of the way has lost the blocks `before` and gained the blocks `now`.
    #[inline(always)]
    pub(super) fn update(&mut self, way: Way, before: &[Span], now: &[Span], probe: &mut impl Probe) {
        if let Some(above) = way.above() {
            self.update_above(way, above, before, now, probe);
        }
    }

    fn update_above(
        &mut self,
        way: Way,
        (parent, taken): (Link, usize),
        before: &[Span],
        now: &[Span],
        probe: &mut impl Probe,
    ) {
        let size = |blocks: &[Span]| blocks.iter().fold(0, |most, &block| self.short(block).max(most));
        let (lost_size, gained_size) = (size(before), size(now));
        for class in self.tree.sums.kept.classes() {
            let known = self.tree.sums.row(class, parent)[taken];
            // No block has more aligned room than room.
            if lost_size.max(gained_size) < known {
                continue;
            }
            let kept = &self.tree.sums.kept;
            let most = |blocks: &[Span], size: u32| match class {
                0 => size,
                _ => blocks
                    .iter()
                    .fold(0, |most, &block| kept.room_in(block.first(), self.short(block), class).max(most)),
            };
            probe.touch(&self.tree.sums.row(class, parent)[taken]);
            let gained = most(now, gained_size);
            let room = if gained >= known {
                gained
            } else if most(before, lost_size) == known {
                let leaf = &self.tree.leaves[way.end()];
                probe.touch(leaf.columns.lanes());
                leaf.columns.room_in_class(kept, leaf.keys(), class)
            } else {
                continue;
            };
            if room != known {
                self.propagate(way, class, room, probe);
            }
        }
    }

    /// The leaf at the end of the way has another room in a class: tells the nodes above.
    #[inline]
    fn propagate(&mut self, way: Way, class: usize, room: u32, probe: &mut impl Probe) {
        let mut now = room;
        let mut above = way.above();
        while let Some((link, taken)) = above {
            let before = core::mem::replace(&mut self.tree.sums.row_mut(class, link)[taken], now);
            probe.count(Work::MaxRecomputed, 1);
            above = self.tree.above(link);
            let Some((parent, taken)) = above else { return };
            probe.touch(&self.tree.inners[parent].children);
            probe.touch(&self.tree.sums.row(class, parent)[taken]);
            let known = self.tree.sums.row(class, parent)[taken];
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
