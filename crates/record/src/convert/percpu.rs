//! Per-CPU objects: which place of which chunk holds which object.

use super::Rows;
use crate::Error;
use crate::event::{Event, What};
use crate::snapshot::Snapshots;
use freehold_trace::Stamp;
use freehold_trace::percpu::{AllocFlags, Event as Row, EventKind};
use freehold_units::Align;
use std::collections::HashMap;

struct State {
    rows: Rows,
    /// Numbers of chunks by address.
    chunks: HashMap<u64, u32>,
    next_chunk: u32,
    /// Objects by chunk and place.
    live: HashMap<(u32, u64), u32>,
    objects: u32,
    allocs: u64,
    frees: u64,
}

/// Writes the rows.
pub(super) fn convert(
    snapshots: &Snapshots,
    events: impl Iterator<Item = Result<Event, Error>>,
    rows: Rows,
) -> Result<Rows, Error> {
    let (chunks, live) = (HashMap::new(), HashMap::new());
    let mut state = State { rows, chunks, next_chunk: 0, live, objects: 0, allocs: 0, frees: 0 };
    for event in events {
        let event = event?;
        let stamp = state.rows.take(&event)?;
        state.follow(stamp, &event.what)?;
    }
    if let (Some(before), Some(after)) = (snapshots.start.objects, snapshots.end.objects) {
        let allocs = after.0.saturating_sub(before.0);
        let frees = after.1.saturating_sub(before.1);
        let differences = allocs.abs_diff(state.allocs) + frees.abs_diff(state.frees);
        state.rows.summary.differences = Some(differences);
    }
    Ok(state.rows)
}

fn row(stamp: Stamp, kind: EventKind) -> Row {
    let (object, chunk, offset_bytes, size_bytes, align) = (None, None, None, None, None);
    let (flags, charged_bytes, site) = (None, None, String::new());
    Row { stamp, kind, object, chunk, offset_bytes, size_bytes, align, flags, charged_bytes, site }
}

impl State {
    fn chunk(&mut self, base: u64) -> u32 {
        *self.chunks.entry(base).or_insert_with(|| {
            self.next_chunk += 1;
            self.next_chunk - 1
        })
    }

    fn follow(&mut self, stamp: Stamp, what: &What) -> Result<(), Error> {
        match *what {
            What::ObjectAlloc { .. } => self.alloc(stamp, what),
            What::ObjectFree { base, offset } => {
                self.frees += 1;
                let chunk = self.chunk(base);
                let object = self.live.remove(&(chunk, offset));
                self.rows.summary.unknown += u64::from(object.is_none());
                let kind = if object.is_some() { EventKind::Free } else { EventKind::FreeUnknown };
                let (chunk, offset_bytes) = (Some(chunk), Some(offset));
                self.rows.row(&Row { object, chunk, offset_bytes, ..row(stamp, kind) })
            }
            What::ObjectFail { size, align, reserved, atomic } => self.rows.row(&Row {
                size_bytes: Some(size),
                align: Align::new(align),
                flags: Some(AllocFlags { reserved, atomic, accounted: false }),
                ..row(stamp, EventKind::Failed)
            }),
            What::Chunk { base, created: true } => {
                self.chunks.remove(&base);
                let chunk = Some(self.chunk(base));
                self.rows.row(&Row { chunk, ..row(stamp, EventKind::ChunkCreated) })
            }
            What::Chunk { base, created: false } => {
                let chunk = Some(self.chunk(base));
                self.chunks.remove(&base);
                self.rows.row(&Row { chunk, ..row(stamp, EventKind::ChunkDestroyed) })
            }
            _ => {
                self.rows.other(what);
                Ok(())
            }
        }
    }

    fn alloc(&mut self, stamp: Stamp, what: &What) -> Result<(), Error> {
        let What::ObjectAlloc { base, offset, size, align, reserved, atomic, accounted, bytes, ref site } =
            *what
        else {
            return Ok(());
        };
        self.allocs += 1;
        let chunk = self.chunk(base);
        let (chunk_is, offset_bytes) = (Some(chunk), Some(offset));
        if let Some(object) = self.live.remove(&(chunk, offset)) {
            self.rows.summary.implied_frees += 1;
            let implied = row(Stamp { tid: 0, ..stamp }, EventKind::FreeImplied);
            self.rows.row(&Row { object: Some(object), chunk: chunk_is, offset_bytes, ..implied })?;
        }
        self.objects += 1;
        self.live.insert((chunk, offset), self.objects);
        self.rows.row(&Row {
            object: Some(self.objects),
            chunk: chunk_is,
            offset_bytes,
            size_bytes: Some(size),
            align: Align::new(align),
            flags: Some(AllocFlags { reserved, atomic, accounted: accounted.unwrap_or(false) }),
            charged_bytes: bytes,
            site: site.as_deref().unwrap_or_default().to_owned(),
            ..row(stamp, EventKind::Alloc)
        })
    }
}
