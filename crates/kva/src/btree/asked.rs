//! Which classes of alignment are kept up: those that requests ask for, and no longer once they ask no more.
//!
//! ```text
//!   requests   . . 9 . 3 . . 9 . . . . . . . . . . . . . . 9 . .      the class of those that are aligned
//!   kept           0 and 9
//!                      0, 3 and 9          9, 3 dropped               3 was not asked for in as many requests
//!                                                                     as are four times the segments
//! ```
//!
//! A class that was not kept is summed up when it is asked for, in every leaf and every node. It is dropped only after
//! several requests for each segment, so that with all that happened in between this costs a constant more. No answer
//! depends on what is kept, only the number of nodes that a search without a request behind it may visit.

use super::OneTree;
use super::kept::CLASSES;
use crate::OutOfMemory;
use freehold_units::{Probe, Work};

/// A class is dropped after so many requests for each segment that did not ask for it.
const PATIENCE: u64 = 4;

/// When each class was last asked for. Time is counted in requests, while more than sizes are kept up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    requests: u64,
    last: [u64; CLASSES],
    /// When to see next whether there is a class to drop.
    look_at: u64,
}

impl<V> OneTree<V> {
    /// A request asks for the class: it is kept up from now on.
    #[inline]
    pub(super) fn keep_for(&mut self, class: usize, probe: &mut impl Probe) -> Result<(), OutOfMemory> {
        self.asked.requests += 1;
        self.asked.last[class] = self.asked.requests;
        if !self.tree.sums.kept.keeps(class) {
            self.tree.sums.keep(class)?;
            probe.count(Work::MaxRecomputed, self.tree.resummarise());
        }
        if self.asked.requests >= self.asked.look_at {
            self.drop_unasked();
        }
        Ok(())
    }

    #[cold]
    fn drop_unasked(&mut self) {
        let patience = (self.tree.len() as u64).saturating_mul(PATIENCE);
        let Asked { requests, last, .. } = self.asked;
        for (class, last) in last.into_iter().enumerate() {
            if requests - last > patience {
                self.tree.sums.drop(class);
            }
        }
        self.asked.look_at = requests.saturating_add(patience);
    }
}
