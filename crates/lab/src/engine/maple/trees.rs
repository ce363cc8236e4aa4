//! Driven trees and maps of ranges whose kind is forgotten: what they can do beyond running operations. One virtual call for
//! many operations, none for one.

use super::two::both;
use super::{Steps, Two};
use crate::engine::Driven;
use freehold_rivals::maple::Second;
use freehold_trace::maple::{Answer, Driver, Engine, Op, RangeDriver, Ranges};

/// Trees at work: several with the kernel's calls, or one plain map of ranges.
pub trait Trees: Driven<Op, Answer> {
    /// The current tree's number.
    fn current(&self) -> u32;

    /// Number and digest of a tree's entries, of their values too if `values`.
    fn content(&self, tree: u32, values: bool) -> (u64, u64);
}

impl<E: Engine> Trees for Driver<E> {
    fn current(&self) -> u32 {
        Self::current(self)
    }

    fn content(&self, tree: u32, values: bool) -> (u64, u64) {
        Self::content(self, tree, values)
    }
}

impl<R: Ranges> Trees for RangeDriver<R> {
    /// There is one.
    fn current(&self) -> u32 {
        0
    }

    fn content(&self, _: u32, values: bool) -> (u64, u64) {
        Self::content(self, values)
    }
}

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

    /// Two new maps of its kind, of two types of values, each with the ranges that are inserted.
    fn two(&self, inserted: &Steps) -> Box<dyn Two>;
}

impl<R: Second + 'static> Map for RangeDriver<R> {
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

    fn two(&self, inserted: &Steps) -> Box<dyn Two> {
        both::<R>(inserted)
    }
}
