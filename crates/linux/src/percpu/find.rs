//! Finds a place in one chunk, in two steps: the hints give the first bit at which a request may fit, then a search of
//! the bits finds the place.

use super::block_md::better_aligned;
use super::{Hints, Rules};
use core::ops::Range;
use freehold_percpu::BLOCK_BITS;
use freehold_percpu::placement::{BitRequest, Chunk, align_up, base_of, block_of, in_block};
use freehold_units::{Probe, Work};

/// Number of bits after the first candidate that are searched, beyond the request's own size.
const SLACK_BITS: u32 = BLOCK_BITS;

/// The fit test: the bit from which to search for a place, or `None` if the hints show no space. The test of the whole
/// chunk aligns only the start of its longest run, so it may pass over a chunk that has space elsewhere.
#[doc(alias = "pcpu_find_block_fit")]
pub(super) fn fit(chunk: &Chunk<Hints>, want: &BitRequest, probe: &mut impl Probe) -> Option<u32> {
    let hints = &chunk.hints;
    let (start, longest) = (hints.chunk.contig_hint_start, hints.chunk.contig_hint);
    if align_up(start, want.align) - start + want.bits > longest {
        return None;
    }
    let mut at = hints.chunk.next_hint(want.bits);
    loop {
        let room = candidate(hints, at, want, probe)?;
        if !want.atomic || chunk.pages.are_populated(&room) {
            return Some(room.start);
        }
        at = chunk.behind_bare_pages(&room);
    }
}

/// The first bits from `at` on in which the request fits, by the blocks' hints: within a block's longest run, or over
/// the edge between blocks.
fn candidate(hints: &Hints, at: u32, want: &BitRequest, probe: &mut impl Probe) -> Option<Range<u32>> {
    let BitRequest { bits, align, .. } = *want;
    let (first, mut offset) = (block_of(at), in_block(at));
    // The free run at the right edge of the previous block, which may continue in this one.
    let (mut start, mut len) = (0, 0);
    for (index, block) in (first..).zip(&hints.blocks[first as usize..]) {
        probe.count(Work::BlockVisited, 1);
        let base = base_of(index);
        if len > 0 {
            len += block.left_free;
            if len >= bits {
                return Some(start..start + len);
            }
            if block.left_free == BLOCK_BITS {
                continue;
            }
        }
        let gap = align_up(block.contig_hint_start, align) - block.contig_hint_start;
        if block.contig_hint > 0 && block.contig_hint_start >= offset && block.contig_hint >= gap + bits {
            // Search from before the longest run, since a shorter run may suffice.
            let from = block.next_hint(bits);
            let end = from.max(block.contig_hint_start) + gap + bits;
            return Some(base + from..base + end);
        }
        offset = 0;
        let edge = align_up(BLOCK_BITS - block.right_free, align);
        (start, len) = (base + edge, BLOCK_BITS - edge);
        if len >= bits {
            return Some(start..start + len);
        }
    }
    None
}

/// The first place from `from` on, by the bits. If the placement has scan hints, the longest run that was too short
/// becomes a hint of its block.
#[doc(alias = "pcpu_alloc_area")]
pub(super) fn place<R: Rules>(
    chunk: &mut Chunk<Hints>,
    from: u32,
    want: &BitRequest,
    probe: &mut impl Probe,
) -> Option<u32> {
    let BitRequest { bits, align, .. } = *want;
    let limit = (from + bits + SLACK_BITS).min(chunk.hints.chunk.bits);
    let mut skipped = 0..0;
    let mut at = from;
    let found = loop {
        let start = align_up(chunk.used.next_clear(at.min(limit)..limit), align);
        if start + bits > limit {
            probe.count(Work::BitScanned, u64::from(limit - from));
            return None;
        }
        let end = chunk.used.next_set(start..start + bits);
        if end == start + bits {
            break start;
        }
        let (len, most) = (end - start, skipped.end - skipped.start);
        if len > most || (len == most && better_aligned(start, skipped.start)) {
            skipped = start..end;
        }
        at = end + 1;
    };
    probe.count(Work::BitScanned, u64::from(found + bits - from));
    if R::SCAN_HINT && !skipped.is_empty() {
        offer_skipped::<R>(chunk, skipped);
    }
    Some(found)
}

/// Updates a block's hints for a run that was skipped, unless the run continues in the next block.
#[doc(alias = "pcpu_block_update_scan")]
fn offer_skipped<R: Rules>(chunk: &mut Chunk<Hints>, skipped: Range<u32>) {
    let block = block_of(skipped.start);
    let base = base_of(block);
    let end = skipped.end - base;
    if end > BLOCK_BITS {
        return;
    }
    // The run may start earlier: `skipped` starts at a multiple of the alignment.
    let start = chunk.used.after_last_set(base..skipped.start) - base;
    chunk.hints.blocks[block as usize].offer::<R>(start..end);
}
