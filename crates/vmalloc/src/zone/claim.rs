//! Free blocks that a purge holds while it decommits them.

use super::Zone;
use crate::mapping::Mapping;
use freehold_kva::pooled::Batch;
use freehold_sys::SysError;
use freehold_units::OutOfMemory;

/// Blocks that a purge holds. If it is dropped, they are free and resident as before.
#[derive(Debug)]
pub(crate) struct Claimed<'a> {
    zone: &'a Zone,
    batch: Batch<'a>,
}

impl Zone {
    /// Claims free blocks that count as at least `counted_bytes`, to decommit them.
    pub(crate) fn claim(&self, counted_bytes: u64) -> Result<Claimed<'_>, OutOfMemory> {
        let positions = match &self.shape {
            Some(shape) => counted_bytes.div_ceil(shape.kept.max(1) as u64),
            None => counted_bytes,
        };
        Ok(Claimed { zone: self, batch: self.space.take_resident(positions)? })
    }

    /// Decommits the pages beside the slots of an open pool.
    pub(crate) fn decommit_edges(&self, mapping: &Mapping) -> Result<(), SysError> {
        self.place.edges().try_for_each(|edge| {
            let len = edge.len();
            // SAFETY:
            // - The bytes beside the slots are nobody's as long as the zone is open.
            // - Parts that are not committed have no pages.
            let mut pages = unsafe { mapping.pages(edge) };
            mapping.decommit(&mut pages, 0..len)
        })
    }
}

impl Claimed<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// The bytes that its blocks count as.
    pub(crate) fn counted_bytes(&self) -> u64 {
        self.zone.counted_bytes(u64::try_from(self.batch.bytes().0).unwrap_or(u64::MAX))
    }

    /// Decommits all blocks, neighbours in one call. If a call fails, all are resident as before.
    pub(crate) fn decommit(self, mapping: &Mapping) -> Result<(), SysError> {
        let mut spans = self.batch.spans().peekable();
        while let Some(mut span) = spans.next() {
            while let Some(next) = spans.next_if(|next| span.touches(*next)) {
                span = span.hull(next);
            }
            let range = self.zone.place.offsets(span);
            let len = range.len();
            // SAFETY:
            // - The batch holds the blocks until it is freed or dropped.
            // - Resident blocks are committed. Guards between them stay guards.
            let mut pages = unsafe { mapping.pages(range) };
            mapping.decommit(&mut pages, 0..len)?;
        }
        drop(spans);
        self.zone.space.give_back(self.batch);
        Ok(())
    }
}
