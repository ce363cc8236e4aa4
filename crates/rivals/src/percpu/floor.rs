//! An engine that does no work: addresses that go up. Its time is that of whoever measures.

use freehold_trace::percpu::{ChunkKey, Engine, Footprint, Location};
use freehold_units::{Align, Probe};

/// Where the next object goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floor {
    next: u32,
}

impl Engine for Floor {
    #[inline]
    fn alloc(&mut self, size_bytes: u64, _: Align, _: bool, _: &mut impl Probe) -> Option<Location> {
        let offset_bytes = self.next;
        self.next = offset_bytes.wrapping_add(size_bytes as u32);
        Some(Location { chunk: ChunkKey { index: 0, generation: 0 }, offset_bytes })
    }

    #[inline]
    fn free(&mut self, _: Location, _: &mut impl Probe) -> bool {
        true
    }

    fn populated_pages(&self) -> u64 {
        0
    }

    fn footprint(&self) -> Footprint {
        Footprint::default()
    }

    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}
