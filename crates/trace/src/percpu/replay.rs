//! A recorded trace as operations to replay.

use super::{Event, EventKind, Events, Op};
use crate::names::NewNames;
use crate::{TraceError, TraceHeader};
use std::collections::BTreeMap;
use std::path::Path;

/// Events that were not replayed, by kind.
pub type Skipped = BTreeMap<EventKind, u64>;

/// A trace, ready to replay. Files do not list the objects that were live at the start, so a replay starts empty.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The header of the file.
    pub header: TraceHeader,
    /// The operations; objects are named from 0 on, in the order in which they come.
    pub ops: Vec<Op>,
    /// The time of each operation, in nanoseconds since the start.
    pub at_ns: Vec<u64>,
    /// The events that were not replayed.
    pub skipped: Skipped,
}

impl Recording {
    /// Reads the whole file.
    ///
    /// # Errors
    /// Any line is malformed, or an object is allocated while it is live.
    pub fn read(file: &Path) -> Result<Self, TraceError> {
        Self::from_events(Events::open(file)?)
    }

    /// Collects the events. An implied free is replayed like any other.
    ///
    /// # Errors
    /// As [`Recording::read`].
    pub fn from_events(mut events: Events) -> Result<Self, TraceError> {
        let header = events.header().clone();
        let mut recording = Self { header, ops: Vec::new(), at_ns: Vec::new(), skipped: Skipped::new() };
        let mut names = NewNames::default();
        while let Some(event) = events.next().transpose()? {
            match operation(&mut names, &event).map_err(|reason| events.error(reason))? {
                Some(op) => {
                    recording.ops.push(op);
                    recording.at_ns.push(event.stamp.at_ns);
                }
                // A free of an object that is not live counts as a free of an unknown object.
                None => {
                    let unseen = matches!(event.kind, EventKind::Free | EventKind::FreeImplied);
                    let kind = if unseen { EventKind::FreeUnknown } else { event.kind };
                    *recording.skipped.entry(kind).or_insert(0) += 1;
                }
            }
        }
        Ok(recording)
    }
}

/// The event as an operation; `None` if it is not one, or frees an object that is not live.
fn operation(names: &mut NewNames, event: &Event) -> Result<Option<Op>, String> {
    let Some(object) = event.object else { return Ok(None) };
    match (event.kind, event.size_bytes, event.align, event.flags) {
        (EventKind::Alloc, Some(size_bytes), Some(align), Some(flags)) => {
            Ok(Some(Op::Alloc { object: names.born(object)?, size_bytes, align, atomic: flags.atomic }))
        }
        (EventKind::Free | EventKind::FreeImplied, ..) => {
            Ok(names.freed(object).map(|object| Op::Free { object }))
        }
        _ => Ok(None),
    }
}
