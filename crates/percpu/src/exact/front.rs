//! Where requests like the last one go without a search.
//!
//! ```text
//!   run of the block   |a|b|c|d|.................|     a was searched for, b, too: like a, so a front was opened
//!   placed                |b c d|                      since then: the hints do not know of it yet
//! ```
//!
//! A request takes the start of the tightest run. While nothing is freed and nothing else is asked for, that run only
//! gets tighter, so the next request of the same size goes right behind: where a search would put it if the hints were
//! told before. They hear of all that was placed at once, when the front is closed: something is freed, something else
//! is asked for, or what is left of the run may no longer be what a search would take.
//!
//! A front is opened by the second of two requests alike with no free between, once all chunks are settled, so that who
//! frees and places in turn never pays for one.
//!
//! Cost: of each request but the first two, a comparison; of all together, what placing one object costs the hints.

use super::classes::LONGEST_APART;
use super::{Exact, Hints};
use crate::chunk::NONE;
use crate::chunks::Chunks;
use crate::geometry::{base_of, block_of};
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
    /// The last bit that another may start at.
    last: u32,
}

impl Front {
    /// There is none, and no request was made.
    pub(crate) const NONE: Self = Self { want: None, chunk: NONE, last: 0 };

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

/// No bits, nowhere.
pub(super) const NOWHERE: Range<u32> = u32::MAX..u32::MAX;

/// The place behind the last request, if this is one like it and there is room.
#[inline]
pub(super) fn next(chunks: &Chunks<Hints>, want: &Want) -> Option<Spot> {
    let Front { want: before, chunk, last } = chunks.front;
    if chunk == NONE || before != Some(*want) {
        return None;
    }
    let bit = chunks.at(chunk).hints.placed.end;
    (bit <= last).then_some(Spot { chunk, bit })
}

/// A search put a request there. If it was like the one before, others of the kind may follow.
#[inline]
pub(super) fn follow(chunks: &mut Chunks<Hints>, want: &Want, spot: Spot) {
    let again = chunks.front.want == Some(*want);
    chunks.front.want = Some(*want);
    // Chunks to be settled may have tighter runs. Objects must lie one right behind the other, and lists of sure room
    // be told apart by every bit.
    let least = want.bits + want.align - 1;
    let settled = chunks.unsettled.is_empty();
    if !again || !settled || want.atomic || !want.bits.is_multiple_of(want.align) || least > LONGEST_APART {
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
    // What is left is the block's best run as long as no other is longer.
    let rest = hints.blocks[block as usize].runs.rest;
    let mut last = end.saturating_sub(least.max(rest));
    if rest >= want.bits {
        // When it has left the block, another that may do comes to light there.
        last = last.min(base_of(block + 1) - 1);
    }
    let tail = block_of(end - 1);
    if tail > block && !hints.blocks[tail as usize].runs.best.is_none() {
        // Behind that edge it would be that block's, which has others.
        last = last.min(base_of(tail) - 1);
    }
    if spot.bit + want.bits <= last {
        hints.placed = spot.bit..spot.bit;
        (chunks.front.chunk, chunks.front.last) = (spot.chunk, last);
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
