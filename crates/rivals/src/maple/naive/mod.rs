//! The model: every call of the kernel's tree by the rules that its recorded logs follow, on a sorted list of ranges.
//!
//! A gap is what lies between two entries, or before the first or after the last. The "range at" an index is the
//! entry or the gap that holds it. Nothing here knows of nodes, so that where the kernel's answer depends on whether
//! the tree has any, this one's may differ; such answers do not bind.

mod cursor;

use super::ListRanges;
use cursor::Cursor;
use freehold_trace::maple::{
    ContentEntry, CursorView, Cycled, End, Engine, Refusal, Step, StoreCall, TreeFlags, Value,
};
use freehold_units::{Align, Span};

/// A tree that is right because it is simple.
#[derive(Clone, Debug)]
pub struct Naive {
    entries: ListRanges<Value>,
    /// It allocates.
    alloc: bool,
    /// The last index was handed out by a cyclic allocation, and none has begun again from 0 since.
    wrapped: bool,
}

impl Naive {
    /// Entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry or the gap that holds the index.
    fn range_at(&self, index: u64) -> (u64, u64, Value) {
        match self.entries.at_or_below(index) {
            Some((first, last, value)) if last >= index => (first, last, value),
            below => {
                // An entry below ends below the index, so that one more is at most the index.
                let first = below.map_or(0, |(_, last, _)| last.saturating_add(1));
                let above = self.entries.at_or_above(index);
                (first, above.map_or(u64::MAX, |(first, ..)| first.saturating_sub(1)), Value::Null)
            }
        }
    }

    /// Stores over a range; what was at its first index.
    fn replace(&mut self, span: Span, value: Value) -> Value {
        let (_, _, old) = self.range_at(span.first());
        match value {
            Value::Null => self.entries.put(span, None),
            value => self.entries.put(span, Some(value)),
        }
        old
    }

    fn free_place(&self, end: End, size: u64, min: u64, max: u64) -> Result<Span, Refusal> {
        let window = Span::new(min, max).ok_or(Refusal::Invalid)?;
        if u128::from(size) > window.size_bytes() || size == 0 || !self.alloc {
            return Err(Refusal::Invalid);
        }
        self.entries.free_place(end, size, Align::ONE, window).ok_or(Refusal::Busy)
    }

    fn lowest_free(&self, low: u64, high: u64) -> Result<u64, Refusal> {
        self.free_place(End::Lowest, 1, low, high).map(Span::first)
    }
}

impl Engine for Naive {
    type Cursor = Cursor;

    fn new(flags: TreeFlags) -> Self {
        Self { entries: ListRanges::new(), alloc: flags.alloc, wrapped: false }
    }

    fn store(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
        let span = Span::new(first, last).ok_or(Refusal::Invalid)?;
        self.replace(span, value);
        Ok(())
    }

    fn insert(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
        let span = Span::new(first, last).ok_or(Refusal::Invalid)?;
        if !self.entries.is_free(span) {
            return Err(Refusal::Exists);
        }
        self.replace(span, value);
        Ok(())
    }

    fn erase(&mut self, index: u64) -> Value {
        self.entries.erase(index).map_or(Value::Null, |(_, _, value)| value)
    }

    fn load(&self, index: u64) -> Value {
        match self.range_at(index) {
            (_, _, Value::Reserved) => Value::Null,
            (_, _, value) => value,
        }
    }

    fn find(&self, index: u64, max: u64, after: bool) -> (Value, u64) {
        let nothing = (Value::Null, index);
        if index > max || after && index == 0 {
            return nothing;
        }
        let mut at = self.entries.holding(index).or_else(|| self.entries.at_or_above(index));
        while let Some((first, last, value)) = at.filter(|(first, ..)| *first <= max) {
            if value != Value::Reserved {
                return (value, last.wrapping_add(1));
            }
            at = first.checked_add(1).and_then(|next| self.entries.at_or_above(next));
        }
        nothing
    }

    fn next(&self, index: u64, max: u64) -> Value {
        let above = index.checked_add(1).and_then(|above| self.entries.at_or_above(above));
        above.filter(|(first, ..)| *first <= max).map_or(Value::Null, |(_, _, value)| value)
    }

    fn prev(&self, index: u64, min: u64) -> Value {
        let (first, ..) = self.range_at(index);
        let below = first.checked_sub(1).and_then(|below| self.entries.at_or_below(below));
        let below = below.filter(|(_, last, _)| *last >= min && index > min);
        below.map_or(Value::Null, |(_, _, value)| value)
    }

    fn alloc_range(&mut self, end: End, size: u64, min: u64, max: u64, value: Value) -> Result<u64, Refusal> {
        if value == Value::Reserved {
            return Err(Refusal::Invalid);
        }
        let place = self.free_place(end, size, min, max)?;
        self.replace(place, value);
        Ok(place.first())
    }

    fn alloc_cyclic(&mut self, low: u64, high: u64, next: u64, value: Value) -> Result<Cycled, Refusal> {
        if value == Value::Reserved {
            return Err(Refusal::Invalid);
        }
        let start = low.max(next);
        let (index, from_low) = match self.lowest_free(start, high) {
            Err(_) if start > low => (self.lowest_free(low, high)?, true),
            found => (found?, false),
        };
        self.replace(Span::new(index, index).ok_or(Refusal::Invalid)?, value);
        let wrapped = from_low || std::mem::take(&mut self.wrapped);
        self.wrapped |= index == u64::MAX;
        Ok(Cycled { index, next: index.wrapping_add(1), wrapped })
    }

    fn cursor(&self, first: u64, last: u64) -> Cursor {
        Cursor::new(first, last)
    }

    fn view(cursor: &Cursor) -> CursorView {
        cursor.view()
    }

    fn pause(cursor: &mut Cursor) {
        cursor.pause();
    }

    fn reset(cursor: &mut Cursor) {
        cursor.reset();
    }

    fn walk(&self, cursor: &mut Cursor) -> Value {
        cursor.walk(self)
    }

    fn step(&self, cursor: &mut Cursor, step: Step, limit: u64) -> Value {
        cursor.step(self, step, limit)
    }

    fn empty_area(
        &self,
        cursor: &mut Cursor,
        end: End,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Refusal> {
        cursor.put_on(self.free_place(end, size, min, max)?);
        Ok(())
    }

    fn cursor_store(&mut self, cursor: &mut Cursor, _: StoreCall, value: Value) -> Result<Value, Refusal> {
        let span = cursor.view().span().ok_or(Refusal::Invalid)?;
        let old = self.replace(span, value);
        // To what was stored, or to the whole gap.
        cursor.walk(self);
        Ok(old)
    }

    fn cursor_erase(&mut self, cursor: &mut Cursor) -> Value {
        let old = self.erase(cursor.view().index);
        cursor.walk(self);
        old
    }

    fn store_together(&mut self, stores: &[(Span, Value)], commit: bool) -> Result<(), Refusal> {
        for &(span, value) in stores.iter().filter(|_| commit) {
            self.replace(span, value);
        }
        Ok(())
    }

    fn nodes_taken(&self) -> u64 {
        0
    }

    fn bytes(&self) -> usize {
        self.entries.bytes()
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn entries(&self, visit: &mut dyn FnMut(ContentEntry)) {
        for (first, last, value) in self.entries.iter() {
            if let Some(span) = Span::new(first, last) {
                visit(ContentEntry { span, value });
            }
        }
    }

    fn validate(&self) -> Result<(), String> {
        self.entries.validate()
    }
}
