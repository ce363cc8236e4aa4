//! Trimming: releases all memory without objects.

use super::{Backing, ChunkSet};
use crate::config::Population;
use crate::placement::Placement;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Destroys all chunks without objects, and depopulates the empty pages of the others: on demand, pages are
    /// populated again, and requests that cannot wait are refused until then. A chunk whose memory is released as a
    /// whole ([`Population::Whole`]) keeps it while it has an object. Cost: linear in the pages of all chunks.
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
            } else if self.config.population == Population::OnDemand {
                self.depopulate_empty_pages(index);
            }
        }
    }
}
