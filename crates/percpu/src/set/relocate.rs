//! Moving chunks between lists as their room changes, setting them aside and taking them back.

use super::{Backing, ChunkSet};
use crate::placement::Placement;
use crate::slots::End;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// The list that a chunk belongs on by its room.
    #[inline]
    pub(super) fn slot_of(&self, index: u32) -> u32 {
        P::slot(self.chunks.at(index), &self.chunks.slots)
    }

    /// Puts a chunk whose room changed on the list that it belongs on.
    #[inline]
    pub(super) fn relocate(&mut self, index: u32) {
        self.chunks.relocate(index, self.slot_of(index));
    }

    /// Sets a chunk aside to be emptied: its empty pages no longer count for the set.
    #[doc(alias = "pcpu_isolate_chunk")]
    #[inline]
    pub(super) fn isolate(&mut self, index: u32) {
        let slots = &self.chunks.slots;
        let slot = slots.to_depopulate();
        let is_there =
            if P::ASIDE_BY_EACH_FREE { slots.first(slot) == index } else { slots.of(index) == slot };
        if !is_there {
            self.set_aside(index, slot);
        }
    }

    #[inline(never)]
    fn set_aside(&mut self, index: u32, slot: u32) {
        let chunk = self.chunks.at_mut(index);
        if !chunk.isolated {
            chunk.isolated = true;
            let empty_pages = chunk.empty_pages;
            self.chunks.empty_pages -= empty_pages;
        }
        self.chunks.slots.move_to(index, slot, End::Head);
    }

    /// Takes a chunk back that was set aside.
    #[doc(alias = "pcpu_reintegrate_chunk")]
    pub(super) fn reintegrate(&mut self, index: u32) {
        let chunk = self.chunks.at_mut(index);
        chunk.isolated = false;
        let empty_pages = chunk.empty_pages;
        self.chunks.empty_pages += empty_pages;
        let slot = self.slot_of(index);
        self.chunks.slots.move_to(index, slot, End::Head);
    }
}
