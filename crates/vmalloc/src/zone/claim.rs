//! Free blocks that a purge holds while it gives their pages back.

use super::Zone;
use crate::mapping::Mapping;
use freehold_kva::pooled::Batch;
use freehold_sys::SysError;
use freehold_units::OutOfMemory;

/// Blocks that a purge holds. Dropped, they are free and resident as before.
#[derive(Debug)]
pub(crate) struct Claimed<'a> {
    zone: &'a Zone,
    batch: Batch<'a>,
}

impl Zone {
    /// Claims free blocks that count as `counted_bytes` or more, to give their pages back.
    pub(crate) fn claim(&self, counted_bytes: u64) -> Result<Claimed<'_>, OutOfMemory> {
        let positions = match &self.shape {
            Some(shape) => counted_bytes.div_ceil(shape.kept.max(1) as u64),
            None => counted_bytes,
        };
        Ok(Claimed { zone: self, batch: self.space.take_resident(positions)? })
    }

    /// Gives the pages beside the slots of an open pool back.
    pub(crate) fn decommit_edges(&self, mapping: &Mapping) -> Result<(), SysError> {
        self.place.edges().try_for_each(|edge| {
            let len = edge.len();
            // SAFETY: what lies beside the slots is nobody's as long as the zone is open. What is not committed has no pages.
            let mut pages = unsafe { mapping.pages(edge) };
            mapping.decommit(&mut pages, 0..len)
        })
    }
}

impl Claimed<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// What its blocks count as.
    pub(crate) fn counted_bytes(&self) -> u64 {
        self.zone.counted_bytes(u64::try_from(self.batch.bytes().0).unwrap_or(u64::MAX))
    }

    /// Gives the pages of all blocks back, neighbours at once. If a call fails, all are resident as before.
    pub(crate) fn decommit(self, mapping: &Mapping) -> Result<(), SysError> {
        let mut spans = self.batch.spans().peekable();
        while let Some(mut span) = spans.next() {
            while let Some(next) = spans.next_if(|next| span.touches(*next)) {
                span = span.hull(next);
            }
            let range = self.zone.place.offsets(span);
            let len = range.len();
            // SAFETY:
            // - The batch holds the blocks until it is given back or dropped.
            // - What is resident is committed. Guards between them stay guards.
            let mut pages = unsafe { mapping.pages(range) };
            mapping.decommit(&mut pages, 0..len)?;
        }
        drop(spans);
        self.zone.space.give_back(self.batch);
        Ok(())
    }
}
