//! The chunk's own record, fed from those of its blocks.
//!
//! Of each block the chunk sees one interior run, the longest, and the runs that join over its edges. So its
//! `contig_hint` may be less than there is, by what a block hides, and never more.

use super::{Hints, Rules};
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use core::ops::Range;
use freehold_units::{Probe, Work};

impl Hints {
    /// Finds the chunk's longest run anew: behind its scan hint if there is one, or, if `full`, from the start.
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

    /// The next run at or after a bit that the blocks tell of: a block's longest one if it touches no right edge,
    /// or what joins over an edge.
    #[inline]
    fn next_run(&self, from: u32) -> Option<Range<u32>> {
        let (first, mut offset) = (block_of(from), in_block(from));
        let blocks = self.blocks.get(first as usize..)?;
        for (index, block) in (first..).zip(blocks) {
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

    /// Free bits from the start of a block on, over blocks that are free as a whole.
    fn free_from_left(&self, block: u32) -> u32 {
        let mut bits = 0;
        for block in self.blocks.get(block as usize..).unwrap_or_default() {
            bits += block.left_free;
            if block.left_free != BLOCK_BITS {
                break;
            }
        }
        bits
    }
}
