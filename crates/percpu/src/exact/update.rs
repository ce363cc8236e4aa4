//! Keeping the hints exact as objects come.

use super::Hints;
use super::front::Placed;
use super::record::Run;
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use crate::object_map::ObjectMap;
use core::ops::Range;
use freehold_units::Probe;

impl Hints {
    /// Hears of what was placed at the front, if the chunk is there.
    #[inline]
    pub(super) fn note_placed(&mut self, used: &ObjectMap, probe: &mut impl Probe) {
        let placed = core::mem::replace(&mut self.placed, Placed::NOWHERE);
        if placed.range().is_empty() {
            return;
        }
        if placed.together {
            self.took(used, &placed.range(), probe);
        } else {
            self.took_apart(used, &placed.range(), probe);
        }
    }

    /// Objects were placed in runs that start in the first one's block, with gaps between them.
    fn took_apart(&mut self, used: &ObjectMap, objects: &Range<u32>, probe: &mut impl Probe) {
        let (first, end) = (block_of(objects.start), block_of(objects.end - 1) + 1);
        for block in first..end {
            self.find_edges(used, block);
        }
        // What is left of the run may start where they end.
        for block in first..(block_of(objects.end) + 1).min(self.count()) {
            let runs = self.runs_of(used, block, Run::LONGEST, probe);
            self.put_runs(block, runs);
            self.note_used(used, block);
        }
    }

    /// An object, or several that lie one right behind the other, was placed in a block's best run; `used` has it already.
    #[inline]
    pub(super) fn took(&mut self, used: &ObjectMap, object: &Range<u32>, probe: &mut impl Probe) {
        self.freed.is_not_alone();
        let run = self.run_around(object);
        self.shorten_edges(object);
        let (block, tail_block) = (block_of(run.start), block_of(object.end));
        let head = Run::new(in_block(run.start), object.start - run.start);
        let tail = if tail_block == block { run_of(object.end, run.end) } else { Run::NONE };
        let (longer, shorter) = if tail.beats(head) { (tail, head) } else { (head, tail) };
        self.cut(used, block, in_block(run.start), longer, shorter, probe);
        if tail_block != block && object.end < run.end {
            self.offer(tail_block, run_of(object.end, run.end));
        }
    }

    /// The free run that `object` was cut from: a block's best one, as nothing is placed elsewhere. It is as long as the
    /// records say, not as the bits do: what was freed behind it may be another block's by them.
    #[inline]
    fn run_around(&self, object: &Range<u32>) -> Range<u32> {
        let mut block = block_of(object.start);
        let mut run = self.best_of(block);
        if object.start < run.start || run.end < object.end {
            // Its alignment took it out of the block that the run starts in.
            block = block_of(base_of(block) - self.free_before(block));
            run = self.best_of(block);
        }
        debug_assert!(
            run.start <= object.start && object.end <= run.end,
            "an object is placed in a best run"
        );
        let edge = base_of(block + 1);
        if run.end >= edge && self.blocks[block as usize].right > 0 && !self.is_settled() {
            // The block behind was looked at before this one, and its left edge may have become longer.
            run.end = edge + self.free_after(block);
        }
        run
    }

    /// The best run of a block.
    #[inline]
    fn best_of(&self, block: u32) -> Range<u32> {
        let best = self.blocks[block as usize].runs.best;
        let start = base_of(block) + best.start();
        start..start + best.len()
    }

    /// No edge of a block reaches into the object any more.
    #[inline]
    fn shorten_edges(&mut self, object: &Range<u32>) {
        for block in block_of(object.start)..block_of(object.end - 1) + 1 {
            let base = base_of(block);
            let start = object.start.max(base) - base;
            let end = object.end.min(base + BLOCK_BITS) - base;
            let record = &mut self.blocks[block as usize];
            if record.used == 0 {
                self.free_blocks.clear(block);
            }
            // Where much is freed and placed again before the block is looked at, this stays above any count.
            record.used = (record.used + (end - start) as u16).min(2 * BLOCK_BITS as u16);
            record.left = record.left.min(start as u16);
            record.right = record.right.min((BLOCK_BITS - end) as u16);
        }
    }

    /// What is left of the block's run at `start` are two parts of it.
    #[inline]
    pub(super) fn cut(
        &mut self,
        used: &ObjectMap,
        block: u32,
        start: u32,
        longer: Run,
        shorter: Run,
        probe: &mut impl Probe,
    ) {
        let runs = self.blocks[block as usize].runs;
        match runs.cut(start, longer, shorter) {
            Some(runs) => self.put_runs(block, runs),
            None => self.find_best(used, block, start, runs.rest, probe),
        }
    }

    /// Hears of a run that starts in the block.
    #[inline]
    fn offer(&mut self, block: u32, run: Run) {
        self.put_runs(block, self.blocks[block as usize].runs.with(run));
    }
}

/// A run of a chunk as its block sees it.
#[inline]
pub(super) fn run_of(start: u32, end: u32) -> Run {
    Run::new(in_block(start), end - start)
}
