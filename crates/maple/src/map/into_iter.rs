//! Iteration by value.

use super::WordMap;
use crate::drop_all::drop_all;
use crate::entry::{StoredValue, Word};
use crate::tree::{Direction, EntryCursor, Tree};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem;
use freehold_units::Span;

/// The entries of a map in ascending order of their indexes, or from the back in descending order. Dropping it drops
/// the remaining entries; forgetting it (`mem::forget`) leaks them.
pub struct IntoIter<E: StoredValue> {
    /// It keeps its words, which are not used any more once they were returned.
    tree: Tree,
    front: EntryCursor,
    back: EntryCursor,
    /// Entries between the two ends, of which neither knows how far the other has come.
    left: u64,
    entries: PhantomData<E>,
}

impl<E: StoredValue> IntoIter<E> {
    /// The next entry from one of the ends.
    #[inline]
    pub(super) fn next_word(&mut self, direction: Direction) -> Option<(Span, Word)> {
        self.left = self.left.checked_sub(1)?;
        let end = match direction {
            Direction::Up => &mut self.front,
            Direction::Down => &mut self.back,
        };
        let entry = self.tree.next_entry(end);
        Some(entry.expect("M5: as many entries are left as are counted"))
    }
}

impl<E: StoredValue> Iterator for IntoIter<E> {
    type Item = (Span, E);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_value(Direction::Up)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // More entries than that have no memory.
        let left = self.left as usize;
        (left, Some(left))
    }
}

impl<E: StoredValue> DoubleEndedIterator for IntoIter<E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.next_value(Direction::Down)
    }
}

impl<E: StoredValue> ExactSizeIterator for IntoIter<E> {}

impl<E: StoredValue> FusedIterator for IntoIter<E> {}

impl<E: StoredValue> Drop for IntoIter<E> {
    fn drop(&mut self) {
        if mem::needs_drop::<E>() {
            drop_all(core::iter::from_fn(|| self.next_value(Direction::Up)));
        }
    }
}

impl<E: StoredValue> IntoIterator for WordMap<E> {
    type Item = (Span, E);
    type IntoIter = IntoIter<E>;

    fn into_iter(mut self) -> IntoIter<E> {
        let empty = Tree::new(self.tree.limits());
        let tree = mem::replace(&mut self.tree, empty);
        let (front, back) = (EntryCursor::at_start(), EntryCursor::at_end());
        IntoIter { left: tree.len(), tree, front, back, entries: PhantomData }
    }
}
