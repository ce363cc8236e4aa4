//! Keeping the hints exact as objects come, and counting as they go.

use super::Hints;
use super::record::{Freed, Run};
use crate::bitmap::Bits as _;
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use crate::object_map::ObjectMap;
use core::ops::Range;
use freehold_units::Probe;

impl Hints {
    /// An object was placed in a settled chunk; `used` has it already. Returns how many blocks were free as a whole.
    #[inline]
    pub(super) fn took(&mut self, used: &ObjectMap, object: &Range<u32>, probe: &mut impl Probe) -> u32 {
        let run = self.run_around(used, object);
        let begun = self.shorten_edges(object);
        let (block, tail_block) = (block_of(run.start), block_of(object.end));
        let (best, rest) = (self.best[block as usize], self.blocks[block as usize].rest);
        // If it was not the best run, then what is left of it is no longer than the rest either.
        if best.start() == in_block(run.start) {
            let head = Run::new(in_block(run.start), object.start - run.start);
            let tail = if tail_block == block { run_of(object.end, run.end) } else { Run::NONE };
            let longer = if head.is_none() || tail.beats(head) { tail } else { head };
            let shorter = if longer == tail { head } else { tail };
            if longer.len() >= rest {
                self.set_best(block, longer, rest.max(shorter.len()), probe);
            } else {
                self.find_best(used, block, best.start(), rest, probe);
            }
        }
        if tail_block != block && object.end < run.end {
            self.offer(tail_block, run_of(object.end, run.end), probe);
        }
        begun
    }

    /// An object was freed, the last one of the chunk if `last`. Returns how many blocks are free as a whole now.
    #[inline]
    pub(super) fn gave(&mut self, object: &Range<u32>, last: bool) -> u32 {
        let emptied = self.count_given(object);
        if last {
            self.clear();
        } else {
            let &Range { start, end } = object;
            self.freed = if self.freed == Freed::Nothing { Freed::One { start, end } } else { Freed::Many };
        }
        emptied
    }

    /// Returns how many blocks no longer have a used bit.
    #[inline]
    fn count_given(&mut self, object: &Range<u32>) -> u32 {
        let mut emptied = 0;
        for (block, bits) in parts(object) {
            let used = &mut self.used[block as usize];
            *used -= bits as u16;
            emptied += u32::from(*used == 0);
        }
        emptied
    }

    /// The free run that `object` was cut from.
    #[inline]
    fn run_around(&self, used: &ObjectMap, object: &Range<u32>) -> Range<u32> {
        let block = block_of(object.start);
        let (base, best) = (base_of(block), self.best[block as usize]);
        let start = base + best.start();
        if start <= object.start && object.end <= start + best.len() {
            return start..start + best.len();
        }
        let mut start = used.after_last_set(base..object.start);
        if start == base {
            start -= self.free_before(block);
        }
        let last = block_of(object.end - 1);
        let mut end = used.next_set(object.end..base_of(last + 1));
        if end == base_of(last + 1) {
            end += self.free_after(last);
        }
        start..end
    }

    /// No edge of a block reaches into the object any more. Returns how many of the blocks were free as a whole.
    #[inline]
    fn shorten_edges(&mut self, object: &Range<u32>) -> u32 {
        let mut begun = 0;
        for block in block_of(object.start)..block_of(object.end - 1) + 1 {
            let base = base_of(block);
            let start = object.start.max(base) - base;
            let end = object.end.min(base + BLOCK_BITS) - base;
            let record = &mut self.blocks[block as usize];
            if u32::from(record.left) == BLOCK_BITS {
                self.free_blocks.clear(block);
                begun += 1;
            }
            record.used += (end - start) as u16;
            self.used[block as usize] = record.used;
            record.left = record.left.min(start as u16);
            record.right = record.right.min((BLOCK_BITS - end) as u16);
        }
        begun
    }

    /// Hears of a run that starts in the block.
    #[inline]
    pub(super) fn offer(&mut self, block: u32, run: Run, probe: &mut impl Probe) {
        let (best, rest) = (self.best[block as usize], self.blocks[block as usize].rest);
        if run.beats(best) {
            self.set_best(block, run, rest.max(best.len()), probe);
        } else {
            self.blocks[block as usize].rest = rest.max(run.len());
        }
    }
}

/// The blocks that an object is in, and how many of its bits are in each.
#[inline]
fn parts(object: &Range<u32>) -> impl Iterator<Item = (u32, u32)> {
    let &Range { start, end } = object;
    (block_of(start)..block_of(end - 1) + 1).map(move |block| {
        let (base, limit) = (base_of(block), base_of(block + 1));
        (block, end.min(limit) - start.max(base))
    })
}

/// A run of a chunk as its block sees it.
#[inline]
pub(super) fn run_of(start: u32, end: u32) -> Run {
    Run::new(in_block(start), end - start)
}
