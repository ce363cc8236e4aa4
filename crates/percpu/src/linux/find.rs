//! Finds a place in one chunk, in two steps: the hints say whether and from where a request may fit, then the bits say where.

use super::block_md::better_aligned;
use super::{Hints, Rules};
use crate::chunk::Chunk;
use crate::geometry::{BLOCK_BITS, align_up, base_of, block_of, in_block};
use crate::request::CheckedRequest;
use core::ops::Range;
use freehold_units::{Probe, Work};

/// How many bits behind the first candidate are searched, beyond the request's own size.
const SLACK_BITS: u32 = BLOCK_BITS;

/// The fit test. Returns the bit from which to search. The test for the whole chunk looks only at the start of its longest
/// run, so that a chunk may be passed over that has room elsewhere.
#[doc(alias = "pcpu_find_block_fit")]
pub(super) fn fit(chunk: &Chunk<Hints>, want: &CheckedRequest, probe: &mut impl Probe) -> Option<u32> {
    let hints = &chunk.hints;
    let (start, longest) = (hints.chunk.contig_hint_start, hints.chunk.contig_hint);
    if align_up(start, want.align) - start + want.bits > longest {
        return None;
    }
    let mut at = hints.chunk.next_hint(want.bits);
    loop {
        let room = candidate(hints, at, want, probe)?;
        match chunk.hole_in_pages(&room).filter(|_| want.atomic) {
            None => return Some(room.start),
            Some(next) => at = next,
        }
    }
}

/// The first bits from `at` on that the blocks' hints say have room.
fn candidate(hints: &Hints, at: u32, want: &CheckedRequest, probe: &mut impl Probe) -> Option<Range<u32>> {
    let CheckedRequest { bits, align, .. } = *want;
    let (first, mut offset) = (block_of(at), in_block(at));
    // The run that reaches the right edge of the block before.
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
            // Search from before the longest run: a shorter one may be enough.
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

/// The exact place, first fit from `from` on. If there are scan hints, the longest run skipped on the way is offered to its
/// block.
#[doc(alias = "pcpu_alloc_area")]
pub(super) fn place<R: Rules>(
    chunk: &mut Chunk<Hints>,
    from: u32,
    want: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<u32> {
    let CheckedRequest { bits, align, .. } = *want;
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
        tell_block::<R>(chunk, skipped);
    }
    Some(found)
}

/// Offers a skipped run to its block, unless it continues into the next.
#[doc(alias = "pcpu_block_update_scan")]
fn tell_block<R: Rules>(chunk: &mut Chunk<Hints>, skipped: Range<u32>) {
    let block = block_of(skipped.start);
    let base = base_of(block);
    let end = skipped.end - base;
    if end > BLOCK_BITS {
        return;
    }
    // Alignment may have skipped free bits before it.
    let start = chunk.used.after_last_set(base..skipped.start) - base;
    chunk.hints.blocks[block as usize].offer::<R>(start..end);
}
