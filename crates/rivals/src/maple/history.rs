//! Whether what threads read can have been: each read against a model at the moments between its start and its end.
//!
//! ```text
//!   stores    1   2   3   4   5          a read that began when 1 was finished, and ended when 4 had been started, saw the
//!   read        [---------]              map after 1, 2, 3 or 4: its answer is the model's after one of them
//! ```
//!
//! Entries that an iterator yields were each there at one of these moments; those that no store between touches are yielded
//! exactly once, in order.

use super::ListRanges;
use freehold_units::Span;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A store, or a removal without value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The indexes.
    pub over: Span,
    /// What is stored.
    pub value: Option<u64>,
}

/// An entry: its range and its value.
pub type Entry = (Span, u64);

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The value at an index.
    Value(u64, Option<u64>),
    /// The slot that an index is in.
    Slot(u64, Span, Option<u64>),
    /// The entries that have an index within a span, ascending, or descending if `backwards`.
    Entries {
        /// The span.
        within: Span,
        /// From the last to the first.
        backwards: bool,
        /// What was yielded.
        entries: Vec<Entry>,
    },
}

/// A read, and when it was.
#[derive(Clone, Debug)]
pub struct Read {
    /// Changes finished before it began.
    pub after: usize,
    /// Changes started before it ended.
    pub until: usize,
    /// What it saw.
    pub seen: Seen,
}

/// The map as it is after each change.
#[derive(Debug, Default)]
pub struct Model(ListRanges<u64>);

impl Model {
    /// Makes a change.
    pub fn put(&mut self, change: Change) {
        self.0.put(change.over, change.value);
    }

    /// The range that an index is in, with its value if it is an entry.
    pub fn slot(&self, index: u64) -> (Span, Option<u64>) {
        if let Some((first, last, value)) = self.0.holding(index) {
            return (Span::new(first, last).unwrap_or(Span::ALL), Some(value));
        }
        let first = self.0.at_or_below(index).map_or(0, |(_, last, _)| last.saturating_add(1));
        let last = self.0.at_or_above(index).map_or(u64::MAX, |(first, ..)| first.saturating_sub(1));
        (Span::new(first, last).unwrap_or(Span::ALL), None)
    }

    /// The entries that have an index within a span.
    pub fn entries(&self, within: Span) -> impl Iterator<Item = Entry> {
        let entry = |(first, last, value)| Some((Span::new(first, last)?, value));
        self.0.overlapping(within).filter_map(entry)
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Reads that cannot have been.
    pub wrong: u64,
    /// The first that was wrong.
    pub reason: Option<String>,
    /// Reads whose answer was right after another change than the first of theirs: they met a writer.
    pub met: u64,
}

impl Verdict {
    fn reject(&mut self, reason: impl FnOnce() -> String) {
        self.wrong += 1;
        self.reason.get_or_insert_with(reason);
    }
}

/// An iteration that is being judged.
struct Iteration<'a> {
    read: &'a Read,
    /// Entries when it began, and whether a change since touched them.
    before: BTreeMap<Span, (u64, bool)>,
    /// Entries that were there at some moment, with how often they were yielded.
    there: BTreeMap<Entry, u32>,
}

impl<'a> Iteration<'a> {
    fn begin(read: &'a Read, within: Span, model: &Model) -> Self {
        let entries: Vec<Entry> = model.entries(within).collect();
        Self {
            read,
            before: entries.iter().map(|&(span, value)| (span, (value, false))).collect(),
            there: entries.into_iter().map(|entry| (entry, 0)).collect(),
        }
    }

    /// Takes note of a change; the model has it.
    fn note(&mut self, change: Change, model: &Model) {
        let touched = self.before.iter_mut().filter(|(span, _)| span.overlaps(change.over));
        touched.for_each(|(_, (_, is_touched))| *is_touched = true);
        // What is cut ends beside the change.
        let (first, last) = (change.over.first().saturating_sub(1), change.over.last().saturating_add(1));
        let around = Span::new(first, last).unwrap_or(change.over);
        for entry in model.entries(around) {
            self.there.entry(entry).or_default();
        }
    }

    /// What is wrong with it.
    fn end(mut self, backwards: bool, entries: &[Entry]) -> Option<String> {
        let mut last: Option<Span> = None;
        for entry in entries {
            // What was stored meanwhile may reach back over indexes that were passed.
            let goes_on = |last: Span| match backwards {
                true => entry.0.first() < last.first(),
                false => last.last() < entry.0.last(),
            };
            let in_order = last.is_none_or(goes_on);
            if !in_order {
                return Some(format!("{} follows {last:?}", entry.0));
            }
            last = Some(entry.0);
            let Some(yielded) = self.there.get_mut(entry) else {
                return Some(format!("{} with {} was never there", entry.0, entry.1));
            };
            *yielded += 1;
        }
        let untouched = self.before.iter().filter(|(_, (_, is_touched))| !is_touched);
        let mut untouched = untouched.map(|(&span, &(value, _))| (span, value));
        let lost = untouched.find(|entry| self.there.get(entry).is_none_or(|&yielded| yielded != 1))?;
        Some(format!("{} with {}, which nobody touched, was not yielded once", lost.0, lost.1))
    }
}

/// Judges reads of a map that was `model` and got these changes, one after the other. The model has them afterwards.
pub fn judge(model: &mut Model, changes: &[Change], mut reads: Vec<Read>) -> Verdict {
    let mut verdict = Verdict::default();
    reads.sort_by_key(|read| read.after);
    let mut later = reads.iter().peekable();
    let (mut points, mut iterations): (Vec<&Read>, Vec<Iteration>) = (Vec::new(), Vec::new());
    for moment in 0..=changes.len() {
        if let Some(change) = moment.checked_sub(1).and_then(|at| changes.get(at)) {
            model.put(*change);
            iterations.iter_mut().for_each(|iteration| iteration.note(*change, model));
        }
        while let Some(read) = later.next_if(|read| read.after == moment) {
            match &read.seen {
                Seen::Entries { within, .. } => iterations.push(Iteration::begin(read, *within, model)),
                Seen::Value(..) | Seen::Slot(..) => points.push(read),
            }
        }
        points.retain(|read| {
            let found = is_so(&read.seen, model);
            verdict.met += u64::from(found && read.after < moment);
            if !found && read.until <= moment {
                verdict.reject(|| describe(read, model));
            }
            !found && read.until > moment
        });
        for at in (0..iterations.len()).rev() {
            if iterations[at].read.until <= moment {
                let iteration = iterations.swap_remove(at);
                end(iteration, &mut verdict);
            }
        }
    }
    verdict
}

fn end(iteration: Iteration, verdict: &mut Verdict) {
    let read = iteration.read;
    let Seen::Entries { backwards, entries, .. } = &read.seen else { return };
    verdict.met += u64::from(read.after < read.until);
    if let Some(reason) = iteration.end(*backwards, entries) {
        verdict.reject(|| format!("an iterator{}: {reason}", when(read.after..=read.until)));
    }
}

/// Whether the model says so now.
fn is_so(seen: &Seen, model: &Model) -> bool {
    match *seen {
        Seen::Value(index, value) => model.slot(index).1 == value,
        Seen::Slot(index, span, value) => model.slot(index) == (span, value),
        Seen::Entries { .. } => false,
    }
}

fn when(moments: RangeInclusive<usize>) -> String {
    format!(" from change {} to change {}", moments.start(), moments.end())
}

fn describe(read: &Read, model: &Model) -> String {
    let index = match read.seen {
        Seen::Value(index, _) | Seen::Slot(index, ..) => index,
        Seen::Entries { within, .. } => within.first(),
    };
    let (span, value) = model.slot(index);
    let when = when(read.after..=read.until);
    format!("{:?}{when} was never so; at its end it was {span} with {value:?}", read.seen)
}
