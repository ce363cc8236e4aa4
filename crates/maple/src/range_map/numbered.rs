//! The part of a `RangeMap` that does not depend on its keys: a tree of numbers, and beside it the values with these
//! numbers.
//!
//! ```text
//!   numbers      | 3 | gap | 0 |  1  | gap |        which number a range of words has
//!                  |         |    |
//!   values       0: "x"   1: "y"   2: vacant   3: "z"
//! ```
//!
//! # Invariants
//! Each number in the tree has a value, and each value's number is in the tree once, but for values that an open or
//! forgotten transaction removed (M8).

use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::map::{WordMap, overlap};
use crate::tree::StorePlan;
use crate::value_arena::ValueArena;
use core::mem;
use freehold_units::{Broken, Span, check};

/// The number of each range's value, and the values with these numbers.
pub(super) struct Numbered<V> {
    pub(super) numbers: WordMap<u32>,
    pub(super) values: ValueArena<V>,
}

/// The number in a word of the tree.
pub(super) fn number_of(word: Word) -> u32 {
    word.addr() as u32
}

/// The number of an entry that is cut, and its new value.
pub(super) type CutEnd<V> = Option<(u32, V)>;

impl<V> Numbered<V> {
    pub(super) const fn new(numbers: WordMap<u32>) -> Self {
        Self { numbers, values: ValueArena::new() }
    }

    /// Checks every invariant from scratch.
    pub(super) fn validate(&self) -> Result<(), Broken> {
        self.numbers.validate()?;
        for (span, number) in &self.numbers {
            check(self.values.has(number), "M8", "a number in the tree has a value", span.first())?;
        }
        // There are as many values as entries, and each entry has one, so no two entries share one.
        let in_tree = self.values.len() - self.values.forgotten();
        check(in_tree as u64 == self.numbers.len(), "M8", "a value's number is in the tree once", 0)
    }

    /// Plans a store or a removal. Reserves its nodes, and places for a new value and a second one.
    #[inline]
    pub(super) fn prepare(&mut self, plan: &mut StorePlan, entry: bool) -> Result<(), OutOfMemory> {
        self.numbers.tree.plan(plan, entry);
        self.reserve(plan)
    }

    /// Reserves the nodes of a plan, and places for a new value and a second one.
    #[inline]
    pub(super) fn reserve(&mut self, plan: &StorePlan) -> Result<(), OutOfMemory> {
        self.numbers.tree.reserve(plan)?;
        self.values.reserve(2)
    }

    /// The number of the entry that a store cuts in two, if it cuts one.
    pub(super) fn cut_in_two(&self, plan: &StorePlan) -> Option<u32> {
        self.numbers.tree.cut_word(plan).map(number_of)
    }

    /// A clone of the value of the entry that a store cuts in two, for its upper part.
    #[inline]
    pub(super) fn cloned_second(&self, plan: &StorePlan) -> Option<V>
    where
        V: Clone,
    {
        self.cut_in_two(plan).map(|number| self.values.get(number).clone())
    }

    /// Makes a prepared store, and drops the values that it removes. `second` is the value of the upper part of an
    /// entry that is cut in two.
    pub(super) fn commit(&mut self, plan: &mut StorePlan, value: Option<V>, second: Option<V>) {
        let Self { numbers, values } = self;
        let [entry, second] = put_both(values, value, second);
        let take = |word| values.take(number_of(word));
        numbers.commit_words(
            plan,
            entry,
            |_| second.expect("M8: a cut entry has a second value"),
            Some(take),
        );
    }

    /// Makes a prepared store over `span`. `cut` computes the values of the remaining parts of the entries at either
    /// end.
    pub(super) fn commit_with(
        &mut self,
        plan: &mut StorePlan,
        span: Span,
        value: Option<V>,
        mut cut: impl FnMut(Span, Span, &V) -> V,
    ) {
        let [low, mut high] = self.kept_ends(span, &mut cut);
        let second = self.take_second(plan, &mut high);
        // Set before anything is dropped, as a drop may panic. A part keeps the number of its entry.
        let replaced = self.set_ends([low, high]);
        self.commit(plan, value, second);
        drop(replaced);
    }

    /// The values from `cut` for the remaining parts, below and above a range, of the entries at its ends.
    pub(super) fn kept_ends(&self, span: Span, cut: &mut impl FnMut(Span, Span, &V) -> V) -> [CutEnd<V>; 2] {
        let mut end = |index: u64, part: fn(Span, Span) -> Option<Span>| -> CutEnd<V> {
            let (whole, number) = self.numbers.entry_at(index)?;
            let kept = part(whole, overlap(whole, span))?;
            Some((number, cut(whole, kept, self.values.get(number))))
        };
        [end(span.first(), Span::below), end(span.last(), Span::above)]
    }

    /// The value of the upper end if the store cuts an entry in two: it is the value of that entry's upper part.
    pub(super) fn take_second(&self, plan: &StorePlan, high: &mut CutEnd<V>) -> Option<V> {
        let in_two = self.cut_in_two(plan);
        high.take_if(|(number, _)| in_two == Some(*number)).map(|(_, value)| value)
    }

    /// Sets the values of the remaining parts, and returns those before.
    pub(super) fn set_ends(&mut self, ends: [CutEnd<V>; 2]) -> [Option<V>; 2] {
        ends.map(|end| {
            let (number, value) = end?;
            Some(mem::replace(self.values.get_mut(number), value))
        })
    }
}

/// Stores a store's values in their places; returns their numbers as words.
pub(super) fn put_both<V>(
    values: &mut ValueArena<V>,
    value: Option<V>,
    second: Option<V>,
) -> [Option<Word>; 2] {
    let mut put = |value: V| values.put(value).into_word();
    [value.map(&mut put), second.map(&mut put)]
}
