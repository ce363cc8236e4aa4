//! Iteration by value.

use super::{RangeMap, words};
use crate::entry::{StoredValue, Word};
use crate::tree::{SlotPos, Tree};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem;
use freehold_units::Span;

/// The entries of a map in ascending order of their indexes, or from the back in descending order. What is left is
/// dropped with it.
pub struct IntoIter<E: StoredValue> {
    /// It keeps its words, which are not looked at any more once they are given out.
    tree: Tree,
    front: Option<SlotPos>,
    back: Option<SlotPos>,
    /// Entries between the two.
    left: u64,
    entries: PhantomData<E>,
}

impl<E: StoredValue> IntoIter<E> {
    fn next_word(&mut self) -> Option<(Span, Word)> {
        self.left = self.left.checked_sub(1)?;
        let mut place = match self.front.take() {
            Some(mut place) => {
                self.tree.step_up(&mut place);
                place
            }
            None => self.tree.pos_of(0),
        };
        while place.slot.entry.is_none() && self.tree.step_up(&mut place) {}
        let slot = place.slot;
        self.front = Some(place);
        slot.entry.map(|word| (slot.span, word))
    }

    fn next_back_word(&mut self) -> Option<(Span, Word)> {
        self.left = self.left.checked_sub(1)?;
        let mut place = match self.back.take() {
            Some(mut place) => {
                self.tree.step_down(&mut place);
                place
            }
            None => self.tree.pos_of(u64::MAX),
        };
        while place.slot.entry.is_none() && self.tree.step_down(&mut place) {}
        let slot = place.slot;
        self.back = Some(place);
        slot.entry.map(|word| (slot.span, word))
    }
}

impl<E: StoredValue> Iterator for IntoIter<E> {
    type Item = (Span, E);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_word().map(|(span, word)| (span, words::take(word)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

impl<E: StoredValue> DoubleEndedIterator for IntoIter<E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.next_back_word().map(|(span, word)| (span, words::take(word)))
    }
}

impl<E: StoredValue> FusedIterator for IntoIter<E> {}

impl<E: StoredValue> Drop for IntoIter<E> {
    fn drop(&mut self) {
        if mem::needs_drop::<E>() {
            words::drop_values::<E>(core::iter::from_fn(|| self.next_word().map(|(_, word)| word)));
        }
    }
}

impl<E: StoredValue> IntoIterator for RangeMap<E> {
    type Item = (Span, E);
    type IntoIter = IntoIter<E>;

    fn into_iter(mut self) -> IntoIter<E> {
        let empty = Tree::new(self.tree.limits());
        let tree = mem::replace(&mut self.tree, empty);
        IntoIter { left: tree.len(), tree, front: None, back: None, entries: PhantomData }
    }
}
