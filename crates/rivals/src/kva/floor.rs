//! An engine that does no work: what is measured of it is the share of whoever measures.

use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};

/// Hands out addresses and remembers none; says yes to each free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floor {
    next: u64,
}

impl Engine for Floor {
    #[inline]
    fn alloc(&mut self, size_bytes: u64, _: Align, _: Span, _: &mut impl Probe) -> Option<u64> {
        let first = self.next;
        self.next = first.wrapping_add(size_bytes);
        Some(first)
    }

    #[inline]
    fn free(&mut self, _: u64, _: &mut impl Probe) -> bool {
        true
    }

    fn alloc_congruent(
        &mut self,
        areas: &[Span],
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<Option<u64>> {
        Some(self.alloc(areas.len() as u64, align, window, probe))
    }

    fn free_blocks(&self, _: &mut dyn FnMut(Span)) {}

    fn metadata_bytes(&self) -> usize {
        0
    }

    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}
