//! A slot and the path to it, from which a cursor steps to the neighbouring slots.

use super::walk::{Slot, slot_of_leaf};
use super::{Direction, Memory, Path, StorePlan, Tree};
use freehold_units::Span;

/// The position of a cursor, valid until the tree changes. The slots of a tree cover all indexes, so there always is
/// one; in a tree without nodes, the only slot is a gap.
#[derive(Clone, Debug)]
pub(crate) struct SlotPos {
    /// Empty in a tree without nodes.
    pub(crate) path: Path,
    pub(crate) slot: Slot,
}

impl<M: Memory> Tree<M> {
    /// The slot that contains the index.
    pub(crate) fn pos_of(&self, index: u64) -> SlotPos {
        let mut place = SlotPos { path: Path::new(), slot: Slot { span: Span::ALL, entry: None } };
        if self.height > 0 {
            self.walk(index, &mut place.path);
            place.slot = self.slot(&place.path);
        }
        place
    }

    /// Plans a store of an entry, or a removal, whose first index is in the slot that a path leads to.
    pub(crate) fn plan_at(&self, path: &Path, span: Span, entry: bool) -> StorePlan {
        let mut plan = StorePlan::new(span);
        if self.height == 0 {
            self.plan(&mut plan, entry);
        } else {
            debug_assert!(
                self.slot(path).span.contains(span.first()),
                "M1: the path's slot has the first index"
            );
            plan.path = path.clone();
            self.plan_from(&mut plan, self.leaf_of(path), entry);
        }
        plan
    }

    /// Moves to the neighbouring slot. Returns `false`, and stays, if there is none.
    pub(crate) fn step(&self, place: &mut SlotPos, direction: Direction) -> bool {
        if self.height == 0 {
            return false;
        }
        let (leaf, slot) = (self.leaf_of(&place.path), place.path.leaf().slot as usize);
        let near = match direction {
            Direction::Up => (slot + 1 < leaf.len()).then_some(slot + 1),
            Direction::Down => slot.checked_sub(1),
        };
        let Some(slot) = near else { return self.step_over_edge(place, direction) };
        place.path.set_slot(slot);
        place.slot = slot_of_leaf(leaf, slot, place.path.whole);
        true
    }

    /// Moves to the neighbouring slot in another leaf.
    #[inline(never)]
    fn step_over_edge(&self, place: &mut SlotPos, direction: Direction) -> bool {
        let index = match direction {
            Direction::Up => place.path.whole.last().checked_add(1),
            Direction::Down => place.path.whole.first().checked_sub(1),
        };
        let Some(index) = index else { return false };
        self.walk(index, &mut place.path);
        place.slot = self.slot(&place.path);
        true
    }

    /// Moves to the next entry in that direction. Returns `false`, and stays, if there is none.
    pub(crate) fn step_to_entry(&self, place: &mut SlotPos, direction: Direction) -> bool {
        let start = place.slot.span;
        while self.step(place, direction) {
            if place.slot.entry.is_some() {
                return true;
            }
        }
        if place.slot.span != start {
            *place = self.pos_of(start.first());
        }
        false
    }
}
