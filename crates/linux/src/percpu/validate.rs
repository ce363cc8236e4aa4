//! Checks the hints against the maps, run by run.

use super::block_md::BlockMd;
use super::{Hints, Rules};
use core::ops::Range;
use freehold_percpu::BLOCK_BITS;
use freehold_percpu::placement::{Chunk, base_of};
use freehold_units::{Broken, check};

/// Checks P3.
pub(super) fn validate<R: Rules>(chunk: &Chunk<Hints>) -> Result<(), Broken> {
    let whole = &chunk.hints.chunk;
    for (index, block) in (0..).zip(&chunk.hints.blocks) {
        let base = base_of(index);
        let bits = base..base + BLOCK_BITS;
        let right = bits.end - chunk.used.after_last_set(bits.clone());
        check(
            block.right_free <= right,
            "P3",
            "right_free is no more than the free run at the right edge",
            base.into(),
        )?;
        let left = chunk.used.next_set(bits.clone()) - base;
        check(block.left_free == left, "P3", "left_free is the free run at the left edge", base.into())?;
        validate_record(chunk, bits, block)?;
    }
    check(R::SCAN_HINT || whole.scan_hint == 0, "P3", "there is no scan_hint in this form", 0)?;
    validate_record(chunk, 0..whole.bits, whole)
}

/// Checks the rules that blocks and chunks share.
fn validate_record(chunk: &Chunk<Hints>, bits: Range<u32>, record: &BlockMd) -> Result<(), Broken> {
    // A nonzero hint is a free run.
    let has = |start, len| len == 0 || chunk.used.next_set(start..start + len) == start + len;
    let (contig, scan) = (bits.start + record.contig_hint_start, bits.start + record.scan_hint_start);
    check(has(contig, record.contig_hint), "P3", "contig_hint is free", contig.into())?;
    check(has(scan, record.scan_hint), "P3", "scan_hint is free", scan.into())?;
    let shorter = record.scan_hint <= record.contig_hint;
    check(shorter, "P3", "scan_hint is no longer than contig_hint", bits.start.into())?;
    let first_free = bits.start + record.first_free;
    let right = first_free <= chunk.used.next_clear(bits);
    check(right, "P3", "nothing below first_free is free", first_free.into())
}
