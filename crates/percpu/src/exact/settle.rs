//! Making the hints exact after frees.
//!
//! The used bits are counted by block at all times; a record says how many there were when it was right, and hears of
//! those that are placed since. So the blocks in which something was freed are those whose counts are lower. Only marked
//! blocks (`freed.rs`) are compared.
//!
//! A pass goes through the blocks of a chunk, from the last to the first, as a run of one may go on into those behind.
//! It stops after a few, and goes on before the next request: until then the hints promise less than there is, and never
//! the same bits twice, so that requests are placed by them as ever. What is freed meanwhile is for another pass.
//!
//! Cost: after one free, about what a free would cost that joins runs at once. After several, 1024 bits for each
//! block that they were in, and for each block before whose run goes on into one.

use super::Hints;
use super::freed::Marks;
use super::record::{Block, Run};
use super::update::run_of;
use crate::bitmap::Bits as _;
use crate::chunks::Chunks;
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use crate::object_map::ObjectMap;
use core::ops::Range;
use freehold_units::Probe;

/// No run of the block begins behind the object.
const NO_TAIL: u32 = u32::MAX;

/// A pass over a chunk's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// The blocks that it looks at.
    marks: Marks,
    /// One past the last block that it has not come to; 0 if there is no pass.
    end: u32,
    /// Whether the run that starts there has grown.
    grown_after: bool,
}

impl Pass {
    pub(super) const NONE: Self = Self { marks: Marks::NONE, end: 0, grown_after: false };

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.end == 0
    }
}

/// What it takes to look at a block: bit by bit, or at once as all of it is free.
pub(super) const LOOK: u32 = 16;
const GLANCE: u32 = 1;

/// Settles chunks until it took so much; all blocks that a single object was in are looked at together. Returns whether
/// there was a chunk to be settled.
#[inline]
pub(super) fn settle_some(chunks: &mut Chunks<Hints>, most: u32, probe: &mut impl Probe) -> bool {
    if chunks.unsettled.is_empty() {
        return false;
    }
    let mut took = 0;
    while took < most
        && let Some(index) = chunks.unsettled.pop()
    {
        took += settle(chunks, index, most - took, probe);
    }
    true
}

/// Settles a chunk, as far as that takes no more than `most`. Returns what it took.
#[inline]
fn settle(chunks: &mut Chunks<Hints>, index: u32, most: u32, probe: &mut impl Probe) -> u32 {
    let chunk = chunks.at_mut(index);
    if chunk.hints.is_settled() {
        return 0;
    }
    let took = chunk.hints.settle(&chunk.used, chunk.objects, most, probe);
    let (slot, settled) = (chunk.hints.slot(), chunk.hints.is_settled());
    if !settled {
        chunks.unsettled.push(index);
    }
    chunks.relocate(index, slot);
    took
}

impl Hints {
    /// Makes everything exact, as far as that takes no more than `most`; the chunk has so many objects. Returns what it
    /// took.
    pub(super) fn settle(
        &mut self,
        used: &ObjectMap,
        objects: u32,
        most: u32,
        probe: &mut impl Probe,
    ) -> u32 {
        if self.pass.is_over()
            && let Some(object) = self.freed.only(objects)
        {
            self.freed.take();
            return self.join(used, &object, probe) * LOOK;
        }
        let mut took = 0;
        while took < most && !self.is_settled() {
            if self.pass.is_over() {
                self.pass = Pass { marks: self.freed.take(), end: self.count(), grown_after: false };
            }
            took += self.look_at_next(used, most - took > GLANCE, probe);
        }
        self.freed.is_not_alone();
        took
    }

    /// Goes on to the next block of the pass. Returns what that took. `again` says whether the one before is looked at,
    /// too, before anything is placed, if this one took no more than a glance.
    fn look_at_next(&mut self, used: &ObjectMap, again: bool, probe: &mut impl Probe) -> u32 {
        let Pass { marks, end, grown_after } = self.pass;
        let end = if grown_after { end } else { marks.end_before(end) };
        let Some(block) = end.checked_sub(1) else {
            self.pass = Pass::NONE;
            return 0;
        };
        let stale = self.is_stale(used, block);
        if stale {
            self.find_edges(used, block);
            let joins = |before| used.is_free(before) && self.is_stale(used, before);
            if again && used.is_free(block) && block.checked_sub(1).is_some_and(joins) {
                // No run starts in this block, then: all that there was of one would soon be withdrawn.
                self.find_edges(used, block - 1);
            }
        }
        let (left, right) = (self.blocks[block as usize].left, self.blocks[block as usize].right);
        let looks = stale || (right > 0 && grown_after);
        if looks {
            let runs = self.runs_of(used, block, Run::LONGEST, probe);
            self.put_runs(block, runs);
            self.note_used(used, block);
        }
        let next_left = self.blocks.get(block as usize + 1).map_or(0, |next| next.left);
        if stale && right > 0 && next_left > 0 {
            // A run that started where this block ends is part of one of it, or of a block before, now.
            self.withdraw(used, block + 1, 0, probe);
        }
        let grown_after = stale || (u32::from(left) == BLOCK_BITS && grown_after);
        self.pass = Pass { marks, end: block, grown_after };
        match looks {
            false => 0,
            true if used.is_free(block) => GLANCE,
            true => LOOK,
        }
    }

    /// Whether something was freed in the block since its record was right.
    #[inline]
    fn is_stale(&self, used: &ObjectMap, block: u32) -> bool {
        self.blocks[block as usize].used != used.count(block)
    }

    /// The record of the block is right as of now.
    #[inline]
    pub(super) fn note_used(&mut self, used: &ObjectMap, block: u32) {
        self.blocks[block as usize].used = used.count(block);
    }

    /// Notes the free runs at the edges of a block.
    pub(super) fn find_edges(&mut self, used: &ObjectMap, block: u32) {
        let record = &mut self.blocks[block as usize];
        if used.is_free(block) {
            (record.left, record.right) = (Block::FREE.left, Block::FREE.right);
            self.free_blocks.set(block);
            return;
        }
        let (base, end) = (base_of(block), base_of(block + 1));
        record.left = (used.next_set(base..end) - base) as u16;
        record.right = (end - used.after_last_set(base..end)) as u16;
        self.free_blocks.clear(block);
    }

    /// Joins what is around the only object that was freed. Returns how many blocks were looked at.
    fn join(&mut self, used: &ObjectMap, object: &Range<u32>, probe: &mut impl Probe) -> u32 {
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        let (base, limit) = (base_of(first), base_of(last + 1));
        // What is beside it is mostly used, the best run, or the run at an edge; else the bits tell.
        let best = self.blocks[first as usize].runs.best;
        let (best_start, best_end) = (base + best.start(), base + best.start() + best.len());
        let start = if best_end == object.start && !best.is_none() {
            best_start
        } else if base + u32::from(self.blocks[first as usize].left) == object.start {
            base - self.free_before(first)
        } else {
            used.after_last_set(base..object.start)
        };
        let end = if best_start == object.end && !best.is_none() {
            best_end
        } else if object.end + u32::from(self.blocks[last as usize].right) == limit {
            limit + self.free_after(last)
        } else {
            used.next_set(object.end..limit)
        };
        if first == last && start > base && end < limit {
            self.grow(first, in_block(start), in_block(object.end), run_of(start, end));
            self.note_used(used, first);
            return 1;
        }
        self.lengthen_edges(used, &(start.max(base)..end.min(limit)), first, last);
        let (block, tail_block) = (block_of(start), block_of(object.end));
        let mut tail = NO_TAIL;
        if end > object.end {
            if tail_block == block {
                tail = in_block(object.end);
            } else {
                self.withdraw(used, tail_block, in_block(object.end), probe);
            }
        }
        self.grow(block, in_block(start), tail, run_of(start, end));
        last - first + 1
    }

    /// The runs of a block at `start` and `tail`, or none, are part of `grown` now.
    #[inline]
    fn grow(&mut self, block: u32, start: u32, tail: u32, grown: Run) {
        self.put_runs(block, self.blocks[block as usize].runs.joined(start, tail, grown));
    }

    /// The edges of the blocks `first` to `last` that a free run reaches now.
    #[inline]
    fn lengthen_edges(&mut self, used: &ObjectMap, run: &Range<u32>, first: u32, last: u32) {
        for block in first..last + 1 {
            let base = base_of(block);
            let (from, to) = (run.start.max(base) - base, run.end.min(base + BLOCK_BITS) - base);
            let record = &mut self.blocks[block as usize];
            if from == 0 {
                record.left = to as u16;
            }
            if to == BLOCK_BITS {
                record.right = (to - from) as u16;
            }
            if to - from == BLOCK_BITS {
                self.free_blocks.set(block);
            }
            self.note_used(used, block);
        }
    }

    /// The run that started there in the block is part of one that starts before the block.
    fn withdraw(&mut self, used: &ObjectMap, block: u32, start: u32, probe: &mut impl Probe) {
        self.cut(used, block, start, Run::NONE, Run::NONE, probe);
    }
}
