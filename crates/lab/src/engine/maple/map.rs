//! A driven map of ranges whose kind is forgotten: one virtual call for many operations, none for one.

use super::{Steps, Trees};
use freehold_trace::maple::{RangeDriver, Ranges};

/// A map of ranges at work.
pub trait Map: Trees {
    /// Runs steps as fast as they go; a sum over all answers, the same for every map that answers right.
    fn perform(&mut self, steps: &Steps) -> u64;

    /// An independent copy.
    fn duplicate(&self) -> Box<dyn Map>;

    /// Whether it looks for gaps one by one.
    fn gap_is_linear(&self) -> bool;

    /// Ranges.
    fn count(&self) -> usize;
}

impl<R: Ranges + 'static> Map for RangeDriver<R> {
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
}
