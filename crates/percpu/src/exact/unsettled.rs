//! The chunks in which something was freed since they were last looked at: a stack of positions.
//!
//! A chunk stays on the list that it was on; what it has more of is seen when it is settled. A position stays on the
//! stack even if its chunk goes, or another comes: to settle a settled chunk costs nothing.
//!
//! Invariant P9: a chunk that is not settled is on the stack.

use crate::OutOfMemory;
use crate::bitmap::reserve_one;
use crate::chunk::NONE;
use alloc::vec::Vec;

/// Positions, each at most once.
#[derive(Clone, Debug)]
pub(crate) struct Unsettled {
    top: u32,
    /// Of each position on the stack the one below it, the lowest being above itself; none of the others.
    below: Vec<u32>,
}

impl Unsettled {
    /// No positions.
    pub(crate) const NONE: Self = Self { top: NONE, below: Vec::new() };

    /// Makes room for one more position, and for some beyond.
    pub(crate) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        reserve_one(&mut self.below)
    }

    /// There is one position more, not on the stack.
    pub(crate) fn add(&mut self) {
        self.below.push(NONE);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.below.capacity() * size_of::<u32>()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.top == NONE
    }

    /// Whether a position is on the stack.
    pub(crate) fn holds(&self, index: u32) -> bool {
        self.below.get(index as usize).is_some_and(|&below| below != NONE)
    }

    /// Puts a position on the stack if it is not there.
    #[inline]
    pub(crate) fn push(&mut self, index: u32) {
        let below = &mut self.below[index as usize];
        if *below == NONE {
            *below = if self.top == NONE { index } else { self.top };
            self.top = index;
        }
    }

    /// Takes the position that came last.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let top = self.top;
        let below = core::mem::replace(self.below.get_mut(top as usize)?, NONE);
        self.top = if below == top { NONE } else { below };
        Some(top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_position_comes_off_once_the_last_first() {
        let mut stack = Unsettled::NONE;
        for _ in 0..4 {
            stack.reserve().unwrap();
            stack.add();
        }
        assert_eq!(stack.pop(), None);
        for index in [2, 0, 2, 3, 0] {
            stack.push(index);
        }
        assert_eq!([0, 1, 2, 3, 4].map(|index| stack.holds(index)), [true, false, true, true, false]);
        assert_eq!([stack.pop(), stack.pop()], [Some(3), Some(0)]);
        assert!(stack.holds(2) && !stack.holds(0));
        stack.push(3);
        assert_eq!([stack.pop(), stack.pop(), stack.pop()], [Some(3), Some(2), None]);
        assert!(stack.is_empty());
    }
}
