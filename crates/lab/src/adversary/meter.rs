//! What an operation costs: work by a tally, or instructions under callgrind.
//!
//! ```text
//!   sequence   ready(n operations)   measure  measure  measure  measure  ...
//!              `--- set-up ---'      `------- figures.each -----------'
//! ```
//!
//! A sequence first brings its structure into a bad state, by operations that are counted together. Then it makes the
//! operations that are to suffer, each counted on its own.

use crate::run::instructions::measured;
use freehold::units::{Tally, Work};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nodes, pages and chunks that a probe saw.
    Work,
    /// Instructions by callgrind: no probe can be passed.
    Instructions,
}

/// What a sequence cost at one size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Operations before the measured ones.
    pub ready_ops: u64,
    /// What these cost together.
    pub ready: u64,
    /// What each measured operation cost.
    pub each: Vec<u64>,
}

impl Figures {
    /// The mean over all operations since the structure was empty.
    pub fn amortized(&self) -> f64 {
        let ops = self.ready_ops + self.each.len() as u64;
        (self.ready + self.each.iter().sum::<u64>()) as f64 / ops.max(1) as f64
    }

    /// The most that a measured operation cost.
    pub fn worst(&self) -> u64 {
        self.each.iter().copied().max().unwrap_or(0)
    }

    /// The most that an operation cost in the second half of the measured ones: once all was learned that can be.
    pub fn settled(&self) -> u64 {
        self.each.iter().skip(self.each.len() / 2).copied().max().unwrap_or(0)
    }
}

/// Counts for a sequence.
#[derive(Debug)]
pub struct Meter {
    /// Whether the process runs under callgrind, which counts.
    under_callgrind: bool,
    figures: Figures,
}

impl Meter {
    /// Counts work.
    pub fn of_work() -> Self {
        Self { under_callgrind: false, figures: Figures::default() }
    }

    /// Has callgrind count: what is inside an operation, and a figure after each.
    pub fn under_callgrind() -> Self {
        Self { under_callgrind: true, ..Self::of_work() }
    }

    /// Runs operations that bring the structure into a state; `run` returns how many those were. At most once, and first.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn ready<T>(
        &mut self,
        run: impl FnOnce(&mut Tally) -> anyhow::Result<(T, u64)>,
    ) -> anyhow::Result<T> {
        let (result, work) = self.count(run);
        let (made, ops) = result?;
        self.figures.ready_ops += ops;
        self.figures.ready += work;
        Ok(made)
    }

    /// Runs one operation, whose cost is a figure of its own.
    pub fn measure<T>(&mut self, run: impl FnOnce(&mut Tally) -> T) -> T {
        let (result, work) = self.count(run);
        self.figures.each.push(work);
        result
    }

    fn count<T>(&self, run: impl FnOnce(&mut Tally) -> T) -> (T, u64) {
        let mut tally = Tally::default();
        if !self.under_callgrind {
            let result = run(&mut tally);
            return (result, work(&tally));
        }
        let (mut run, mut result) = (Some(run), None);
        let mut once = || result = run.take().map(|run| run(&mut tally));
        measured(&mut once, true);
        #[allow(clippy::expect_used, reason = "`measured` calls what it is given")]
        (result.expect("the operation ran"), 0)
    }

    /// What was counted.
    pub fn figures(self) -> Figures {
        self.figures
    }
}

/// All that a search or an update looks at, whatever the family.
pub fn work(tally: &Tally) -> u64 {
    let looked_at = [Work::ChunkVisited, Work::ChunkRescanned, Work::BlockVisited, Work::BlockRescanned];
    looked_at.iter().map(|&kind| tally.of(kind)).fold(tally.steps(), u64::saturating_add)
}
