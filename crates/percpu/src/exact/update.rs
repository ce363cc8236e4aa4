//! Keeping the hints exact as objects come and go.

use super::Hints;
use super::record::Run;
use crate::bitmap::Bitmap;
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use core::ops::Range;
use freehold_units::Probe;

impl Hints {
    /// An object was placed; `used` has it already.
    #[inline]
    pub(super) fn took(&mut self, used: &Bitmap, object: &Range<u32>, probe: &mut impl Probe) {
        let run = self.run_around(used, object);
        self.shorten_edges(object);
        let (head, tail) = (run.start..object.start, object.end..run.end);
        let (block, tail_block) = (block_of(run.start), block_of(object.end));
        let (best, rest) = (self.best[block as usize], self.blocks[block as usize].rest);
        // If it was not the best run, then what is left of it is no longer than the rest either.
        if best.start() == in_block(run.start) {
            let head = Run::new(in_block(run.start), head.end - head.start);
            let tail = if tail_block == block { run_of(&tail) } else { Run::NONE };
            let (longer, shorter) = if tail.beats(head) { (tail, head) } else { (head, tail) };
            if longer.len() >= rest {
                self.set_best(block, longer, rest.max(shorter.len()), probe);
            } else {
                self.rescan(used, block, probe);
            }
        }
        if tail_block != block && !tail.is_empty() {
            self.offer(tail_block, run_of(&tail), probe);
        }
    }

    /// An object was freed; `used` has it no more.
    #[inline]
    pub(super) fn gave(&mut self, used: &Bitmap, object: &Range<u32>, probe: &mut impl Probe) {
        self.refused = (0, 0);
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        let within = self.lengthen_edges(used, object, first, last);
        let mut run = within.clone();
        if run.start == base_of(first) {
            run.start -= self.free_before(first);
        }
        if run.end == base_of(last + 1) {
            run.end += self.free_after(last);
        }
        let (block, tail_block) = (block_of(run.start), block_of(object.end));
        if run.end > object.end && tail_block != block {
            self.withdraw(used, tail_block, in_block(object.end), probe);
        }
        let best = self.best[block as usize];
        let (start, grown) = (in_block(run.start), run_of(&run));
        let had_tail = run.end > object.end && tail_block == block && best.start() == in_block(object.end);
        if !best.is_none() && (best.start() == start || had_tail) {
            let rest = self.blocks[block as usize].rest;
            self.set_best(block, grown, rest, probe);
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

    /// No edge of a block reaches into the object any more.
    #[inline]
    fn shorten_edges(&mut self, object: &Range<u32>) {
        for block in block_of(object.start)..=block_of(object.end - 1) {
            let base = base_of(block);
            let start = object.start.max(base) - base;
            let end = object.end.min(base + BLOCK_BITS) - base;
            let record = &mut self.blocks[block as usize];
            if u32::from(record.left) == BLOCK_BITS {
                self.free_blocks.clear(block);
            }
            record.left = record.left.min(start as u16);
            record.right = record.right.min((BLOCK_BITS - end) as u16);
        }
    }

    /// Edges that the object kept short reach as far as they can. Returns the free run as far as it lies in the
    /// blocks of the object.
    #[inline]
    fn lengthen_edges(&mut self, used: &Bitmap, object: &Range<u32>, first: u32, last: u32) -> Range<u32> {
        let start = used.after_last_set(base_of(first)..object.start);
        let end = used.next_set(object.end..base_of(last + 1));
        for block in first..=last {
            let base = base_of(block);
            let (from, to) = (start.max(base) - base, end.min(base + BLOCK_BITS) - base);
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
        }
        start..end
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
        if self.blocks[block as usize].rest == 0 {
            self.set_best(block, Run::NONE, 0, probe);
        } else {
            self.rescan(used, block, probe);
        }
    }
}

/// A run of a chunk as its block sees it.
#[inline]
fn run_of(run: &Range<u32>) -> Run {
    Run::new(in_block(run.start), run.end - run.start)
}
