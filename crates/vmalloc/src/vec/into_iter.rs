//! The elements of a vector by value, from both ends.

use super::VmVec;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
use std::ptr::NonNull;

/// See [`VmVec::into_iter`]. The memory goes back when it is dropped, with the elements that were not taken.
pub struct IntoIter<'a, T> {
    /// Without elements of its own: those of `left` are initialized.
    memory: VmVec<'a, T>,
    left: Range<usize>,
}

impl<'a, T> IntoIterator for VmVec<'a, T> {
    type Item = T;
    type IntoIter = IntoIter<'a, T>;

    /// The elements, the first first. Cost: constant, and so is each step; nothing is copied but what is taken.
    fn into_iter(mut self) -> IntoIter<'a, T> {
        let left = 0..std::mem::take(&mut self.len);
        IntoIter { memory: self, left }
    }
}

impl<T> IntoIter<'_, T> {
    /// Takes the element at an index, which is left no more.
    fn read(&self, index: usize) -> T {
        // SAFETY: the element is initialized (V6), and was just taken off `left`, so it is read once.
        unsafe { self.memory.start().add(index).read() }
    }
}

impl<T> Iterator for IntoIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left.next().map(|index| self.read(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<T> DoubleEndedIterator for IntoIter<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        self.left.next_back().map(|index| self.read(index))
    }
}

impl<T> ExactSizeIterator for IntoIter<'_, T> {}
impl<T> FusedIterator for IntoIter<'_, T> {}

impl<T> Drop for IntoIter<'_, T> {
    fn drop(&mut self) {
        let left = std::mem::take(&mut self.left);
        // SAFETY: what is left is initialized (V6), and nobody takes it any more, whatever its destructors do.
        unsafe {
            let first = self.memory.start().add(left.start);
            NonNull::slice_from_raw_parts(first, left.len()).drop_in_place();
        }
    }
}

impl<T> fmt::Debug for IntoIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.left.len()).finish_non_exhaustive()
    }
}
