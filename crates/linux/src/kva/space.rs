//! A space of areas whose places the kernel's tree of free blocks finds.
//!
//! ```text
//!   tree    free blocks: where an area goes          RbTree
//!   busy    areas by address, with their values      AddressSpace, whose own search is not asked
//! ```
//!
//! Invariant: K4 the tree's blocks are the gaps between areas.

use super::RbTree;
use super::rbtree::{Block, Placement, Plain, Policy};
use alloc::vec::Vec;
use core::iter::FusedIterator;
use freehold_kva::{
    AddressSpace, AllocError, Broken, FreeError, LayoutError, Region, Regions, Rejected, Request, Stats,
};
use freehold_units::{Align, Probe, Span, check};

/// Hands out areas of a space as Linux's vmalloc does. `V` is what the caller keeps with each area, `P` the talk's wishes that
/// the tree has.
///
/// An area has its guard's addresses, too, as a `vmap_area` has.
#[derive(Clone, Debug)]
pub struct KernelSpace<V = (), P = Plain> {
    tree: RbTree<P>,
    /// Its placement is of no account: each area is given its place.
    busy: AddressSpace<V>,
    placement: Placement,
}

impl<V, P: Policy> KernelSpace<V, P> {
    /// A space of all addresses of `span`. Cost: constant.
    ///
    /// # Errors
    /// As [`AddressSpace::new`].
    pub fn new(span: Span, granule: Align, placement: Placement) -> Result<Self, LayoutError> {
        Self::with_layout(&[span], granule, placement)
    }

    /// A space of several spans, free in the order given, which decides the tree's first shape. Cost: O(log n) for each span.
    ///
    /// # Errors
    /// As [`AddressSpace::with_layout`].
    pub fn with_layout(spans: &[Span], granule: Align, placement: Placement) -> Result<Self, LayoutError> {
        let (&first, others) = spans.split_first().ok_or(LayoutError::Empty)?;
        let mut tree = RbTree::new(granule)?;
        tree.reserve(1)?;
        let busy = AddressSpace::new(first, granule, freehold_kva::Placement::Lowest)?;
        tree.release_span(first, &mut ()).expect("K4: an empty tree has no block");
        let mut space = Self { tree, busy, placement };
        others.iter().try_for_each(|&span| space.add(span))?;
        Ok(space)
    }

    /// Gives the space more addresses to hand out. Cost: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::add`].
    pub fn add(&mut self, span: Span) -> Result<(), LayoutError> {
        self.add_probed(span, &mut ())
    }

    /// [`KernelSpace::add`], with the work counted. Cost: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::add`].
    pub fn add_probed(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), LayoutError> {
        self.tree.reserve(1)?;
        self.busy.add(span)?;
        self.tree.release_span(span, probe).expect("K4: what was added was not free");
        Ok(())
    }

    /// Takes an area for `request` and keeps `value` with it. Returns its usable addresses, without guard.
    ///
    /// # Errors
    /// The value comes back with the reason; nothing was changed. Under [`Placement::Linux`] that may be
    /// [`AllocError::NoSpace`] though something fits.
    ///
    /// # Cost
    /// As the tree's search ([`RbTree::find`]), and O(log n).
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V>> {
        self.alloc_probed(request, value, &mut ())
    }

    /// [`KernelSpace::alloc`], with the tree's work counted. Cost: as [`KernelSpace::alloc`].
    ///
    /// # Errors
    /// As [`KernelSpace::alloc`].
    #[inline]
    pub fn alloc_probed(
        &mut self,
        request: &Request,
        value: V,
        probe: &mut impl Probe,
    ) -> Result<Span, Rejected<V>> {
        match self.prepare(request, probe) {
            Ok((block, place)) => {
                self.busy.alloc_at(place, value)?;
                self.tree.carve_node(block, place, probe);
                Ok(usable(place, request))
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Everything that can fail but for the record of the area: the block, and what to cut from it.
    #[inline]
    fn prepare(&mut self, request: &Request, probe: &mut impl Probe) -> Result<(Block, Span), AllocError> {
        self.tree.reserve(1)?;
        self.search(request, self.placement, probe)
    }

    #[inline]
    fn search(
        &self,
        request: &Request,
        placement: Placement,
        probe: &mut impl Probe,
    ) -> Result<(Block, Span), AllocError> {
        let checked = self.busy.check(request)?;
        self.tree.find_block(placement, &checked, probe).ok_or_else(|| self.busy.refusal(&checked))
    }

    /// Where `request` would go, guard excluded, under `placement`, which need not be the space's own.
    ///
    /// # Errors
    /// As [`KernelSpace::alloc`].
    ///
    /// # Cost
    /// As [`RbTree::find`].
    pub fn find(&self, request: &Request, placement: Placement) -> Result<Span, AllocError> {
        let (_, place) = self.search(request, placement, &mut ())?;
        Ok(usable(place, request))
    }

    /// Takes exactly `span`. Cost: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_at`].
    pub fn alloc_at(&mut self, span: Span, value: V) -> Result<Span, Rejected<V>> {
        if let Err(refused) = self.tree.reserve(1) {
            return Err(Rejected { value, cause: refused.into() });
        }
        self.busy.alloc_at(span, value)?;
        self.take(span, &mut ());
        Ok(span)
    }

    /// Takes every area at one common base, the highest, as [`AddressSpace::alloc_congruent`] does. Counts the tree's work.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_congruent`].
    ///
    /// # Cost
    /// As [`AddressSpace::alloc_congruent`].
    #[doc(alias = "pcpu_get_vm_areas")]
    pub fn alloc_congruent_probed(
        &mut self,
        areas: Vec<(Span, V)>,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Result<u64, Rejected<Vec<(Span, V)>>> {
        if let Err(refused) = self.tree.reserve(areas.len()) {
            return Err(Rejected { value: areas, cause: refused.into() });
        }
        let spans: Vec<Span> = areas.iter().map(|&(area, _)| area).collect();
        let base = self.busy.alloc_congruent(areas, align, window)?;
        for area in spans {
            self.take(area.shifted(base).expect("K4: an area lies in a free block"), probe);
        }
        Ok(base)
    }

    /// Takes a span out of the tree that has become an area's; a block was reserved.
    fn take(&mut self, span: Span, probe: &mut impl Probe) {
        let (block, _) = self.tree.floor(span.first()).expect("K4: every gap between areas is a block");
        self.tree.carve_node(block, span, probe);
    }

    /// Frees the area that starts at `first`. Returns its addresses, the guard's included, and the value. Cost: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::free`]; [`FreeError::OutOfMemory`], as a block that comes back alone takes a node. Nothing was
    /// changed.
    #[doc(alias = "free_vmap_area")]
    pub fn free(&mut self, first: u64) -> Result<(Span, V), FreeError> {
        self.free_probed(first, &mut ())
    }

    /// [`KernelSpace::free`], with the tree's work counted. Cost: O(log n).
    ///
    /// # Errors
    /// As [`KernelSpace::free`].
    #[inline]
    pub fn free_probed(&mut self, first: u64, probe: &mut impl Probe) -> Result<(Span, V), FreeError> {
        self.tree.reserve(1)?;
        let (area, value) = self.busy.free(first)?;
        self.tree.release_span(area, probe).expect("K4: areas and free blocks are apart");
        Ok((area, value))
    }

    /// The area that `address` belongs to. Cost: O(log n).
    #[must_use]
    #[doc(alias = "find_vmap_area")]
    pub fn area_at(&self, address: u64) -> Option<Region<'_, V>> {
        self.busy.region_at(address)
    }

    /// All areas in address order. Cost: O(log n), and constant for each.
    pub fn areas(&self) -> Regions<'_, V> {
        self.busy.regions()
    }

    /// All free blocks in address order. Cost: O(log n), and constant for each.
    pub fn free_blocks(&self) -> impl FusedIterator<Item = Span> {
        self.tree.iter()
    }

    /// The tree of free blocks, to look at. Cost: constant.
    #[must_use]
    pub fn tree(&self) -> &RbTree<P> {
        &self.tree
    }

    /// From the lowest to the highest address that was given to the space. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.busy.span()
    }

    /// The figures of the space. Cost: as [`AddressSpace::stats`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = self.busy.stats();
        stats.free_index_bytes = self.tree.metadata_bytes();
        stats
    }

    /// Checks every invariant of both trees, and that they agree. Cost: linear.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        self.busy.validate()?;
        self.tree.validate()?;
        check(self.tree.iter().eq(self.busy.free_blocks()), "K4", "the blocks are the gaps between areas", 0)
    }
}

/// What a request gets of its area: all but the guard.
#[inline]
fn usable(area: Span, request: &Request) -> Span {
    Span::from_size(area.first(), request.size_bytes).expect("K4: a request has a byte")
}
