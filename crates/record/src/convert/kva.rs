//! Kernel virtual areas: which are live, which are freed lazily, and what the snapshot adds.

use super::Rows;
use crate::Error;
use crate::event::{Event, What};
use crate::folder::Meta;
use crate::snapshot::{Area, Snapshots};
use freehold_trace::Stamp;
use freehold_trace::kva::{Event as Row, EventKind};
use freehold_units::{Align, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Events that happen while the first snapshot is taken, at most.
const MOST_DURING: usize = 1 << 16;
/// What asks for areas of per-CPU chunks, for which there is no event.
const CHUNKS: &str = "pcpu_get_vm_areas";

/// An area that is live.
#[derive(Clone, Copy)]
struct Live {
    object: u32,
    size: u64,
}

struct State {
    rows: Rows,
    live: HashMap<u64, Live>,
    objects: u32,
    /// Lazily freed areas that no purge has taken; not known without a snapshot.
    outstanding: Option<u64>,
    /// Addresses of areas that changed while the last snapshot was taken.
    changed: BTreeSet<u64>,
    odd_purges: u64,
}

/// Writes the rows.
pub(super) fn convert(
    snapshots: &Snapshots,
    meta: &Meta,
    mut events: impl Iterator<Item = Result<Event, Error>>,
    rows: Rows,
) -> Result<Rows, Error> {
    let (live, changed) = (HashMap::new(), BTreeSet::new());
    let mut state = State { rows, live, objects: 0, outstanding: None, changed, odd_purges: 0 };
    let mut during = VecDeque::new();
    if let Some(areas) = &snapshots.start.areas {
        // What happened before the snapshot is in it; what happened while it was taken is undone in it.
        let (begin, end) = meta.snapshot_start.unwrap_or((0, 0));
        let mut early = 0u64;
        for event in events.by_ref() {
            let event = event?;
            if event.at < begin {
                early += 1;
                continue;
            }
            let ends = event.at > end || during.len() >= MOST_DURING;
            during.push_back(event);
            if ends {
                break;
            }
        }
        if early > 0 {
            state.rows.warn(format!("{early} events before the first snapshot are in it already"));
        }
        if during.len() > MOST_DURING && during.back().is_some_and(|event| event.at <= end) {
            state.rows.warn(format!(
                "more than {MOST_DURING} events happened during the first snapshot: what is live in it may not have been so before"
            ));
        }
        state.initial(areas, during.iter().filter(|event| event.at <= end))?;
    } else {
        state
            .rows
            .warn("no snapshot of areas before the events (vmallocinfo): what was live then is not known");
    }
    for event in during.into_iter().map(Ok).chain(events) {
        let event = event?;
        let stamp = state.rows.take(&event)?;
        if meta.snapshot_end.is_some_and(|(begin, _)| event.at >= begin) {
            state.changed.extend(address(&event.what));
        }
        state.follow(stamp, &event.what)?;
    }
    if state.odd_purges > 0 {
        state.rows.warn(format!(
            "{} purges took more areas than were freed: they are marked unsure",
            state.odd_purges
        ));
    }
    if let Some(areas) = &snapshots.end.areas {
        state.rows.summary.differences = Some(state.differences(areas));
    }
    Ok(state.rows)
}

/// The address of the area that an event is about.
fn address(what: &What) -> Option<u64> {
    match *what {
        What::AreaAlloc { addr, failed: false, .. } | What::AreaFree { addr, .. } => Some(addr),
        _ => None,
    }
}

/// A row without an area.
fn row(stamp: Stamp, kind: EventKind) -> Row {
    let (object, address, size_bytes, span) = (None, None, None, None);
    Row { stamp, kind, object, address, size_bytes, span, align: None, window: None, note: String::new() }
}

impl State {
    /// Writes what was live and lazily freed at the start: the snapshot without what happened while it was taken.
    fn initial<'a>(&mut self, areas: &[Area], during: impl Iterator<Item = &'a Event>) -> Result<(), Error> {
        // The first event of an address tells its state at the start.
        let mut first: BTreeMap<u64, bool> = BTreeMap::new();
        for event in during {
            if let Some(address) = address(&event.what) {
                first.entry(address).or_insert(matches!(event.what, What::AreaFree { .. }));
            }
        }
        let stamp = Stamp { at_ns: 0, cpu: 0, tid: 0 };
        let (mut node, mut before, mut lazy_count) = (0u32, 0, 0u64);
        for area in areas {
            let freed_first = first.get(&area.start).copied();
            let is_lazy = area.lazy && freed_first != Some(true);
            let sized = |kind| Row {
                address: Some(area.start),
                size_bytes: Some(area.size),
                span: Span::from_size(area.start, area.size),
                ..row(stamp, kind)
            };
            if is_lazy {
                // They come node by node, by address within a node.
                node += u32::from(area.start < before);
                before = area.start;
                lazy_count += 1;
                self.rows.row(&Row { note: node.to_string(), ..sized(EventKind::InitialLazy) })?;
            } else if freed_first != Some(false) && !self.live.contains_key(&area.start) {
                let object = self.born(area.start, area.size);
                let note = area.caller.clone();
                self.rows.row(&Row { object: Some(object), note, ..sized(EventKind::Initial) })?;
            }
        }
        self.outstanding = Some(lazy_count);
        Ok(())
    }

    fn born(&mut self, address: u64, size: u64) -> u32 {
        self.objects += 1;
        self.live.insert(address, Live { object: self.objects, size });
        self.objects
    }

    fn follow(&mut self, stamp: Stamp, what: &What) -> Result<(), Error> {
        match *what {
            What::AreaAlloc { addr, size, align, vstart, vend, failed } => {
                let align = Align::new(align);
                let window = vend.checked_sub(1).and_then(|last| Span::new(vstart, last));
                if failed {
                    let asked = row(stamp, EventKind::Failed);
                    return self.rows.row(&Row { size_bytes: Some(size), align, window, ..asked });
                }
                if let Some(Live { object, .. }) = self.live.remove(&addr) {
                    self.rows.summary.implied_frees += 1;
                    let implied = row(Stamp { tid: 0, ..stamp }, EventKind::FreeImplied);
                    self.rows.row(&Row { object: Some(object), address: Some(addr), ..implied })?;
                }
                let object = Some(self.born(addr, size));
                let (address, size_bytes, span) = (Some(addr), Some(size), Span::from_size(addr, size));
                let placed = row(stamp, EventKind::Alloc);
                self.rows.row(&Row { object, address, size_bytes, span, align, window, ..placed })
            }
            What::AreaFree { addr, nr_lazy, nr_lazy_max } => {
                let object = self.live.remove(&addr).map(|live| live.object);
                self.outstanding = self.outstanding.map(|areas| areas + 1);
                self.rows.summary.unknown += u64::from(object.is_none());
                let kind = if object.is_some() { EventKind::Free } else { EventKind::FreeUnknown };
                let note = format!("{nr_lazy}/{nr_lazy_max}");
                self.rows.row(&Row { object, address: Some(addr), note, ..row(stamp, kind) })
            }
            What::AreaPurge { start, end, purged } => {
                let fits = self.outstanding.is_none_or(|areas| purged <= areas);
                self.outstanding = self.outstanding.map(|areas| areas.saturating_sub(purged));
                self.odd_purges += u64::from(!fits);
                let size_bytes = end.checked_sub(start).filter(|size| *size > 0);
                let address = size_bytes.map(|_| start);
                let span = size_bytes.and_then(|size| Span::from_size(start, size));
                let note = format!("{purged}{}", if fits { "" } else { " unsure" });
                self.rows.row(&Row { address, size_bytes, span, note, ..row(stamp, EventKind::Purge) })
            }
            What::Chunk { base, created } => {
                let kind = if created { EventKind::ChunkCreated } else { EventKind::ChunkDestroyed };
                self.rows.row(&Row { address: Some(base), ..row(stamp, kind) })
            }
            What::Work { start, ref function } => {
                let moment = if start { "start" } else { "end" };
                // The first node of a large purge is done by a helper.
                let helper = if &**function == "purge_vmap_node" { " helper" } else { "" };
                let note = format!("{moment}{helper}");
                self.rows.row(&Row { note, ..row(stamp, EventKind::PurgeWork) })
            }
            _ => {
                self.rows.other(what);
                Ok(())
            }
        }
    }

    /// How many areas differ from the last snapshot, of those that did not change while it was taken.
    fn differences(&self, areas: &[Area]) -> u64 {
        let settled = |address: &u64| !self.changed.contains(address);
        let is_live = |area: &&Area| !area.lazy && area.caller != CHUNKS;
        let snapshot: HashMap<u64, u64> =
            areas.iter().filter(is_live).map(|area| (area.start, area.size)).collect();
        // Chunks that were there from the start are in both; without events, neither counts.
        let chunks: BTreeSet<u64> =
            areas.iter().filter(|area| area.caller == CHUNKS).map(|area| area.start).collect();
        let ours = self.live.iter().filter(|(address, live)| {
            settled(address) && !chunks.contains(address) && snapshot.get(address) != Some(&live.size)
        });
        let theirs = snapshot.keys().filter(|address| settled(address) && !self.live.contains_key(address));
        (ours.count() + theirs.count()) as u64
    }
}
