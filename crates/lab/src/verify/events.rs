//! What an engine reports of one operation, in the letters and counts of the vector files.

use freehold::units::{Probe, Tally, Work};
use freehold_rivals::RivalWork;

/// Counts work, and writes down fits, merges and cache moves in the order in which they happen.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    pub(super) tally: Tally,
    pub(super) letters: String,
}

impl Probe for Events {
    fn count(&mut self, work: Work, amount: u64) {
        self.tally.count(work, amount);
        let letter = match work {
            Work::FitFull => 'F',
            Work::FitLeftEdge => 'L',
            Work::FitRightEdge => 'R',
            Work::FitNoEdge => 'N',
            Work::MergedNone => '0',
            Work::MergedPrevious => 'P',
            Work::MergedNext => 'N',
            Work::MergedBoth => 'B',
            _ => return,
        };
        self.letters.push(letter);
    }

    fn count_other(&mut self, kind: u8, amount: u64) {
        self.tally.count_other(kind, amount);
        let letter = match RivalWork::from_number(kind) {
            Some(RivalWork::StartedCached) => 'c',
            Some(RivalWork::StartedDescended) => 't',
            Some(RivalWork::StartedBeyond) => 'e',
            Some(RivalWork::CacheMoved) => 'm',
            Some(RivalWork::CacheDropped) => 'x',
            _ => return,
        };
        self.letters.push(letter);
    }
}
