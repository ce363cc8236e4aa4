//! Isolation: a chunk with many empty pages is set aside, so that they can be depopulated.

use super::{Backing, ChunkSet};
use crate::placement::End;
use crate::placement::Placement;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Sets a chunk aside to depopulate its empty pages, which then no longer count for the set.
    #[doc(alias = "pcpu_isolate_chunk")]
    pub(super) fn isolate(&mut self, index: u32) {
        let slot = self.chunks.lists.to_depopulate();
        let chunk = self.chunks.at_mut(index);
        if !chunk.isolated {
            chunk.isolated = true;
            let empty_pages = chunk.empty_pages;
            self.chunks.empty_pages -= empty_pages;
        }
        self.chunks.lists.move_to(index, slot, End::Head);
    }

    /// Returns a chunk that was set aside to the list of its size class. Its empty pages count again.
    #[doc(alias = "pcpu_reintegrate_chunk")]
    pub(super) fn reintegrate(&mut self, index: u32) {
        let chunk = self.chunks.at_mut(index);
        chunk.isolated = false;
        let empty_pages = chunk.empty_pages;
        self.chunks.empty_pages += empty_pages;
        let slot = P::slot(&self.chunks, index);
        self.chunks.lists.move_to(index, slot, End::Head);
    }
}
