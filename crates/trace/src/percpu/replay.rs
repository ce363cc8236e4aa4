//! A recorded trace as operations to replay.

use super::{Event, EventKind, Events, Op};
use crate::{TraceError, TraceHeader};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Events that were not replayed, by kind.
pub type Skipped = BTreeMap<EventKind, u64>;

/// A trace, ready to replay. Objects live at the start of a recording are in no file, so a replay starts empty.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What the file says of itself.
    pub header: TraceHeader,
    /// The operations; objects are named from 0 on, in the order in which they come.
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
        let mut names = Names::default();
        while let Some(event) = events.next().transpose()? {
            match names.operation(&event).map_err(|reason| events.error(reason))? {
                Some(op) => {
                    recording.ops.push(op);
                    recording.at_ns.push(event.stamp.at_ns);
                }
                // A free of an object that never came is one more free of an unknown object.
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

/// The objects that are live, under dense names: a file may name its objects as it likes.
#[derive(Default)]
struct Names {
    live: HashMap<u32, u32>,
    next: u32,
}

impl Names {
    /// The event as an operation; `None` if it is not one, or frees what is not live.
    fn operation(&mut self, event: &Event) -> Result<Option<Op>, String> {
        let Some(object) = event.object else { return Ok(None) };
        match (event.kind, event.size_bytes, event.align, event.flags) {
            (EventKind::Alloc, Some(size_bytes), Some(align), Some(flags)) => {
                let name = self.next;
                self.next = name.checked_add(1).ok_or("more than 2^32 objects")?;
                match self.live.insert(object, name) {
                    None => Ok(Some(Op::Alloc { object: name, size_bytes, align, atomic: flags.atomic })),
                    Some(_) => Err(format!("object {object} is allocated while it is live")),
                }
            }
            (EventKind::Free | EventKind::FreeImplied, ..) => {
                Ok(self.live.remove(&object).map(|object| Op::Free { object }))
            }
            _ => Ok(None),
        }
    }
}
