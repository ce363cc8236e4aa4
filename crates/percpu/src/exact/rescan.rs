//! Finding anew what is longest of the runs that start in a block.

use super::record::{Run, Runs};
use super::runs::longest;
use super::{Hints, NOTHING};
use crate::geometry::BLOCK_BITS;
use crate::object_map::ObjectMap;
use freehold_units::{Probe, Work};

impl Hints {
    /// Finds the longest run that starts in the block, which had its best one at `from`, and of which no other is
    /// longer than `most`.
    pub(super) fn find_best(
        &mut self,
        used: &ObjectMap,
        block: u32,
        from: u32,
        most: u32,
        probe: &mut impl Probe,
    ) {
        let runs = self.runs_of(used, block, Run::new(from, most), probe);
        self.put_runs(block, runs);
    }

    /// The longest run that starts in the block, and a bound for the others. One that comes from the block before is
    /// not of this one; one that goes on into the next counts in full. Two that are like `most` need no better ones.
    pub(super) fn runs_of(&self, used: &ObjectMap, block: u32, most: Run, probe: &mut impl Probe) -> Runs {
        probe.count(Work::BlockRescanned, 1);
        let record = &self.blocks[block as usize];
        let (left, right) = (u32::from(record.left), u32::from(record.right));
        let continues = block > 0 && self.blocks[block as usize - 1].right > 0;
        let low = if continues { left } else { 0 };
        if low == BLOCK_BITS {
            return Runs::NONE;
        }
        let high = (BLOCK_BITS - right).max(low);
        let runs = longest(used, block, low..high, most, probe);
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
        if runs.best.has_room(&self.refused) {
            self.refused = NOTHING;
        }
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
