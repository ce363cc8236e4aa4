//! What an engine reports of one operation, in the letters and counts of the vector files.

use crate::RivalWork;
use freehold_units::{Probe, Tally, Work};

/// Counts work, and writes down fits, merges and cache moves in the order in which they happen.
#[derive(Clone, Debug, Default)]
pub struct Letters {
    /// The work.
    pub tally: Tally,
    /// What was written down.
    pub letters: String,
}

impl Probe for Letters {
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
