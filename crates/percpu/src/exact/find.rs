//! A place for a request: the tightest chunk, the tightest of its blocks' best runs, the start of that.

use super::classes::{class, class_of_at_least};
use super::settle::{LOOK, settle_some};
use super::{Hints, front};
use crate::chunk::{Chunk, NONE};
use crate::chunks::Chunks;
use crate::geometry::{align_up, base_of};
use crate::placement::Spot;
use crate::request::Want;
use crate::slots::End;
use core::ops::Range;
use freehold_units::{Probe, Work};

/// Chunks whose longest run may or may not do are tried so often before one is taken that will.
const TRIES: u32 = 4;

/// Two blocks in which something was freed are looked at before a request is placed, or more that are free as a whole;
/// and as many again as long as there is no room for it.
const SETTLED: u32 = 2 * LOOK;

/// A place in a chunk that is there.
#[inline]
pub(super) fn find(chunks: &mut Chunks<Hints>, want: &Want, probe: &mut impl Probe) -> Option<Spot> {
    if let Some(spot) = front::next(chunks, want) {
        return Some(spot);
    }
    search_and_follow(chunks, want, probe)
}

#[inline(never)]
fn search_and_follow(chunks: &mut Chunks<Hints>, want: &Want, probe: &mut impl Probe) -> Option<Spot> {
    if chunks.front.is_open() {
        front::close(chunks, probe);
    }
    let spot = search(chunks, want, probe)?;
    front::follow(chunks, want, spot);
    Some(spot)
}

/// A place found by the hints. Some blocks in which something was freed are looked at before; all are before it is said
/// that there is none.
fn search(chunks: &mut Chunks<Hints>, want: &Want, probe: &mut impl Probe) -> Option<Spot> {
    let lists = chunks.slots.sidelined();
    let maybe = class(want.bits);
    let sure = class_of_at_least(want.bits + want.align - 1).min(lists);
    loop {
        let settled = settle_some(chunks, SETTLED, probe);
        if maybe < sure
            && let Some(spot) = find_on(chunks, maybe..sure, TRIES, want, probe)
        {
            return Some(spot);
        }
        if let Some(slot) = chunks.slots.next_occupied(sure, lists) {
            // Any chunk of these lists will do, but for one whose room has no memory.
            let index = chunks.slots.first(slot);
            probe.count(Work::ChunkVisited, 1);
            if let Some(bit) = look(chunks.at(index), want, probe) {
                return Some(Spot { chunk: index, bit });
            }
        }
        if !settled {
            return find_elsewhere(chunks, maybe..sure, want, probe);
        }
    }
}

/// Before a free chunk is begun: whatever has room by chance, or in populated pages, and what was set aside.
#[cold]
fn find_elsewhere(
    chunks: &mut Chunks<Hints>,
    maybe: Range<u32>,
    want: &Want,
    probe: &mut impl Probe,
) -> Option<Spot> {
    let begin = if want.atomic { maybe.end } else { chunks.slots.sidelined() };
    let rest = begin..chunks.slots.to_depopulate();
    find_on(chunks, maybe, u32::MAX, want, probe).or_else(|| find_on(chunks, rest, u32::MAX, want, probe))
}

/// A place in a chunk of some lists; no more than `tries` chunks are looked at.
fn find_on(
    chunks: &mut Chunks<Hints>,
    lists: Range<u32>,
    mut tries: u32,
    want: &Want,
    probe: &mut impl Probe,
) -> Option<Spot> {
    let mut slot = lists.start;
    while let Some(occupied) = chunks.slots.next_occupied(slot, lists.end) {
        let (mut index, last) = (chunks.slots.first(occupied), chunks.slots.last(occupied));
        while index != NONE {
            if tries == 0 {
                return None;
            }
            tries -= 1;
            probe.count(Work::ChunkVisited, 1);
            let next = if index == last { NONE } else { chunks.slots.next(index) };
            let chunk = chunks.at_mut(index);
            let refuses = chunk.hints.refuses(want);
            if !refuses && let Some(bit) = look(chunk, want, probe) {
                return Some(Spot { chunk: index, bit });
            }
            if !want.atomic {
                if !refuses {
                    chunk.hints.refused = *want;
                }
                // Not first again: others of the list get their turn.
                let slot = chunks.slots.of(index);
                chunks.slots.move_to(index, slot, End::Tail);
            }
            index = next;
        }
        slot = occupied + 1;
    }
    None
}

/// The start of the tightest of the blocks' best runs that have room.
#[inline]
fn look(chunk: &Chunk<Hints>, want: &Want, probe: &mut impl Probe) -> Option<u32> {
    if want.atomic {
        return look_in_populated(chunk, want, probe);
    }
    let block = tightest(&chunk.hints, want, probe)?;
    let run = chunk.hints.blocks[block as usize].runs.best;
    Some(base_of(block) + align_up(run.start(), want.align))
}

/// The block whose best run is the tightest that has room, if any has.
fn tightest(hints: &Hints, want: &Want, probe: &mut impl Probe) -> Option<u32> {
    // Nothing is tighter than a run of just that length, and where there was one there are mostly more.
    if let Some(&recent) = hints.recent.get(want.bits as usize) {
        probe.count(Work::BlockVisited, 1);
        let best = hints.blocks[recent as usize].runs.best;
        if best.len() == want.bits && best.has_room(want) {
            return Some(recent.into());
        }
    }
    let (block, compared) = hints.rooms.tightest(want);
    probe.count(Work::BlockVisited, u64::from(compared));
    block
}

/// The first of the blocks' best runs that have room in pages with memory.
fn look_in_populated(chunk: &Chunk<Hints>, want: &Want, probe: &mut impl Probe) -> Option<u32> {
    probe.count(Work::BlockVisited, u64::from(chunk.hints.count()));
    let runs = (0..).zip(&chunk.hints.blocks).map(|(block, record)| (block, record.runs.best));
    let mut runs = runs.filter(|(_, run)| run.has_room(want));
    runs.find_map(|(block, run)| {
        let start = base_of(block) + run.start();
        populated(chunk, align_up(start, want.align), start + run.len(), want)
    })
}

/// The first place of the free run `start..end` whose pages have memory.
fn populated(chunk: &Chunk<Hints>, mut start: u32, end: u32, want: &Want) -> Option<u32> {
    while start + want.bits <= end {
        match chunk.hole_in_pages(&(start..start + want.bits)) {
            None => return Some(start),
            Some(next) => start = align_up(next, want.align),
        }
    }
    None
}

impl Hints {
    /// Whether it is known from before that nothing fits.
    #[inline]
    fn refuses(&self, want: &Want) -> bool {
        self.refused.bits <= want.bits && self.refused.align <= want.align
    }
}
