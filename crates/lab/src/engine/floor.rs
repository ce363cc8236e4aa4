//! The engine that does no work: what is measured of it is the lab's own share of every figure.

use super::list::{boxed, quick};
use super::{EngineEntry, Listed, Takes};
use freehold::units::{Align, Probe, Span};
use freehold_trace::kva::Engine;

/// The floor of the kva family; beside the list, not in it.
pub const FLOOR: EngineEntry = Listed::new(
    "floor",
    "does no work: addresses one behind the other, whatever is asked, and nothing kept of what is live",
    quick(Takes::Any, |_, _| boxed(Ok(Floor::default()))),
);

/// Hands out addresses and remembers none; says yes to each free.
#[derive(Clone, Copy, Debug, Default)]
struct Floor {
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
