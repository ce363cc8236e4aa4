//! A recording of kernel areas as the model is driven by it: what was there at the start, and rows in the order of the file.

use freehold::units::{Align, Span};
use freehold_linux::kva::lazy::Choices;
use freehold_trace::kva::{Event, EventKind, Events};
use freehold_trace::{TraceError, TraceHeader};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

const PCPU_CHUNK: &str = "pcpu_get_vm_areas";

/// What a row says.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// An object was allocated there.
    Alloc { object: u32, place: Span, align: Align, window: Span },
    /// An object was freed lazily.
    Free { object: u32 },
    /// Something was freed that no row has allocated, at an address if it is told.
    FreeUnknown { place: Option<Span> },
    /// An object is gone: its address was allocated again.
    Gone { object: u32 },
    /// A purge of so many areas has ended.
    Purge { areas: u64 },
}

/// A row of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) at_ns: u64,
    pub(super) cpu: u32,
    pub(super) task: u32,
    pub(super) what: What,
}

/// A whole recording.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) header: TraceHeader,
    pub(super) page: Align,
    /// All addresses but the first page and the last.
    pub(super) all: Span,
    /// The window of requests that use pools: the largest.
    pub(super) zone: Span,
    /// What lived at the start, with the objects' names, and nodes as far as rows tell them.
    pub(super) live: Vec<(Span, u32, Option<u32>)>,
    /// What was freed and not purged at the start, with its node where that is told.
    pub(super) lazy: Vec<(Span, Option<u32>)>,
    pub(super) rows: Vec<Row>,
    /// The rows that tell the node of an area that was there at the start.
    pub(super) told: HashSet<usize>,
    /// The end of what was used at the start, but for chunks of per-CPU memory, which lie at the end of the zone.
    used: Vec<Span>,
    pub(super) used_until: u64,
    /// Whether the pools were emptied before the start, so that all else was free.
    pub(super) drained: bool,
    /// What the recorded kernel chooses.
    pub(super) choices: Choices,
}

impl History {
    /// Reads the whole file. Cost: 72 bytes of memory for each row.
    ///
    /// # Errors
    /// A line is malformed, there is no allocation, or two areas of the start overlap.
    pub(super) fn read(file: &Path) -> Result<Self, TraceError> {
        Self::from_events(Events::open(file)?)
    }

    pub(super) fn from_events(mut events: Events) -> Result<Self, TraceError> {
        let header = events.header().clone();
        let page = Align::new(header.page_bytes).filter(|page| page.bytes() >= 512);
        let page = page.ok_or_else(|| events.header_error("the page size is not a power of two from 512"))?;
        let choices = choices(&header, page).map_err(|reason| events.header_error(reason))?;
        let drained = header.word("pools") == Some("drained");
        let (live, lazy, rows) = (Vec::new(), Vec::new(), Vec::new());
        let all = Span::new(page.bytes(), u64::MAX - page.bytes()).unwrap_or(Span::ALL);
        let mut history = Self {
            header,
            page,
            all,
            zone: Span::ALL,
            live,
            lazy,
            rows,
            told: HashSet::new(),
            used: Vec::new(),
            used_until: 0,
            drained,
            choices,
        };
        let (mut zone, mut taken): (Option<Span>, _) = (None, BTreeMap::new());
        while let Some(event) = events.next().transpose()? {
            if let Some(span) = event.span
                && !(page.divides(span.first()) && page.divides(span.size_saturating()))
            {
                return Err(events.error(format!("{span} is not made of pages")));
            }
            if event.span.is_some_and(|span| !all.covers(span)) {
                return Err(events.error("an area in the first page of all addresses, or in the last"));
            }
            let whole = event.window.filter(|_| event.kind == EventKind::Alloc);
            zone = [zone, whole].into_iter().flatten().max_by_key(|window| window.size_bytes());
            history.add(&event, &mut taken).map_err(|reason| events.error(reason))?;
        }
        history.zone = zone.ok_or_else(|| events.error("the trace has no allocation"))?;
        history.used_until =
            history.used.iter().filter(|u| history.zone.covers(**u)).map(|u| u.last()).max().unwrap_or(0);
        history.tell_nodes();
        Ok(history)
    }

    /// Who allocated an area before the start is not recorded. Its node is that of the CPU which gets the very same area next: it
    /// can have it from the pool of that node alone.
    fn tell_nodes(&mut self) {
        let mut next: HashMap<Span, (usize, u32)> = HashMap::new();
        for (at, row) in self.rows.iter().enumerate().rev() {
            if let What::Alloc { place, .. } = row.what {
                next.insert(place, (at, row.cpu));
            }
        }
        let starts = self.live.iter_mut().map(|(place, _, node)| (*place, node));
        for (place, node) in starts.chain(self.lazy.iter_mut().map(|(place, node)| (*place, node))) {
            if let Some(&(at, cpu)) = next.get(&place).filter(|_| node.is_none()) {
                *node = Some(cpu);
                self.told.insert(at);
            }
        }
    }

    fn add(&mut self, event: &Event, taken: &mut BTreeMap<u64, Span>) -> Result<(), String> {
        let Event { stamp, kind, object, span, align, window, ref note, .. } = *event;
        let row = |what| Row { at_ns: stamp.at_ns, cpu: stamp.cpu, task: stamp.tid, what };
        match (kind, object, span) {
            (EventKind::Initial, Some(object), Some(place)) => {
                self.is_start(place, taken)?;
                if note != PCPU_CHUNK {
                    self.used.push(place);
                }
                self.live.push((place, object, None));
            }
            (EventKind::InitialLazy, _, Some(place)) => {
                self.is_start(place, taken)?;
                self.used.push(place);
                self.lazy.push((place, note.parse().ok()));
            }
            (EventKind::Alloc, Some(object), Some(place)) => {
                let (align, window) = align.zip(window).ok_or("an allocation lacks alignment or window")?;
                self.rows.push(row(What::Alloc { object, place, align, window }));
            }
            (EventKind::Free, Some(object), _) => self.rows.push(row(What::Free { object })),
            (EventKind::FreeUnknown, _, place) => self.rows.push(row(What::FreeUnknown { place })),
            (EventKind::FreeImplied, Some(object), _) => self.rows.push(row(What::Gone { object })),
            (EventKind::Purge, ..) => {
                let areas = note.split(' ').next().unwrap_or_default();
                let areas = areas.parse().map_err(|_| format!("a purge of {note:?} areas"))?;
                self.rows.push(row(What::Purge { areas }));
            }
            _ => {}
        }
        Ok(())
    }

    fn is_start(&self, place: Span, taken: &mut BTreeMap<u64, Span>) -> Result<(), String> {
        if !self.rows.is_empty() {
            return Err("something that was there at the start, after other events".to_owned());
        }
        let below = taken.range(..=place.last()).next_back().map(|(_, other)| *other);
        if let Some(other) = below.filter(|other| other.overlaps(place)) {
            return Err(format!("{place} was there at the start, and so was {other}, which it overlaps"));
        }
        taken.insert(place.first(), place);
        Ok(())
    }
}

/// What the kernel of a recording chooses: by its release, and its possible and online CPUs.
fn choices(header: &TraceHeader, page: Align) -> Result<Choices, String> {
    let cpus = |name: &str| match header.word(name) {
        Some(word) => word
            .parse::<u32>()
            .ok()
            .filter(|&cpus| cpus > 0)
            .ok_or(format!("{name}={word} is no number of CPUs")),
        None => Ok(header.cpus.max(1)),
    };
    let mut numbers = header.kernel.split(['.', '-', '+']).map(|number| number.parse().ok());
    let version = numbers.next().flatten().zip(numbers.next().flatten());
    let version = version.ok_or_else(|| format!("kernel={} is no release", header.kernel))?;
    Ok(Choices::linux(version, cpus("possible")?, cpus("online")?, page))
}
