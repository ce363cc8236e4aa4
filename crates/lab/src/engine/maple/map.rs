//! A driven map of ranges whose kind is forgotten: one virtual call for many operations, none for one.

use super::Steps;
use freehold_trace::maple::{Answer, Op, RangeDriver, Ranges};

/// A map of ranges at work.
pub trait Map {
    /// Runs operations one by one, to be checked.
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]);

    /// Runs steps as fast as they go; a sum over all answers, the same for every map that answers right.
    fn perform(&mut self, steps: &Steps) -> u64;

    /// An independent copy.
    fn duplicate(&self) -> Box<dyn Map>;

    /// Whether it looks for gaps one by one.
    fn gap_is_linear(&self) -> bool;

    /// Ranges.
    fn count(&self) -> usize;

    /// Bytes of memory that it holds.
    fn bytes(&self) -> usize;

    /// Checks its invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

impl<R: Ranges + 'static> Map for RangeDriver<R> {
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) {
        self.run_batch(ops, answers);
    }

    fn perform(&mut self, steps: &Steps) -> u64 {
        steps.run(self.map_mut())
    }

    fn duplicate(&self) -> Box<dyn Map> {
        Box::new(Self::new(self.map().duplicate()))
    }

    fn gap_is_linear(&self) -> bool {
        R::GAP_IS_LINEAR
    }

    fn count(&self) -> usize {
        self.map().iter().count()
    }

    fn bytes(&self) -> usize {
        self.map().bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.map().validate()
    }
}
