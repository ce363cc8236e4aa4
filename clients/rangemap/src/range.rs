//! What half-open and inclusive ranges have in common: words of their first and last key.

use crate::Key;
use core::ops::{Range, RangeInclusive};
use freehold_units::Span;

/// A range of keys, of one of the two forms.
pub trait RangeOf: Clone + PartialEq {
    /// Its keys.
    type Key: Key;

    /// The words of its keys; `None` if there are none.
    fn words(&self) -> Option<Span>;

    /// The word of its start, and the first word that is not below its end, if there is one.
    fn ends(&self) -> (u64, Option<u64>);

    /// The range of words, which are those of keys.
    fn of_words(words: Span) -> Self;
}

impl<K: Key> RangeOf for Range<K> {
    type Key = K;

    #[inline]
    fn words(&self) -> Option<Span> {
        Span::new(self.start.to_word(), self.end.to_word().checked_sub(1)?)
    }

    #[inline]
    fn ends(&self) -> (u64, Option<u64>) {
        (self.start.to_word(), Some(self.end.to_word()))
    }

    #[inline]
    fn of_words(words: Span) -> Self {
        // A key is stored with the one behind it, so that one has a word.
        K::from_word(words.first())..K::from_word(words.last() + 1)
    }
}

impl<K: Key> RangeOf for RangeInclusive<K> {
    type Key = K;

    #[inline]
    fn words(&self) -> Option<Span> {
        if self.is_empty() { None } else { Span::new(self.start().to_word(), self.end().to_word()) }
    }

    #[inline]
    fn ends(&self) -> (u64, Option<u64>) {
        (self.start().to_word(), self.end().to_word().checked_add(1))
    }

    #[inline]
    fn of_words(words: Span) -> Self {
        K::from_word(words.first())..=K::from_word(words.last())
    }
}
