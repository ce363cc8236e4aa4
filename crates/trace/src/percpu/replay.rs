//! A recorded trace as operations to replay.

use super::{Event, EventKind, Events, Op};
use crate::{TraceError, TraceHeader};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Events that were not replayed, by kind.
pub type Skipped = BTreeMap<EventKind, u64>;

/// A trace, ready to replay. Objects live at the start of a recording are in no file, so a replay starts empty.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What the file says of itself.
    pub header: TraceHeader,
    /// The operations; objects are named as in the file, from 1.
    pub ops: Vec<Op>,
    /// When each operation happened, in nanoseconds since the start.
    pub at_ns: Vec<u64>,
    /// What could not be replayed.
    pub skipped: Skipped,
}

impl Recording {
    /// Reads the whole file.
    ///
    /// # Errors
    /// Any line is malformed, an object is allocated twice or freed while it is not live, or there is nothing
    /// to replay.
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
        let mut live = HashSet::new();
        while let Some(event) = events.next().transpose()? {
            match operation(&event) {
                Some(op) => {
                    follow(&mut live, &op).map_err(|reason| events.error(reason))?;
                    recording.ops.push(op);
                    recording.at_ns.push(event.at_ns);
                }
                None => *recording.skipped.entry(event.kind).or_insert(0) += 1,
            }
        }
        if recording.ops.is_empty() {
            return Err(events.error("the trace has nothing to replay"));
        }
        Ok(recording)
    }
}

fn operation(event: &Event) -> Option<Op> {
    let object = event.object?;
    match (event.kind, event.size_bytes, event.align, event.flags) {
        (EventKind::Alloc, Some(size_bytes), Some(align), Some(flags)) => {
            Some(Op::Alloc { object, size_bytes, align, atomic: flags.atomic })
        }
        (EventKind::Free | EventKind::FreeImplied, ..) => Some(Op::Free { object }),
        _ => None,
    }
}

fn follow(live: &mut HashSet<u32>, op: &Op) -> Result<(), String> {
    match op {
        Op::Alloc { object, .. } if !live.insert(*object) => {
            Err(format!("object {object} is allocated while it is live"))
        }
        Op::Free { object } if !live.remove(object) => {
            Err(format!("object {object} is freed, but is not live"))
        }
        _ => Ok(()),
    }
}
