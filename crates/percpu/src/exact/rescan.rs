//! Finding anew what is longest of the runs that start in a block.

use super::Hints;
use super::record::{Run, Runs};
use super::runs::longest;
use crate::bitmap::Bits as _;
use crate::geometry::{BLOCK_BITS, base_of};
use crate::object_map::ObjectMap;
use freehold_units::{Probe, Work};

/// Runs that are tried before all of a block is looked at.
const NEAR: u32 = 4;

impl Hints {
    /// Finds the longest run that starts in the block, which had its best one at `from`, and of which no other is
    /// longer than `most`. Where there are many of that length, one follows soon.
    pub(super) fn find_best(
        &mut self,
        used: &ObjectMap,
        block: u32,
        from: u32,
        most: u32,
        probe: &mut impl Probe,
    ) {
        let (base, was) = (base_of(block), Run::new(from, most));
        let mut at = base + from;
        // Runs at the right edge may go on, so only those before it are known whole.
        let end = base + BLOCK_BITS - u32::from(self.blocks[block as usize].right);
        for _ in 0..NEAR {
            let start = used.next_clear(used.next_set(at.min(end)..end)..end);
            if start == end {
                break;
            }
            at = used.next_set(start..end);
            let run = Run::new(start - base, at - start);
            if run.len() == most && !was.beats(run) {
                probe.count(Work::BitScanned, u64::from(at - base - from));
                return self.put_runs(block, Runs { best: run, second: Run::NONE, rest: most });
            }
        }
        let runs = self.runs_of(used, block, probe);
        self.put_runs(block, runs);
    }

    /// The longest run that starts in the block, and a bound for the others. One that comes from the block before is
    /// not of this one; one that goes on into the next counts in full.
    pub(super) fn runs_of(&self, used: &ObjectMap, block: u32, probe: &mut impl Probe) -> Runs {
        probe.count(Work::BlockRescanned, 1);
        probe.count(Work::BitScanned, u64::from(BLOCK_BITS));
        let record = &self.blocks[block as usize];
        let (left, right) = (u32::from(record.left), u32::from(record.right));
        let continues = block > 0 && self.blocks[block as usize - 1].right > 0;
        let low = if continues { left } else { 0 };
        if low == BLOCK_BITS {
            return Runs::NONE;
        }
        let high = (BLOCK_BITS - right).max(low);
        let runs = longest(used, block, low..high);
        if right == 0 {
            return runs;
        }
        runs.with(Run::new(high, BLOCK_BITS - high + self.free_after(block)))
    }

    /// Notes the runs of a block.
    #[inline]
    pub(super) fn put_runs(&mut self, block: u32, runs: Runs) {
        let record = &mut self.blocks[block as usize];
        let was = core::mem::replace(&mut record.runs, runs).best;
        if runs.best == was {
            return;
        }
        self.rooms.set(block, runs.best);
        let len = runs.best.len();
        if let Some(recent) = self.recent.get_mut(len as usize) {
            *recent = block as u16;
        }
        if len >= self.longest {
            self.longest = len;
        } else if was.len() == self.longest {
            self.longest = self.rooms.longest().unwrap_or_else(|| self.rooms.longest_of(&self.blocks));
        }
    }
}
