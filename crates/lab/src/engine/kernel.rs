//! The kernel's address space as an engine of the lab, and its tree of free blocks under best fit, which the kernel lacks.

use super::space::drive_space;
use freehold::kva::{AddressSpace, Request};
use freehold::units::{Align, Probe, Span};
use freehold_linux::kva::rbtree::{Plain, Policy};
use freehold_linux::kva::{KernelSpace, Placement, RbTree};
use freehold_trace::kva::Engine;

/// An address space by the kernel's tree, whose areas carry nothing.
#[derive(Clone, Debug)]
pub struct KernelEngine<P = Plain> {
    /// The space.
    pub space: KernelSpace<(), P>,
}

impl<P: Policy> KernelEngine<P> {
    /// A space of the given spans, freed in that order.
    ///
    /// # Errors
    /// They are no layout.
    pub fn new(layout: &[Span], granule: Align, placement: Placement) -> Result<Self, String> {
        let space = KernelSpace::with_layout(layout, granule, placement);
        Ok(Self { space: space.map_err(|error| error.to_string())? })
    }
}

drive_space!([P: Policy] KernelEngine<P>, index_bytes);

/// Best fit finds the places, by size; the kernel's tree has the blocks by address.
#[derive(Clone, Debug)]
pub struct BySizeEngine {
    by_size: AddressSpace<()>,
    tree: RbTree,
}

impl BySizeEngine {
    /// A space of the given spans, freed in that order.
    ///
    /// # Errors
    /// They are no layout.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let by_size = AddressSpace::with_layout(layout, granule, freehold::kva::Placement::BestFit);
        let by_size = by_size.map_err(|error| error.to_string())?;
        let mut tree = RbTree::new(granule).map_err(|error| error.to_string())?;
        for &span in layout {
            tree.add(span, &mut ()).map_err(|error| error.to_string())?;
        }
        Ok(Self { by_size, tree })
    }
}

impl Engine for BySizeEngine {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        self.tree.reserve(1).ok()?;
        let request = Request::new(size_bytes).align(align).window(window);
        // What the search finds is counted there, what the tree does with it here.
        let span = self.by_size.alloc_probed(&request, (), probe).ok()?;
        self.tree.remove(span, &mut ()).ok()?;
        Some(span.first())
    }

    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
        let freed = self.tree.reserve(1).ok().and_then(|()| self.by_size.free(first).ok());
        freed.is_some_and(|(span, ())| self.tree.add(span, probe).is_ok())
    }

    fn alloc_congruent(
        &mut self,
        areas: &[Span],
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<Option<u64>> {
        let taken = areas.iter().map(|&area| (area, ())).collect();
        let base = self.by_size.alloc_congruent_probed(taken, align, window, probe).ok();
        let mut areas = areas.iter().filter_map(|area| area.shifted(base?));
        areas.try_for_each(|area| self.tree.remove(area, &mut ()).map(drop)).ok()?;
        Some(base)
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.tree.iter().for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.by_size.stats().busy_index_bytes + self.index_bytes()
    }

    fn free_index_bytes(&self) -> Option<usize> {
        Some(self.index_bytes())
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let whole = self.by_size.validate().and_then(|()| self.tree.validate());
        whole.map_err(|broken| broken.to_string())?;
        let alike = self.tree.iter().eq(self.by_size.free_blocks());
        if alike { Ok(()) } else { Err("K4: the blocks are the gaps between regions".to_owned()) }
    }
}

impl BySizeEngine {
    fn index_bytes(&self) -> usize {
        self.by_size.stats().free_index_bytes + self.tree.metadata_bytes()
    }
}
