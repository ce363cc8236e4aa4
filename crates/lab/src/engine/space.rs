//! Our [`AddressSpace`] as an engine of the lab.

use freehold::kva::{AddressSpace, Placement, Request};
use freehold::units::{Align, Probe, Span};
use freehold_trace::kva::Engine;

/// An address space whose regions carry nothing.
#[derive(Clone, Debug)]
pub struct SpaceEngine {
    /// The space.
    pub space: AddressSpace<()>,
}

impl SpaceEngine {
    /// A space of the given spans, freed in that order.
    ///
    /// # Errors
    /// They are no layout.
    pub fn new(layout: &[Span], granule: Align, placement: Placement) -> Result<Self, String> {
        let space = AddressSpace::with_layout(layout, granule, placement);
        Ok(Self { space: space.map_err(|error| error.to_string())? })
    }
}

/// The engine of a space, whose field `space` has these calls. `$bytes` is the one that says what memory it holds.
macro_rules! drive_space {
    ([$($generics:tt)*] $engine:ty, $bytes:ident) => {
        impl<$($generics)*> Engine for $engine {
            #[inline]
            fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
                let request = Request::new(size_bytes).align(align).window(window);
                Some(self.space.alloc_probed(&request, (), probe).ok()?.first())
            }

            #[inline]
            fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
                self.space.free_probed(first, probe).is_ok()
            }

            fn alloc_congruent(
                &mut self,
                areas: &[Span],
                align: Align,
                window: Span,
                probe: &mut impl Probe,
            ) -> Option<Option<u64>> {
                let areas = areas.iter().map(|&area| (area, ())).collect();
                Some(self.space.alloc_congruent_probed(areas, align, window, probe).ok())
            }

            fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
                self.space.free_blocks().for_each(visit);
            }

            fn metadata_bytes(&self) -> usize {
                let held = self.space.$bytes();
                held.free_index_bytes + held.busy_index_bytes
            }

            fn free_index_bytes(&self) -> Option<usize> {
                Some(self.space.$bytes().free_index_bytes)
            }

            fn duplicate(&self) -> Option<Self> {
                Some(self.clone())
            }

            fn validate(&self) -> Result<(), String> {
                self.space.validate().map_err(|broken| broken.to_string())
            }
        }
    };
}
pub(super) use drive_space;

drive_space!([] SpaceEngine, stats);
