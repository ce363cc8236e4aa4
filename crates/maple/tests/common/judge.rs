//! A judge of what readers saw beside writers: each answer must be the map's after some number of stores, between those that were
//! finished before the question and those that had begun before the answer. It judges afterwards, by the model.

use super::common::{Model, Slot, change_model};
use freehold_units::Span;
use std::vec::Vec;

/// A store: all that readers see at once.
pub(crate) type Store = Vec<(Span, Option<u32>)>;

/// What a reader saw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    /// The value at an index.
    Value(u64, Option<u32>),
    /// What an index is in: an entry or a gap.
    Slot(u64, Slot),
    /// The entry that an index is in, if it is in one.
    Entry(u64, Option<(Span, u32)>),
    /// All entries.
    All(Vec<(Span, u32)>),
}

/// One answer, and its time: stores that were finished before the question, and those that had begun before the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) finished: u64,
    pub(crate) begun: u64,
    pub(crate) seen: Seen,
}

impl Event {
    fn is_so(&self, model: &Model) -> bool {
        match &self.seen {
            Seen::Value(index, value) => model.at(*index).map(|(_, value)| value) == *value,
            Seen::Slot(index, slot) => model.slot(*index) == *slot,
            Seen::Entry(index, entry) => model.at(*index) == *entry,
            Seen::All(entries) => model.0 == *entries,
        }
    }
}

/// Answers that were never so in their time. `stores` are in the order in which they were made, the first of them number 1.
pub(crate) fn wrong(start: &Model, stores: &[Store], mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_key(|event| std::cmp::Reverse(event.finished));
    let (mut model, mut open, mut wrong) = (start.clone(), Vec::new(), Vec::new());
    for number in 0..=stores.len() as u64 {
        if let Some(at) = number.checked_sub(1) {
            stores[at as usize].iter().for_each(|&(over, value)| change_model(&mut model, over, value));
        }
        while let Some(event) = events.pop_if(|event| event.finished <= number) {
            open.push(event);
        }
        open.retain(|event| !event.is_so(&model));
        wrong.extend(open.extract_if(.., |event| event.begun <= number));
    }
    wrong.append(&mut open);
    wrong.append(&mut events);
    wrong
}
