//! Our shared map behind the kernel's calls.

use super::LinuxTree;
use freehold::maple::MapleTree;
use freehold::maple::maple_tree::{Reading, WriteError};
use freehold::units::{Rejected, Span};
use freehold_trace::maple::{
    ContentEntry, CursorView, Cycled, End, Engine, Refusal, Step, StoreCall, TreeFlags, Value,
};
use std::num::NonZeroU64;

/// What has cursors, and looks for gaps.
type Places = LinuxTree;

/// An entry; `None` is the reserved one. Numbers are one higher than their values.
type Entry = Option<NonZeroU64>;

/// A [`MapleTree`], which has neither cursors nor a search for gaps: those are of a tree of one owner beside it, in which the
/// same is stored. Every store is made in both, and every value that is answered was read from the shared one.
pub struct SharedTree {
    shared: MapleTree<Entry>,
    places: Places,
}

fn entry(value: Value) -> Option<Entry> {
    match value {
        Value::Null => None,
        Value::Reserved => Some(None),
        Value::Number(number) => Some(Some(NonZeroU64::MIN.saturating_add(number.into()))),
    }
}

fn value(found: Option<Entry>) -> Value {
    match found {
        None => Value::Null,
        Some(None) => Value::Reserved,
        // No other entries are stored.
        Some(Some(entry)) => u32::try_from(entry.get() - 1).map_or(Value::Null, Value::Number),
    }
}

fn refusal(rejected: Rejected<Entry, WriteError>) -> Refusal {
    match rejected.cause {
        WriteError::Occupied { .. } => Refusal::Exists,
        WriteError::EmptyRange => Refusal::Invalid,
        // Logs know neither lack of memory nor readers: it shows as an answer that differs.
        _ => Refusal::Busy,
    }
}

/// Makes a change, and makes it again if too much waited for readers: other threads of this process read as well.
fn made<T, E>(change: impl Fn() -> Result<T, E>, cause: impl Fn(&E) -> &WriteError) -> Result<T, E> {
    change().or_else(|refused| match cause(&refused) {
        WriteError::Readers { .. } if freehold_rcu::synchronize().is_ok() => change(),
        _ => Err(refused),
    })
}

impl SharedTree {
    fn at(&self, index: u64) -> Value {
        value(self.shared.read().slot_at(index).1)
    }

    /// Erases what has the index; says what that was.
    fn take(&self, index: u64) -> Value {
        let found = self.at(index);
        match made(|| self.shared.erase(index), |cause| cause) {
            Ok(Some(_)) => found,
            Ok(None) | Err(_) => Value::Null,
        }
    }

    fn put(&self, span: Span, value: Value) -> Result<(), Refusal> {
        match entry(value) {
            Some(entry) => {
                made(|| self.shared.store(span, entry), |rejected| &rejected.cause).map_err(refusal)
            }
            None => made(|| self.shared.remove_range(span), |cause| cause).map_err(|_| Refusal::Busy),
        }
    }

    /// Into a range that is free.
    fn put_free(&self, span: Span, value: Value) -> Result<(), Refusal> {
        match entry(value) {
            Some(entry) => {
                made(|| self.shared.insert(span, entry), |rejected| &rejected.cause).map_err(refusal)
            }
            None if self.shared.read().range(span).next().is_some() => Err(Refusal::Exists),
            None => Ok(()),
        }
    }

    /// What a cursor went to, if that is there as the cursor shows it.
    fn under(&self, cursor: &<Places as Engine>::Cursor, told: Value) -> Value {
        let (span, found) = self.shared.read().slot_at(Places::view(cursor).index);
        let is_there = told != Value::Null && Places::view(cursor).span() == Some(span);
        if is_there { value(found) } else { Value::Null }
    }
}

fn first(reading: &Reading<'_, Entry>, span: Option<Span>) -> Option<Entry> {
    reading.range(span?).next().map(|(_, found)| found)
}

impl Engine for SharedTree {
    type Cursor = <Places as Engine>::Cursor;

    fn new(flags: TreeFlags) -> Self {
        Self { shared: MapleTree::new(), places: Places::new(flags) }
    }

    fn store(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
        self.places.store(first, last, value)?;
        self.put(Span::new(first, last).ok_or(Refusal::Invalid)?, value)
    }

    fn insert(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
        let inserted =
            Span::new(first, last).ok_or(Refusal::Invalid).and_then(|span| self.put_free(span, value));
        // If the two differ, so do their contents from now on.
        let _ = self.places.insert(first, last, value);
        inserted
    }

    fn erase(&mut self, index: u64) -> Value {
        self.places.erase(index);
        self.take(index)
    }

    fn load(&self, index: u64) -> Value {
        // It does not show reserved entries.
        value(self.shared.read().get(index).flatten().map(Some))
    }

    fn find(&self, index: u64, max: u64, after: bool) -> (Value, u64) {
        let reading = self.shared.read();
        let asked = Span::new(index, max).filter(|_| !after || index != 0);
        let found = asked.and_then(|span| reading.range(span).find(|(_, found)| found.is_some()));
        match found {
            Some((span, found)) => (value(Some(found)), span.last().wrapping_add(1)),
            None => (Value::Null, index),
        }
    }

    fn next(&self, index: u64, max: u64) -> Value {
        let reading = self.shared.read();
        let above = reading.slot_at(index).0.last().checked_add(1);
        value(first(&reading, above.and_then(|above| Span::new(above, max))))
    }

    fn prev(&self, index: u64, min: u64) -> Value {
        let reading = self.shared.read();
        let below = reading.slot_at(index).0.first().checked_sub(1).and_then(|below| Span::new(min, below));
        value(below.and_then(|below| reading.range(below).next_back()).map(|(_, found)| found))
    }

    fn alloc_range(&mut self, end: End, size: u64, min: u64, max: u64, value: Value) -> Result<u64, Refusal> {
        let placed = self.places.alloc_range(end, size, min, max, value)?;
        self.put_free(Span::from_size(placed, size).ok_or(Refusal::Invalid)?, value).map(|()| placed)
    }

    fn alloc_cyclic(&mut self, low: u64, high: u64, next: u64, value: Value) -> Result<Cycled, Refusal> {
        let cycled = self.places.alloc_cyclic(low, high, next, value)?;
        let span = Span::new(cycled.index, cycled.index).ok_or(Refusal::Invalid)?;
        self.put_free(span, value).map(|()| cycled)
    }

    fn cursor(&self, first: u64, last: u64) -> Self::Cursor {
        self.places.cursor(first, last)
    }

    fn view(cursor: &Self::Cursor) -> CursorView {
        Places::view(cursor)
    }

    fn pause(cursor: &mut Self::Cursor) {
        Places::pause(cursor);
    }

    fn reset(cursor: &mut Self::Cursor) {
        Places::reset(cursor);
    }

    fn walk(&self, cursor: &mut Self::Cursor) -> Value {
        let CursorView { index, .. } = Places::view(cursor);
        self.places.walk(cursor);
        self.at(index)
    }

    fn step(&self, cursor: &mut Self::Cursor, step: Step, limit: u64) -> Value {
        let told = self.places.step(cursor, step, limit);
        self.under(cursor, told)
    }

    fn empty_area(
        &self,
        cursor: &mut Self::Cursor,
        end: End,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Refusal> {
        self.places.empty_area(cursor, end, min, max, size)?;
        let reading = self.shared.read();
        let found = Places::view(cursor).span().ok_or(Refusal::Invalid)?;
        if reading.range(found).next().is_some() { Err(Refusal::Exists) } else { Ok(()) }
    }

    fn cursor_store(
        &mut self,
        cursor: &mut Self::Cursor,
        call: StoreCall,
        value: Value,
    ) -> Result<Value, Refusal> {
        let CursorView { index, .. } = Places::view(cursor);
        let span = Places::view(cursor).span();
        let before = self.at(index);
        self.places.cursor_store(cursor, call, value)?;
        self.put(span.ok_or(Refusal::Invalid)?, value)?;
        Ok(if call == StoreCall::Store { before } else { Value::Null })
    }

    fn cursor_erase(&mut self, cursor: &mut Self::Cursor) -> Value {
        let CursorView { index, .. } = Places::view(cursor);
        self.places.cursor_erase(cursor);
        self.take(index)
    }

    fn store_together(&mut self, stores: &[(Span, Value)], commit: bool) -> Result<(), Refusal> {
        self.places.store_together(stores, commit)?;
        let mut all = self.shared.transaction();
        for &(span, value) in stores {
            match entry(value) {
                Some(entry) => all.store(span, entry).map_err(refusal)?,
                None => all.remove_range(span).map_err(|_| Refusal::Busy)?,
            }
        }
        if commit {
            all.commit();
        }
        Ok(())
    }

    fn duplicate(&self) -> Self {
        let copy = Self { shared: MapleTree::new(), places: self.places.duplicate() };
        for (span, found) in self.shared.read().iter() {
            // Only memory can be lacking; the copy's content differs then.
            let _ = copy.shared.insert(span, found);
        }
        copy
    }

    fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    fn entries(&self, visit: &mut dyn FnMut(ContentEntry)) {
        for (span, found) in self.shared.read().iter() {
            visit(ContentEntry { span, value: value(Some(found)) });
        }
    }

    fn nodes_taken(&self) -> u64 {
        self.places.nodes_taken()
    }

    fn bytes(&self) -> usize {
        self.shared.bytes() + self.places.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.places.validate()?;
        self.shared.validate().map_err(|broken| broken.to_string())
    }
}
