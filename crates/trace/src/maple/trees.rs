//! Trees at work whose kind is forgotten: what they can do beyond running operations.

use super::{Answer, Driver, Engine, Op, RangeDriver, Ranges};
use crate::Driven;

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
