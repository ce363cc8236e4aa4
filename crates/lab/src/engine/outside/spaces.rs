//! Address spaces of processes in one map from outside, each in a part of its indexes.

use super::Library;
use super::ranges::{Crossing, Part};
use freehold::units::Span;
use freehold_harness::outside::Scene;
use freehold_trace::vma::{Footprint, Kind, Kinds, Session, Spaces};

impl Library {
    /// Address spaces whose areas are of these kinds.
    pub(in crate::engine) fn spaces(&self, kinds: Kinds) -> Result<Box<dyn Session>, String> {
        let wire = self.start(&Scene { granule: 1, ..Scene::default() })?;
        Ok(Box::new(Crossing::new(wire, |_| Spaces::<Part>::new(kinds), None)))
    }
}

impl Session for Crossing<Spaces<Part>> {
    fn footprint(&self) -> Footprint {
        Footprint { bytes: self.at.wire.bytes() as u64, ..self.driver.footprint() }
    }

    fn digest(&self) -> u64 {
        self.driver.digest()
    }

    fn visit(&self, space: u32, see: &mut dyn FnMut(Span, &Kind)) {
        self.driver.visit(space, see);
    }
}
