//! A broken allocator of per-CPU objects.

use super::{INVALID, LEAKS, LIE, MISALIGNED, OUTSIDE, REFUSES, SHIFTED, TWICE};
use freehold::percpu::{Config, FirstFit};
use freehold::units::{Align, Probe};
use freehold_lab::engine::percpu::{ChunkSetEngine, ENGINES, EngineEntry, PercpuFacts};
use freehold_trace::percpu::{Driver, Engine, Footprint, Location, Session};

/// The default engine, but it lies once.
pub(crate) struct Liar<const HOW: u8> {
    honest: ChunkSetEngine<FirstFit>,
    unit_bytes: u32,
    allocs: u32,
    frees: u32,
    last: Option<Location>,
}

impl<const HOW: u8> Liar<HOW> {
    /// As the list of engines has it.
    fn session(config: &Config, balances: bool) -> Result<Box<dyn Session>, String> {
        let honest = ChunkSetEngine::new(config)?;
        let unit_bytes = config.unit_bytes;
        Ok(Box::new(Driver::new(Self { honest, unit_bytes, allocs: 0, frees: 0, last: None }, balances)))
    }
}

impl<const HOW: u8> Engine for Liar<HOW> {
    fn alloc(
        &mut self,
        size_bytes: u64,
        align: Align,
        atomic: bool,
        probe: &mut impl Probe,
    ) -> Option<Location> {
        self.allocs += 1;
        let lies = self.allocs == LIE;
        if lies && HOW == REFUSES {
            return None;
        }
        let at = self.honest.alloc(size_bytes, align, atomic, probe)?;
        let last = self.last.replace(at);
        let more = |bytes: u32| Some(Location { offset_bytes: at.offset_bytes + bytes, ..at });
        match HOW {
            SHIFTED if lies => more(8),
            MISALIGNED if lies => more(2),
            OUTSIDE if lies => Some(Location { offset_bytes: self.unit_bytes, ..at }),
            TWICE if lies => last,
            _ => Some(at),
        }
    }

    fn free(&mut self, at: Location, probe: &mut impl Probe) -> bool {
        self.frees += 1;
        (HOW == LEAKS && self.frees == LIE) || self.honest.free(at, probe)
    }

    fn balance(&mut self) {
        self.honest.balance();
    }

    fn populated_pages(&self) -> u64 {
        self.honest.populated_pages()
    }

    fn footprint(&self) -> Footprint {
        self.honest.footprint()
    }

    fn validate(&self) -> Result<(), String> {
        if HOW == INVALID && self.allocs > LIE {
            Err("P0: it is a liar".to_owned())
        } else {
            self.honest.validate()
        }
    }
}

/// The liar in the default engine's place.
pub(crate) fn percpu_liar<const HOW: u8>() -> EngineEntry {
    ENGINES[0].with(PercpuFacts { make: Liar::<HOW>::session, ..ENGINES[0].facts })
}
