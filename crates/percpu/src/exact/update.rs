//! Keeping the hints exact as objects come and go.

use super::Hints;
use super::record::Run;
use crate::bitmap::Bitmap;
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use core::ops::Range;
use freehold_units::Probe;

/// No run of the block begins behind the object.
const NO_TAIL: u32 = u32::MAX;

impl Hints {
    /// An object was placed; `used` has it already. Returns how many blocks were free as a whole.
    #[inline]
    pub(super) fn took(&mut self, used: &Bitmap, object: &Range<u32>, probe: &mut impl Probe) -> u32 {
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

    /// An object was freed; `used` has it no more. Returns how many blocks are free as a whole now.
    #[inline]
    pub(super) fn gave(&mut self, used: &Bitmap, object: &Range<u32>, probe: &mut impl Probe) -> u32 {
        self.refused = (0, 0);
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        let (base, limit) = (base_of(first), base_of(last + 1));
        // What is beside it is mostly used, the best run, or the run at an edge; else the bits tell.
        let best = self.best[first as usize];
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
            self.grow(first, in_block(start), in_block(object.end), run_of(start, end), probe);
            return 0;
        }
        let emptied = self.lengthen_edges(&(start.max(base)..end.min(limit)), first, last);
        let (block, tail_block) = (block_of(start), block_of(object.end));
        let mut tail = NO_TAIL;
        if end > object.end {
            if tail_block == block {
                tail = in_block(object.end);
            } else {
                self.withdraw(used, tail_block, in_block(object.end), probe);
            }
        }
        self.grow(block, in_block(start), tail, run_of(start, end), probe);
        emptied
    }

    /// A block's run at `start`, and one at `tail`, or neither, are part of `grown` now.
    #[inline]
    fn grow(&mut self, block: u32, start: u32, tail: u32, grown: Run, probe: &mut impl Probe) {
        let best = self.best[block as usize];
        if !best.is_none() && (best.start() == start || best.start() == tail) {
            self.set_best(block, grown, self.blocks[block as usize].rest, probe);
        } else {
            self.offer(block, grown, probe);
        }
    }

    /// The free run that `object` was cut from.
    #[inline]
    fn run_around(&self, used: &Bitmap, object: &Range<u32>) -> Range<u32> {
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
            record.left = record.left.min(start as u16);
            record.right = record.right.min((BLOCK_BITS - end) as u16);
        }
        begun
    }

    /// The edges of the blocks `first` to `last` that a free run reaches now. Returns how many of them are free as a
    /// whole.
    #[inline]
    fn lengthen_edges(&mut self, run: &Range<u32>, first: u32, last: u32) -> u32 {
        let mut emptied = 0;
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
                emptied += 1;
            }
        }
        emptied
    }

    /// Hears of a run that starts in the block.
    #[inline]
    fn offer(&mut self, block: u32, run: Run, probe: &mut impl Probe) {
        let (best, rest) = (self.best[block as usize], self.blocks[block as usize].rest);
        if run.beats(best) {
            self.set_best(block, run, rest.max(best.len()), probe);
        } else {
            self.blocks[block as usize].rest = rest.max(run.len());
        }
    }

    /// The run that started there in the block is part of one that starts before the block.
    fn withdraw(&mut self, used: &Bitmap, block: u32, start: u32, probe: &mut impl Probe) {
        let best = self.best[block as usize];
        if best.is_none() || best.start() != start {
            return;
        }
        match self.blocks[block as usize].rest {
            0 => self.set_best(block, Run::NONE, 0, probe),
            rest => self.find_best(used, block, start, rest, probe),
        }
    }
}

/// A run of a chunk as its block sees it.
#[inline]
fn run_of(start: u32, end: u32) -> Run {
    Run::new(in_block(start), end - start)
}
