//! Keeping rooms right (K9): from a changed leaf up, class by class, stopping where nothing changes.
//!
//! A node's largest room is looked for anew only where the largest was what shrank; else one comparison will do.

use super::BTree;
use crate::bplus::Path;
use freehold_units::{Probe, Span, Work};

impl BTree {
    /// The leaf at the end of the path has lost the blocks `before` and gained the blocks `now`.
    #[inline]
    pub(super) fn update(&mut self, path: &Path, before: &[Span], now: &[Span], probe: &mut impl Probe) {
        let Some(above_leaf) = self.tree.height.checked_sub(1) else { return };
        let (parent, taken) = path.step(above_leaf);
        for class in 0..self.tree.context.classes {
            let kept = &self.tree.context;
            let most = |blocks: &[Span]| {
                blocks.iter().fold(0, |most, &block| kept.room_in(block, class).max(most))
            };
            let known = self.tree.inners[parent].sums.classes[class][taken];
            let gained = most(now);
            let room = if gained >= known {
                gained
            } else if most(before) == known {
                let leaf = &self.tree.leaves[path.leaf];
                leaf.columns.room_in_class(kept, leaf.keys(), class)
            } else {
                continue;
            };
            if room != known {
                self.propagate(path, class, room, probe);
            }
        }
    }

    /// The leaf at the end of the path has another room in a class: tells the nodes above.
    #[inline]
    fn propagate(&mut self, path: &Path, class: usize, room: u32, probe: &mut impl Probe) {
        let mut now = room;
        for level in (0..self.tree.height).rev() {
            let (link, taken) = path.step(level);
            let inner = &mut self.tree.inners[link];
            let before = core::mem::replace(&mut inner.sums.classes[class][taken], now);
            probe.count(Work::MaxRecomputed, 1);
            if level == 0 {
                return;
            }
            let (above, taken) = path.step(level - 1);
            let known = self.tree.inners[above].sums.classes[class][taken];
            if now <= known {
                if before < known {
                    return;
                }
                let inner = &self.tree.inners[link];
                now = inner.sums.classes[class][..inner.len].iter().copied().max().unwrap_or(0);
                if now == known {
                    return;
                }
            }
        }
    }
}
