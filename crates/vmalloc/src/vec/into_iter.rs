//! The elements of a vector by value, from both ends.

use super::VmVec;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
use std::ptr::NonNull;

/// See [`VmVec::into_iter`]. Dropping it frees the memory and drops the remaining elements.
pub struct IntoIter<'a, T> {
    /// Its own length is 0: the elements of `left` are initialized.
    memory: VmVec<'a, T>,
    left: Range<usize>,
}

impl<'a, T> IntoIterator for VmVec<'a, T> {
    type Item = T;
    type IntoIter = IntoIter<'a, T>;

    /// The elements, in order. Cost: constant, as is each step; only elements that are taken are copied.
    fn into_iter(mut self) -> IntoIter<'a, T> {
        let left = 0..std::mem::take(&mut self.len);
        IntoIter { memory: self, left }
    }
}

impl<T> IntoIter<'_, T> {
    /// Takes an element that is no longer in `left`.
    fn read(&self, index: usize) -> T {
        // SAFETY:
        // - The element is initialized (V6).
        // - It was just removed from `left`, so it is read once.
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
        // SAFETY:
        // - The remaining elements are initialized (V6).
        // - Nobody takes them any more, whatever their destructors do.
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
