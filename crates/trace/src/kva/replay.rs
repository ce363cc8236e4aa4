//! A recorded trace as operations to replay.

use super::{Event, EventKind, Events, Op};
use crate::names::NewNames;
use crate::{TraceError, TraceHeader};
use freehold_units::{Align, Span};
use std::collections::BTreeMap;
use std::path::Path;

/// Events that were not replayed, by kind.
pub type Skipped = BTreeMap<EventKind, u64>;

/// A trace, ready to replay.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The header of the file.
    pub header: TraceHeader,
    /// A span of whole pages that contains every operation.
    pub space: Span,
    /// The operations. The first `initial` ones place the objects that were live at the start.
    pub ops: Vec<Op>,
    /// The time of each operation, in nanoseconds since the start.
    pub at_ns: Vec<u64>,
    /// The number of objects that were live at the start.
    pub initial: usize,
    /// The events that were not replayed.
    pub skipped: Skipped,
}

impl Recording {
    /// Reads the whole file.
    ///
    /// # Errors
    /// Any line is malformed.
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
        let page = Align::new(recording.header.page_bytes);
        let page = page.ok_or_else(|| events.error("the page size is not a power of two"))?;
        let mut hull: Option<Span> = None;
        let (mut names, mut initial) = (NewNames::default(), BTreeMap::new());
        while let Some(event) = events.next().transpose()? {
            let operation = operation(&mut names, &event, page).map_err(|reason| events.error(reason))?;
            let Some(op) = operation else {
                // A free of an object that is not live counts as a free of an unknown object.
                let unseen = matches!(event.kind, EventKind::Free | EventKind::FreeImplied);
                let kind = if unseen { EventKind::FreeUnknown } else { event.kind };
                *recording.skipped.entry(kind).or_insert(0) += 1;
                continue;
            };
            if event.kind == EventKind::Initial {
                if recording.initial < recording.ops.len() {
                    return Err(events.error("an object live at the start, after other events"));
                }
                recording.initial += 1;
                initial_place(&mut initial, event.span).map_err(|reason| events.error(reason))?;
            }
            for span in [event.span, event.window].into_iter().flatten() {
                hull = Some(hull.map_or(span, |hull| cover(hull, span)));
            }
            recording.ops.push(op);
            recording.at_ns.push(event.stamp.at_ns);
        }
        recording.space = hull.and_then(|hull| whole_pages(hull, page)).unwrap_or(Span::ALL);
        Ok(recording)
    }
}

/// The event as an operation; `None` if it is not one, or frees an object that is not live.
fn operation(names: &mut NewNames, event: &Event, page: Align) -> Result<Option<Op>, String> {
    let Some(object) = event.object else { return Ok(None) };
    let mut born = |span: Span| match page.divides(span.size_saturating()) {
        true => names.born(object),
        false => Err(format!("a size of {} bytes is not made of pages", span.size_bytes())),
    };
    match (event.kind, event.span, event.align, event.window) {
        (EventKind::Initial, Some(span), ..) => Ok(Some(Op::alloc_at(born(span)?, span))),
        (EventKind::Alloc, Some(span), Some(align), Some(window)) => {
            let size_bytes = span.size_saturating();
            Ok(Some(Op::Alloc { object: born(span)?, size_bytes, align, window }))
        }
        (EventKind::Free | EventKind::FreeImplied, ..) => {
            Ok(names.freed(object).map(|object| Op::Free { object }))
        }
        _ => Ok(None),
    }
}

/// Takes the place of an object that is live at the start, which no other may have.
fn initial_place(taken: &mut BTreeMap<u64, Span>, span: Option<Span>) -> Result<(), String> {
    let Some(span) = span else { return Ok(()) };
    if let Some((_, other)) =
        taken.range(..=span.last()).next_back().filter(|(_, other)| other.overlaps(span))
    {
        return Err(format!("{span} is live at the start, and so is {other}, which it overlaps"));
    }
    taken.insert(span.first(), span);
    Ok(())
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
