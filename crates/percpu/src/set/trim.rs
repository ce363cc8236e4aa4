//! Trimming: releases all memory without objects.

use super::{Backing, ChunkSet};
use crate::placement::Placement;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Destroys all chunks without objects, and depopulates the empty pages of the others. Requests that cannot wait
    /// are refused until pages are populated again. Cost: linear in the pages of all chunks.
    pub fn trim(&mut self) {
        let positions = self.chunks.positions().len();
        // Positions of chunks are 32-bit numbers.
        for index in 0..positions as u32 {
            let chunk = self.chunks.at(index);
            if !chunk.is_live() {
                continue;
            }
            if chunk.objects == 0 {
                self.destroy_chunk(index);
            } else {
                self.depopulate_empty_pages(index);
            }
        }
    }
}
