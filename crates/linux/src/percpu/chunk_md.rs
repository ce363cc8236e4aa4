//! The chunk's own record, computed from those of its blocks.
//!
//! The chunk's record takes only the longest interior run of each block, and the runs that join over block edges. So
//! its `contig_hint` may be shorter than the longest run, never longer.

use super::{Hints, Rules};
use core::ops::Range;
use freehold_percpu::BLOCK_BITS;
use freehold_percpu::placement::{base_of, block_of, in_block};
use freehold_units::{Probe, Work};

impl Hints {
    /// Recomputes the chunk's longest run: from its scan hint on if there is one, from the start if `full`.
    #[doc(alias = "pcpu_chunk_refresh_hint")]
    pub(super) fn rescan_chunk<R: Rules>(&mut self, full: bool, probe: &mut impl Probe) {
        let mut at = self.chunk.promote(!full);
        probe.count(Work::ChunkRescanned, 1);
        probe.count(Work::BlockVisited, u64::from((self.chunk.bits - at).div_ceil(BLOCK_BITS)));
        while let Some(run) = self.next_run(at) {
            at = run.end + 1;
            self.chunk.offer::<R>(run);
        }
    }

    /// The next run at or after a bit that the blocks' records show: a block's longest one if it does not touch the
    /// right edge, or the run that joins over that edge.
    #[inline]
    fn next_run(&self, from: u32) -> Option<Range<u32>> {
        let (first, mut offset) = (block_of(from), in_block(from));
        for (index, block) in (first..).zip(&self.blocks[first as usize..]) {
            let end = block.contig_hint_start + block.contig_hint;
            if block.contig_hint > 0 && block.contig_hint_start >= offset && end < BLOCK_BITS {
                return Some(base_of(index) + block.contig_hint_start..base_of(index) + end);
            }
            offset = 0;
            if block.right_free > 0 {
                let edge = base_of(index + 1);
                return Some(edge - block.right_free..edge + self.free_from_left(index + 1));
            }
        }
        None
    }

    /// The length of the free run from the start of a block, over all entirely free blocks.
    fn free_from_left(&self, block: u32) -> u32 {
        let mut bits = 0;
        for block in &self.blocks[block as usize..] {
            bits += block.left_free;
            if block.left_free != BLOCK_BITS {
                break;
            }
        }
        bits
    }
}
