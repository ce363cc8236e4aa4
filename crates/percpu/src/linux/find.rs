//! A place in one chunk: first whether and from where it may fit, by hints alone; then exactly where, by bits.

use super::Hints;
use super::block_md::better_aligned;
use crate::chunk::Chunk;
use crate::geometry::{BLOCK_BITS, align_up, base_of, block_of, in_block};
use crate::request::CheckedRequest;
use freehold_units::{Probe, Work};

/// How far from where it may fit a request is looked for, beyond its own size.
const SLACK_BITS: u32 = BLOCK_BITS;

/// From where on, and over how many bits, the hints see room.
struct Candidate {
    start: u32,
    len: u32,
}

/// A stretch of free bits that was too short.
#[derive(Clone, Copy, Default)]
struct Skipped {
    start: u32,
    len: u32,
}

/// The fit test: the bit from which the request is to be looked for. Only one start is tried for the chunk as a
/// whole, its longest run's, so that a chunk may be refused that has room elsewhere.
#[doc(alias = "pcpu_find_block_fit")]
pub(super) fn fit(chunk: &Chunk<Hints>, want: &CheckedRequest, probe: &mut impl Probe) -> Option<u32> {
    let hints = &chunk.hints;
    let (start, longest) = (hints.chunk.contig_hint_start, hints.chunk.contig_hint);
    if align_up(start, want.align) - start + want.bits > longest {
        return None;
    }
    let mut at = hints.chunk.next_hint(want.bits);
    loop {
        let Candidate { start, len } = candidate(hints, at, want, probe)?;
        match chunk.hole_in_pages(&(start..start + len)).filter(|_| want.atomic) {
            None => return Some(start),
            Some(next) => at = next,
        }
    }
}

/// The first place from `at` on where the blocks' hints see room.
fn candidate(hints: &Hints, at: u32, want: &CheckedRequest, probe: &mut impl Probe) -> Option<Candidate> {
    let CheckedRequest { bits, align, .. } = *want;
    let (first, mut offset) = (block_of(at), in_block(at));
    // A run that continues over the edge of the block before.
    let (mut start, mut len) = (0, 0);
    for (index, block) in (first..).zip(hints.blocks.get(first as usize..)?) {
        probe.count(Work::BlockVisited, 1);
        let base = base_of(index);
        if len > 0 {
            len += block.left_free;
            if len >= bits {
                return Some(Candidate { start, len });
            }
            if block.left_free == BLOCK_BITS {
                continue;
            }
        }
        let gap = align_up(block.contig_hint_start, align) - block.contig_hint_start;
        if block.contig_hint > 0 && block.contig_hint_start >= offset && block.contig_hint >= gap + bits {
            // Earlier than the longest run, in the hope of a smaller one that will do.
            let from = block.next_hint(bits);
            return Some(Candidate {
                start: base + from,
                len: gap + bits + block.contig_hint_start.saturating_sub(from),
            });
        }
        offset = 0;
        let edge = align_up(BLOCK_BITS - block.right_free, align);
        (start, len) = (base + edge, BLOCK_BITS - edge);
        if len >= bits {
            return Some(Candidate { start, len });
        }
    }
    None
}

/// The exact place, first fit from `from` on. The longest piece that was skipped on the way is told to its block,
/// if `remember`.
#[doc(alias = "pcpu_alloc_area")]
pub(super) fn place(
    chunk: &mut Chunk<Hints>,
    from: u32,
    want: &CheckedRequest,
    remember: bool,
    probe: &mut impl Probe,
) -> Option<u32> {
    let CheckedRequest { bits, align, .. } = *want;
    let limit = (from + bits + SLACK_BITS).min(chunk.hints.chunk.bits);
    let mut skipped = Skipped::default();
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
        let len = end - start;
        if len > skipped.len || (len == skipped.len && better_aligned(start, skipped.start)) {
            skipped = Skipped { start, len };
        }
        at = end + 1;
    };
    probe.count(Work::BitScanned, u64::from(found + bits - from));
    if remember && skipped.len > 0 {
        tell_block(chunk, skipped);
    }
    Some(found)
}

/// Offers a skipped piece to its block, unless it goes on into the next.
#[doc(alias = "pcpu_block_update_scan")]
fn tell_block(chunk: &mut Chunk<Hints>, Skipped { start, len }: Skipped) {
    let block = block_of(start);
    let base = base_of(block);
    let end = start + len - base;
    if end > BLOCK_BITS {
        return;
    }
    // Alignment may have skipped free bits before it.
    let start = chunk.used.after_last_set(base..start) - base;
    chunk.hints.blocks[block as usize].offer(start..end);
}
