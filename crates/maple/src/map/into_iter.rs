//! Iteration by value.

use super::{RangeMap, words};
use crate::entry::{Entry, Word};
use crate::node::{Full, Shape};
use crate::tree::{Place, Tree};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem;
use freehold_units::Span;

/// The entries of a map in ascending order of their indexes, or from the back in descending order. What is left is
/// dropped with it.
pub struct IntoIter<E: Entry, S: Shape = Full> {
    /// It keeps its words, which are not looked at any more once they are given out.
    tree: Tree<S>,
    front: Option<Place>,
    back: Option<Place>,
    /// Entries between the two.
    left: u64,
    entries: PhantomData<E>,
}

impl<E: Entry, S: Shape> IntoIter<E, S> {
    fn next_word(&mut self) -> Option<(Span, Word)> {
        self.left = self.left.checked_sub(1)?;
        let mut place = match self.front.take() {
            Some(mut place) => {
                self.tree.step_up(&mut place);
                place
            }
            None => self.tree.place_of(0),
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
            None => self.tree.place_of(u64::MAX),
        };
        while place.slot.entry.is_none() && self.tree.step_down(&mut place) {}
        let slot = place.slot;
        self.back = Some(place);
        slot.entry.map(|word| (slot.span, word))
    }
}

impl<E: Entry, S: Shape> Iterator for IntoIter<E, S> {
    type Item = (Span, E);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_word().map(|(span, word)| (span, words::take(word)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

impl<E: Entry, S: Shape> DoubleEndedIterator for IntoIter<E, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.next_back_word().map(|(span, word)| (span, words::take(word)))
    }
}

impl<E: Entry, S: Shape> FusedIterator for IntoIter<E, S> {}

impl<E: Entry, S: Shape> Drop for IntoIter<E, S> {
    fn drop(&mut self) {
        if mem::needs_drop::<E>() {
            words::drop_values::<E>(core::iter::from_fn(|| self.next_word().map(|(_, word)| word)));
        }
    }
}

impl<E: Entry, S: Shape> IntoIterator for RangeMap<E, S> {
    type Item = (Span, E);
    type IntoIter = IntoIter<E, S>;

    fn into_iter(mut self) -> IntoIter<E, S> {
        let tree = mem::replace(&mut self.tree, Tree::new());
        IntoIter { left: tree.len(), tree, front: None, back: None, entries: PhantomData }
    }
}
