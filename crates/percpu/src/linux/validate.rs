//! The hints held against the maps, run by run.

use super::block_md::BlockMd;
use super::{Hints, Rules};
use crate::Broken;
use crate::chunk::Chunk;
use crate::error::check;
use crate::geometry::{BLOCK_BITS, base_of};
use core::ops::Range;

/// Checks P3.
pub(super) fn validate<R: Rules>(chunk: &Chunk<Hints>) -> Result<(), Broken> {
    let whole = &chunk.hints.chunk;
    for (index, block) in (0..).zip(&chunk.hints.blocks) {
        let base = base_of(index);
        let runs = Runs { chunk, range: base..base + BLOCK_BITS };
        let right = base + BLOCK_BITS - chunk.used.after_last_set(runs.range.clone());
        check(
            block.right_free <= right,
            "P3",
            "right_free is no more than the free run at the right edge",
            base,
        )?;
        let left = chunk.used.next_set(runs.range.clone()) - base;
        check(block.left_free == left, "P3", "left_free is the free run at the left edge", base)?;
        validate_record(&runs, block)?;
    }
    let runs = Runs { chunk, range: 0..whole.bits };
    check(R::SCAN_HINT || whole.scan_hint == 0, "P3", "there is no scan_hint in this form", 0)?;
    validate_record(&runs, whole)
}

/// The free runs of a part of the chunk.
struct Runs<'a> {
    chunk: &'a Chunk<Hints>,
    range: Range<u32>,
}

impl Runs<'_> {
    /// Whether a hint that is not 0 is a free run.
    fn has(&self, start: u32, len: u32) -> bool {
        let start = self.range.start + start;
        len == 0 || self.chunk.used.next_set(start..start + len) == start + len
    }
}

/// What holds for blocks and chunks alike.
fn validate_record(runs: &Runs<'_>, record: &BlockMd) -> Result<(), Broken> {
    let base = runs.range.start;
    let contig = runs.has(record.contig_hint_start, record.contig_hint);
    check(contig, "P3", "contig_hint is free", base + record.contig_hint_start)?;
    let scan = runs.has(record.scan_hint_start, record.scan_hint);
    check(scan, "P3", "scan_hint is free", base + record.scan_hint_start)?;
    check(record.scan_hint <= record.contig_hint, "P3", "scan_hint is no longer than contig_hint", base)?;
    let first = runs.chunk.used.next_clear(runs.range.clone());
    check(base + record.first_free <= first, "P3", "nothing below first_free is free", base)
}
