//! Where requests like the last one go without a search.
//!
//! ```text
//!   run of the block   |a|b|c|d|.................|     a was searched for, b, too: like a, so a front was opened
//!   placed                |b c d|                      since then: the hints do not know of it yet
//! ```
//!
//! A request takes the start of the tightest run. While nothing is freed and nothing else is asked for, that run only
//! gets tighter, so the next request of the same size goes right behind, or where its alignment wants it next: where a
//! search would put it if the hints were told before. They hear of all that was placed at once, when the front is
//! closed: something is freed, something else is asked for, or what is left of the run may no longer be what a search
//! would take.
//!
//! Where the run ends and the block has others that may do, those behind are filled, too, one after the other: what is left
//! of a block after many frees is taken with one look at it.
//!
//! A front is opened by the second of two requests alike with no free between, once all chunks are settled, so that who
//! frees and places in turn never pays for one.
//!
//! Cost: of each request but the first two, a comparison; of all together, what placing one object costs the hints. If
//! they do not lie one right behind the other, the blocks that they are in are looked at anew.

use super::classes::LONGEST_APART;
use super::{Exact, Hints};
use crate::bitmap::Bits as _;
use crate::chunk::NONE;
use crate::chunks::Chunks;
use crate::geometry::{align_up, base_of, block_of};
use crate::object_map::ObjectMap;
use crate::placement::{Spot, Strategy as _};
use crate::request::Want;
use core::ops::Range;
use freehold_units::Probe;

/// The last request, and the run that others like it are placed in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front {
    /// The last request that was searched for; none since the last free.
    want: Option<Want>,
    /// The chunk, or none.
    chunk: u32,
    /// The last bit that another may start at, in the run that the one before is in.
    last: u32,
    /// Behind that run, others of the block up to this bit are to be filled.
    end: u32,
}

impl Front {
    /// There is none, and no request was made.
    pub(crate) const NONE: Self = Self { want: None, chunk: NONE, last: 0, end: 0 };

    /// Whether there is one.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.chunk != NONE
    }

    /// Whether no request is remembered, and there is no front.
    #[inline]
    pub(super) fn is_forgotten(&self) -> bool {
        self.want.is_none()
    }
}

/// What was placed at the front since the hints were told: the chunk's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// The first object, if there is any.
    pub(super) first: u32,
    /// Where the next one goes.
    pub(super) next: u32,
    /// From each object to the next.
    step: u32,
    /// Bits between each object and the next.
    gap: u32,
    /// Whether they lie one right behind the other.
    pub(super) together: bool,
}

impl Placed {
    /// The front is not in this chunk.
    pub(super) const NOWHERE: Self =
        Self { first: u32::MAX, next: u32::MAX, step: 0, gap: 0, together: true };

    /// Notes an object, if it was placed at the front.
    #[inline]
    pub(super) fn add(&mut self, start: u32) -> bool {
        let here = self.next == start;
        if here {
            self.next += self.step;
        }
        here
    }

    /// From the first object to the last one's end, or to where the next one goes.
    pub(super) fn range(self) -> Range<u32> {
        self.first..self.next.saturating_sub(self.gap).max(self.first)
    }

    /// Where the next object has room in a run behind that ends before `end`, and the end of that run.
    fn hop(&self, used: &ObjectMap, end: u32, want: &Want) -> Option<(u32, u32)> {
        let mut at = self.range().end;
        while at < end {
            let start = used.next_clear(at..end);
            at = used.next_set(start..end);
            let bit = align_up(start, want.align);
            if bit + want.bits <= at {
                return Some((bit, at));
            }
        }
        None
    }
}

/// The place behind the last request, if this is one like it and there is room.
#[inline]
pub(super) fn next(chunks: &mut Chunks<Hints>, want: &Want) -> Option<Spot> {
    let Front { want: before, chunk, last, .. } = chunks.front;
    if chunk == NONE || before != Some(*want) {
        return None;
    }
    let bit = chunks.at(chunk).hints.placed.next;
    if bit <= last { Some(Spot { chunk, bit }) } else { hop(chunks, want) }
}

/// A place in the next run of the block, if others of it are to be filled.
#[inline(never)]
fn hop(chunks: &mut Chunks<Hints>, want: &Want) -> Option<Spot> {
    let Front { chunk: index, end, .. } = chunks.front;
    let chunk = chunks.at_mut(index);
    let (bit, run_end) = chunk.hints.placed.hop(&chunk.used, end, want)?;
    (chunk.hints.placed.next, chunk.hints.placed.together) = (bit, false);
    chunks.front.last = run_end - want.bits;
    Some(Spot { chunk: index, bit })
}

/// A search put a request there. If it was like the one before, others of the kind may follow.
#[inline]
pub(super) fn follow(chunks: &mut Chunks<Hints>, want: &Want, spot: Spot) {
    let again = chunks.front.want == Some(*want);
    chunks.front.want = Some(*want);
    // Chunks to be settled may have tighter runs, and lists of sure room must be told apart by every bit. What is
    // skipped for the alignment is shorter than that, and has no place for the like.
    let least = want.bits + want.align - 1;
    let settled = chunks.unsettled.is_empty();
    if !again || !settled || want.atomic || least > LONGEST_APART {
        return;
    }
    let hints = &mut chunks.at_mut(spot.chunk).hints;
    let block = block_of(spot.bit);
    let run = hints.blocks[block as usize].runs.best;
    let (start, end) = (base_of(block) + run.start(), base_of(block) + run.start() + run.len());
    if !(start..end).contains(&spot.bit) {
        // It was aligned out of the block that its run starts in.
        return;
    }
    // What is left is the block's best run as long as it is the longest.
    let rest = hints.blocks[block as usize].runs.rest;
    let mut last = end.saturating_sub(least.max(rest + 1));
    let mut others_end = 0;
    if rest >= want.bits {
        // When it has left the block, another that may do comes to light there.
        last = last.min(base_of(block + 1) - 1);
        // But for one that may go on into the next block.
        others_end = base_of(block + 1) - u32::from(hints.blocks[block as usize].right);
    }
    let tail = block_of(end - 1);
    if tail > block && !hints.blocks[tail as usize].runs.best.is_none() {
        // Behind that edge it would be that block's, which has others.
        last = last.min(base_of(tail) - 1);
    }
    let step = align_up(want.bits, want.align);
    if spot.bit + step <= last || spot.bit < others_end {
        let gap = step - want.bits;
        hints.placed = Placed { first: spot.bit, next: spot.bit, step, gap, together: gap == 0 };
        chunks.front = Front { chunk: spot.chunk, last, end: others_end, ..chunks.front };
    }
}

/// Forgets the last request, and closes the front if there is one.
pub(super) fn close(chunks: &mut Chunks<Hints>, probe: &mut impl Probe) {
    let Front { chunk, .. } = core::mem::replace(&mut chunks.front, Front::NONE);
    if chunk != NONE {
        tell(chunks, chunk, probe);
    }
}

/// Tells the hints of all that was placed at the front.
#[inline(never)]
fn tell(chunks: &mut Chunks<Hints>, index: u32, probe: &mut impl Probe) {
    let chunk = chunks.at_mut(index);
    chunk.hints.note_placed(&chunk.used, probe);
    let slot = Exact::slot(chunks.at(index), &chunks.slots);
    chunks.relocate(index, slot);
}
