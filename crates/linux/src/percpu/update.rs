//! Updates the hints when objects are placed or freed.

use super::{Hints, Rules};
use core::ops::Range;
use freehold_percpu::BLOCK_BITS;
use freehold_percpu::placement::{Chunk, base_of, block_of};
use freehold_units::Probe;

/// Updates the hints after an object was placed.
#[doc(alias = "pcpu_block_update_hint_alloc")]
pub(super) fn update_hint_alloc<R: Rules>(
    chunk: &mut Chunk<Hints>,
    object: &Range<u32>,
    probe: &mut impl Probe,
) {
    let (first, last) = (block_of(object.start), block_of(object.end - 1));
    let bits = chunk.hints.chunk.bits;
    if object.start == chunk.hints.chunk.first_free {
        chunk.hints.chunk.first_free = chunk.used.next_clear(object.end..bits);
    }
    update_first_block::<R>(chunk, object, first, probe);
    if last != first {
        for between in &mut chunk.hints.blocks[first as usize + 1..last as usize] {
            between.fill();
        }
        update_last_block::<R>(chunk, object, last, probe);
    }
    let whole = &mut chunk.hints.chunk;
    if whole.scan_meets(object) {
        whole.scan_hint = 0;
    }
    if whole.contig_meets(object) {
        chunk.hints.rescan_chunk::<R>(false, probe);
    }
}

fn update_first_block<R: Rules>(
    chunk: &mut Chunk<Hints>,
    object: &Range<u32>,
    index: u32,
    probe: &mut impl Probe,
) {
    let base = base_of(index);
    let part = object.start - base..object.end - base;
    let block = &mut chunk.hints.blocks[index as usize];
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
        block.rescan::<R>(&chunk.used, base, probe);
    } else {
        block.left_free = block.left_free.min(part.start);
        block.right_free = block.right_free.min(BLOCK_BITS.saturating_sub(part.end));
    }
}

fn update_last_block<R: Rules>(
    chunk: &mut Chunk<Hints>,
    object: &Range<u32>,
    index: u32,
    probe: &mut impl Probe,
) {
    let base = base_of(index);
    let end = object.end - base;
    let block = &mut chunk.hints.blocks[index as usize];
    if end == BLOCK_BITS {
        return block.fill();
    }
    block.first_free = chunk.used.next_clear(object.end..base + BLOCK_BITS) - base;
    if end > block.scan_hint_start {
        block.scan_hint = 0;
    }
    block.left_free = 0;
    if end > block.contig_hint_start {
        block.rescan::<R>(&chunk.used, base, probe);
    } else {
        block.right_free = block.right_free.min(BLOCK_BITS - end);
    }
}

/// Updates the hints after an object was freed.
#[doc(alias = "pcpu_block_update_hint_free")]
pub(super) fn update_hint_free<R: Rules>(
    chunk: &mut Chunk<Hints>,
    object: &Range<u32>,
    probe: &mut impl Probe,
) {
    let (first, last) = (block_of(object.start), block_of(object.end - 1));
    let (base, last_base) = (base_of(first), base_of(last));
    let start = chunk.used.after_last_set(base..object.start) - base;
    let end = chunk.used.next_set(object.end..last_base + BLOCK_BITS) - last_base;
    let hints = &mut chunk.hints;
    hints.chunk.first_free = hints.chunk.first_free.min(object.start);
    for (block, record) in (first..=last).zip(&mut hints.blocks[first as usize..=last as usize]) {
        let from = if block == first { start } else { 0 };
        record.offer::<R>(from..if block == last { end } else { BLOCK_BITS });
    }
    if first != last || end - start >= BLOCK_BITS {
        hints.rescan_chunk::<R>(true, probe);
    } else if R::STALE_CHUNK_HINT && base > 0 {
        // The defect: the kernel offers `base + start..end`, which is empty or reversed, so only `first_free` changes.
        hints.chunk.first_free = hints.chunk.first_free.min(base + start);
    } else {
        hints.chunk.offer::<R>(base + start..base + end);
    }
}
