//! Keeping the hints right as objects come and go.

use super::{Hints, Rules};
use crate::chunk::Chunk;
use crate::geometry::{BLOCK_BITS, base_of, block_of};
use core::ops::Range;
use freehold_units::Probe;

/// The first and the last block that an object touches.
struct Blocks {
    first: u32,
    last: u32,
}

impl Blocks {
    fn of(object: &Range<u32>) -> Self {
        Self { first: block_of(object.start), last: block_of(object.end - 1) }
    }
}

/// An object was placed.
#[doc(alias = "pcpu_block_update_hint_alloc")]
pub(super) fn took<R: Rules>(chunk: &mut Chunk<Hints>, object: &Range<u32>, probe: &mut impl Probe) {
    let blocks = Blocks::of(object);
    let bits = chunk.hints.chunk.bits;
    if object.start == chunk.hints.chunk.first_free {
        chunk.hints.chunk.first_free = chunk.used.next_clear(object.end..bits);
    }
    took_from_first::<R>(chunk, object, &blocks, probe);
    if blocks.last != blocks.first {
        for between in &mut chunk.hints.blocks[blocks.first as usize + 1..blocks.last as usize] {
            between.fill();
        }
        took_from_last::<R>(chunk, object, &blocks, probe);
    }
    let whole = &mut chunk.hints.chunk;
    if whole.scan_meets(object) {
        whole.scan_hint = 0;
    }
    if whole.contig_meets(object) {
        chunk.hints.rescan_chunk(false, R::SCAN_HINT, probe);
    }
}

fn took_from_first<R: Rules>(
    chunk: &mut Chunk<Hints>,
    object: &Range<u32>,
    blocks: &Blocks,
    probe: &mut impl Probe,
) {
    let base = base_of(blocks.first);
    let part = object.start - base..object.end - base;
    let block = &mut chunk.hints.blocks[blocks.first as usize];
    if part.start == block.first_free {
        let behind = object.end.min(base + BLOCK_BITS);
        block.first_free = chunk.used.next_clear(behind..base + BLOCK_BITS) - base;
    }
    if block.scan_meets(&part) {
        block.scan_hint = 0;
    }
    if block.contig_meets(&part) {
        if part.start == 0 {
            block.left_free = 0;
        }
        block.rescan(&chunk.used, base, R::SCAN_HINT, probe);
    } else {
        block.left_free = block.left_free.min(part.start);
        block.right_free = block.right_free.min(BLOCK_BITS.saturating_sub(part.end));
    }
}

fn took_from_last<R: Rules>(
    chunk: &mut Chunk<Hints>,
    object: &Range<u32>,
    blocks: &Blocks,
    probe: &mut impl Probe,
) {
    let base = base_of(blocks.last);
    let end = object.end - base;
    let block = &mut chunk.hints.blocks[blocks.last as usize];
    if end == BLOCK_BITS {
        return block.fill();
    }
    block.first_free = chunk.used.next_clear(object.end..base + BLOCK_BITS) - base;
    if end > block.scan_hint_start {
        block.scan_hint = 0;
    }
    block.left_free = 0;
    if end > block.contig_hint_start {
        block.rescan(&chunk.used, base, R::SCAN_HINT, probe);
    } else {
        block.right_free = block.right_free.min(BLOCK_BITS - end);
    }
}

/// An object was freed.
#[doc(alias = "pcpu_block_update_hint_free")]
pub(super) fn gave<R: Rules>(chunk: &mut Chunk<Hints>, object: &Range<u32>, probe: &mut impl Probe) {
    let blocks = Blocks::of(object);
    let (base, last_base) = (base_of(blocks.first), base_of(blocks.last));
    let start = chunk.used.after_last_set(base..object.start) - base;
    let end = chunk.used.next_set(object.end..last_base + BLOCK_BITS) - last_base;
    let hints = &mut chunk.hints;
    hints.chunk.first_free = hints.chunk.first_free.min(object.start);
    if blocks.first == blocks.last {
        hints.offer::<R>(blocks.first, start..end);
    } else {
        hints.offer::<R>(blocks.first, start..BLOCK_BITS);
        for between in blocks.first + 1..blocks.last {
            hints.offer::<R>(between, 0..BLOCK_BITS);
        }
        hints.offer::<R>(blocks.last, 0..end);
    }
    if blocks.first != blocks.last || end - start >= BLOCK_BITS {
        hints.rescan_chunk(true, R::SCAN_HINT, probe);
    } else if R::STALE_CHUNK_HINT && base > 0 {
        // The defect: the kernel offers `base + start..end`, which is no run, and so only this is left of it.
        hints.chunk.first_free = hints.chunk.first_free.min(base + start);
    } else {
        hints.chunk.offer(base + start..base + end);
        if !R::SCAN_HINT {
            hints.chunk.scan_hint = 0;
        }
    }
}

impl Hints {
    /// Tells a block of a free run within it.
    fn offer<R: Rules>(&mut self, block: u32, run: Range<u32>) {
        let block = &mut self.blocks[block as usize];
        block.offer(run);
        if !R::SCAN_HINT {
            block.scan_hint = 0;
        }
    }
}
