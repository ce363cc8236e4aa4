//! A broken allocator of address ranges.

use super::{INVALID, LEAKS, LIE, MISALIGNED, REFUSES, SHIFTED, TWICE};
use freehold::units::{Align, Probe, Span};
use freehold_lab::engine::{ENGINES, EngineEntry, KernelEngine, KvaFacts};
use freehold_linux::kva::Placement;
use freehold_trace::kva::{Driver, Engine, Session};

/// A red-black tree that lies once.
pub(crate) struct Liar<const HOW: u8> {
    honest: KernelEngine,
    allocs: u32,
    frees: u32,
    last: Option<u64>,
}

impl<const HOW: u8> Liar<HOW> {
    /// As the list of engines has it.
    fn session(layout: &[Span], granule: Align) -> Result<Box<dyn Session>, String> {
        let honest = KernelEngine::new(layout, granule, Placement::Lowest)?;
        Ok(Box::new(Driver::new(Self { honest, allocs: 0, frees: 0, last: None })))
    }
}

impl<const HOW: u8> Engine for Liar<HOW> {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        self.allocs += 1;
        let lies = self.allocs == LIE;
        if lies && HOW == REFUSES {
            return None;
        }
        let first = self.honest.alloc(size_bytes, align, window, probe)?;
        let last = self.last.replace(first);
        match HOW {
            SHIFTED if lies => Some(first + 4096),
            MISALIGNED if lies => Some(first + 8),
            TWICE if lies => last,
            _ => Some(first),
        }
    }

    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
        self.frees += 1;
        (HOW == LEAKS && self.frees == LIE) || self.honest.free(first, probe)
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.honest.free_blocks(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.honest.metadata_bytes()
    }

    fn validate(&self) -> Result<(), String> {
        if HOW == INVALID && self.allocs > LIE {
            Err("K0: it is a liar".to_owned())
        } else {
            self.honest.validate()
        }
    }
}

/// The liar in the default engine's place.
pub(crate) fn liar<const HOW: u8>() -> EngineEntry {
    ENGINES[0].with(KvaFacts { make: Liar::<HOW>::session, ..ENGINES[0].facts })
}
