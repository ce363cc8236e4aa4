//! What a store that was looked at is, in the kernel's words.

use super::spanning::fork;
use super::store::{Way, edit};
use super::{Path, Spot, Tree};
use crate::node::Shape;
use crate::plan::{Facts, Heights, StoreType};
use freehold_units::Span;

impl<S: Shape> Tree<S> {
    /// What is known of a store.
    pub(crate) fn classify(&self, spot: &Spot) -> Facts {
        Facts {
            store_type: self.store_type(spot),
            heights: self.heights(spot),
            nodes: spot.need.nodes() as u64,
        }
    }

    fn store_type(&self, spot: &Spot) -> StoreType {
        let edit = match &spot.way {
            Way::Plant => return StoreType::StoreRoot,
            Way::Spanning => return StoreType::Spanning,
            Way::InGap { .. } => &edit(self.leaf_of(&spot.path), &spot.path, spot.span, true),
            Way::InLeaf(edit) => edit,
        };
        let used = edit.words_after();
        // An entry in a gap's place takes a word more: even an exact fit may be one too many.
        if used > S::LEAF_WORDS {
            StoreType::Split
        } else if edit.is_exact() {
            StoreType::ExactFit
        } else if spot.span == Span::ALL {
            StoreType::NewRoot
        } else if used < S::LEAF_MIN && used < edit.words_before() && self.height > 1 {
            StoreType::Rebalance
        } else if edit.is_at_end() {
            StoreType::Append
        } else if edit.keeps_slots() {
            StoreType::SlotStore
        } else {
            StoreType::NodeStore
        }
    }

    /// The lowest ancestors with room, and with children to spare.
    fn heights(&self, spot: &Spot) -> Heights {
        let mut heights = Heights { height: self.height as u64, vacant: 0, sufficient: 0 };
        let mut above = spot.path.above();
        if spot.spans() {
            let mut right = Path::new();
            self.walk(spot.span.last(), &mut right, &mut ());
            above = &above[..fork(&spot.path, &right)];
        }
        for (depth, step) in above.iter().enumerate() {
            let end = self.inner(step.id).len() - 1;
            if end + 1 < S::FANOUT {
                heights.vacant = depth as u64 + 1;
            }
            let spare = if depth == 0 { end > 2 } else { end > S::INNER_MIN + 1 };
            if spare {
                heights.sufficient = depth as u64 + 1;
            }
        }
        heights
    }
}
