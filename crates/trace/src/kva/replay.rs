//! A recorded trace as operations to replay.

use super::{Event, EventKind, Events, Op};
use crate::{TraceError, TraceHeader};
use freehold_units::{Align, Span};
use std::collections::BTreeMap;
use std::path::Path;

/// Events that were not replayed, by kind.
pub type Skipped = BTreeMap<EventKind, u64>;

/// A trace, ready to replay.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What the file says of itself.
    pub header: TraceHeader,
    /// Everything that any operation may touch, in whole pages.
    pub space: Span,
    /// The first `initial` operations put the objects live at the start where they were.
    pub ops: Vec<Op>,
    /// When each operation happened, in nanoseconds since the start.
    pub at_ns: Vec<u64>,
    /// The number of operations that set up what was live at the start.
    pub initial: usize,
    /// What could not be replayed.
    pub skipped: Skipped,
}

impl Recording {
    /// Reads the whole file.
    ///
    /// # Errors
    /// Any line is malformed, or there is nothing to replay.
    pub fn read(file: &Path) -> Result<Self, TraceError> {
        Self::from_events(Events::open(file)?)
    }

    /// Collects the events. Frees take effect at once: what Linux does lazily is counted, not imitated.
    ///
    /// # Errors
    /// As [`Recording::read`].
    pub fn from_events(mut events: Events) -> Result<Self, TraceError> {
        let header = events.header().clone();
        let mut recording = Self {
            header,
            space: Span::ALL,
            ops: Vec::new(),
            at_ns: Vec::new(),
            initial: 0,
            skipped: Skipped::new(),
        };
        let mut hull: Option<Span> = None;
        while let Some(event) = events.next().transpose()? {
            match operation(&event) {
                Some(op) => {
                    if event.kind == EventKind::Initial {
                        recording.initial += 1;
                    }
                    for span in [event.span, event.window].into_iter().flatten() {
                        hull = Some(hull.map_or(span, |hull| cover(hull, span)));
                    }
                    recording.ops.push(op);
                    recording.at_ns.push(event.at_ns);
                }
                None => *recording.skipped.entry(event.kind).or_insert(0) += 1,
            }
        }
        let page = Align::new(recording.header.page_bytes).unwrap_or(Align::PAGE);
        recording.space = hull
            .and_then(|hull| whole_pages(hull, page))
            .ok_or_else(|| events.error("the trace has nothing to replay"))?;
        Ok(recording)
    }
}

fn operation(event: &Event) -> Option<Op> {
    let object = event.object?;
    match (event.kind, event.span, event.align, event.window) {
        (EventKind::Initial, Some(span), ..) => Some(Op::alloc_at(object, span)),
        (EventKind::Alloc, Some(span), Some(align), Some(window)) => {
            Some(Op::Alloc { object, size_bytes: span.size_saturating(), align, window })
        }
        (EventKind::Free | EventKind::FreeImplied, ..) => Some(Op::Free { object }),
        _ => None,
    }
}

fn cover(a: Span, b: Span) -> Span {
    Span::new(a.first().min(b.first()), a.last().max(b.last())).unwrap_or(a)
}

/// The pages that lie wholly inside.
fn whole_pages(span: Span, page: Align) -> Option<Span> {
    let first = page.up(span.first())?;
    let last = match span.last().checked_add(1) {
        Some(end) => page.down(end).checked_sub(1)?,
        None => u64::MAX,
    };
    Span::new(first, last)
}
