//! A space of areas, which allocates with the kernel's tree of free blocks.
//!
//! ```text
//!   free    blocks by address, with maxima: where an area goes      RbTree
//!   busy    areas by address, with the caller's values              BusyTree
//! ```
//!
//! Invariant: K4 the free blocks and the areas are disjoint, and together they cover the layout.

use super::RbTree;
use super::busy::BusyTree;
use super::rbtree::{AddError, Block, Placement, Plain, Policy};
use crate::Error;
use core::iter::FusedIterator;
use freehold_kva::{CheckedRequest, Request};
use freehold_units::{Align, Broken, Probe, Rejected, Span, check};

/// Hands out areas of a space as Linux's vmalloc does. `V` is the value that the caller stores with each area; `P`
/// selects the tree's improvements from the talk.
///
/// An area includes its guard's addresses, as a `vmap_area` does.
#[derive(Clone, Debug)]
pub struct KernelSpace<V = (), P = Plain> {
    pub(super) free: RbTree<P>,
    pub(super) busy: BusyTree<V>,
    /// From the lowest to the highest address of the layout.
    hull: Span,
    total_bytes: u128,
    pub(super) granule: Align,
    placement: Placement,
}

/// The memory that a [`KernelSpace`] holds, in bytes, including spare capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexBytes {
    /// Bytes of the tree of free blocks.
    pub free_index_bytes: usize,
    /// Bytes of the tree of areas, with the values.
    pub busy_index_bytes: usize,
}

impl<V, P: Policy> KernelSpace<V, P> {
    /// A space of all addresses of `span`. Cost: constant.
    ///
    /// # Errors
    /// As [`KernelSpace::add`].
    pub fn new(span: Span, granule: Align, placement: Placement) -> Result<Self, Error> {
        Self::with_layout(&[span], granule, placement)
    }

    /// A space of several spans. They are added in the given order, which decides the tree's initial shape. Cost: O(log
    /// n) for each span.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no span; as [`KernelSpace::add`].
    pub fn with_layout(spans: &[Span], granule: Align, placement: Placement) -> Result<Self, Error> {
        let hull = *spans.first().ok_or(Error::Invalid)?;
        let (free, busy) = (RbTree::new(granule)?, BusyTree::new(granule)?);
        let mut space = Self { free, busy, hull, total_bytes: 0, granule, placement };
        spans.iter().try_for_each(|&span| space.add(span))?;
        Ok(space)
    }

    /// Adds addresses to the space. Cost: O(log n).
    ///
    /// # Errors
    /// [`Error::Invalid`] if `span` does not consist of granules, [`Error::Exists`] if it overlaps the space,
    /// [`Error::NoMemory`]. Nothing was changed.
    pub fn add(&mut self, span: Span) -> Result<(), Error> {
        self.add_probed(span, &mut ())
    }

    /// [`KernelSpace::add`], with the work counted. Cost: O(log n).
    ///
    /// # Errors
    /// As [`KernelSpace::add`].
    pub fn add_probed(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Error> {
        if self.busy.overlaps(span) {
            return Err(Error::Exists);
        }
        self.free.add(span, probe).map_err(|refused| match refused {
            AddError::NotGranular { .. } => Error::Invalid,
            AddError::Overlaps { .. } => Error::Exists,
            AddError::OutOfMemory => Error::NoMemory,
        })?;
        self.hull = self.hull.hull(span);
        self.total_bytes += span.size_bytes();
        Ok(())
    }

    /// Takes an area for `request` and stores `value` with it. Returns its usable addresses, without the guard.
    ///
    /// # Errors
    /// Returns the value with the reason; nothing was changed. [`Error::Invalid`]: a size of 0, a size or guard that is not
    /// a multiple of the granule, both together 2^64 bytes or more, an alignment that is not a power of two, or a window
    /// outside the space.
    /// [`Error::Busy`]: the search found no place, which under [`Placement::Linux`] may happen although a place exists.
    /// [`Error::NoMemory`].
    ///
    /// # Cost
    /// As the tree's search ([`RbTree::find`]), and O(log n).
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&mut self, request: &Request, value: V) -> Result<Span, Rejected<V, Error>> {
        self.alloc_probed(request, value, &mut ())
    }

    /// [`KernelSpace::alloc`], with the work of the tree of free blocks counted. Cost: as [`KernelSpace::alloc`].
    ///
    /// # Errors
    /// As [`KernelSpace::alloc`].
    #[inline]
    pub fn alloc_probed(
        &mut self,
        request: &Request,
        value: V,
        probe: &mut impl Probe,
    ) -> Result<Span, Rejected<V, Error>> {
        match self.prepare(request, probe) {
            Ok((block, area)) => {
                self.free.carve_node(block, area, probe);
                self.busy.insert(area, value);
                Ok(usable(area, request))
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Performs all steps that can fail. Returns the block and the addresses to cut from it.
    #[inline]
    fn prepare(&mut self, request: &Request, probe: &mut impl Probe) -> Result<(Block, Span), Error> {
        self.free.reserve(1)?;
        self.busy.reserve(1)?;
        self.search(request, self.placement, probe)
    }

    #[inline]
    fn search(
        &self,
        request: &Request,
        placement: Placement,
        probe: &mut impl Probe,
    ) -> Result<(Block, Span), Error> {
        let checked = self.check(request).ok_or(Error::Invalid)?;
        self.free.find_block(placement, &checked, probe).ok_or(Error::Busy)
    }

    /// The checked request: its size includes the guard, and its alignment is at least the granule. An invalid request
    /// is an error.
    #[inline]
    fn check(&self, request: &Request) -> Option<CheckedRequest> {
        let &Request { size_bytes, guard_bytes, align_bytes, window, .. } = request;
        let is_granular = self.granule.divides(size_bytes) && self.granule.divides(guard_bytes);
        if size_bytes == 0 || !is_granular || !window.overlaps(self.hull) {
            return None;
        }
        let size_bytes = size_bytes.checked_add(guard_bytes)?;
        Some(CheckedRequest { size_bytes, align: Align::new(align_bytes)?.max(self.granule), window })
    }

    /// The addresses, without guard, that `request` would get under `placement`, which may differ from the space's own.
    ///
    /// # Errors
    /// As [`KernelSpace::alloc`].
    ///
    /// # Cost
    /// As [`RbTree::find`].
    pub fn find(&self, request: &Request, placement: Placement) -> Result<Span, Error> {
        let (_, area) = self.search(request, placement, &mut ())?;
        Ok(usable(area, request))
    }

    /// Frees the area that starts at `first`. Returns its addresses, the guard's included, and the value. Cost: O(log
    /// n).
    ///
    /// # Errors
    /// [`Error::Invalid`] if no area starts there; [`Error::NoMemory`], since a block that merges with no neighbour
    /// takes a node. Nothing was changed.
    #[doc(alias = "free_vmap_area")]
    pub fn free(&mut self, first: u64) -> Result<(Span, V), Error> {
        self.free_probed(first, &mut ())
    }

    /// [`KernelSpace::free`], with the work of the tree of free blocks counted. Cost: as [`KernelSpace::free`].
    ///
    /// # Errors
    /// As [`KernelSpace::free`].
    #[inline]
    pub fn free_probed(&mut self, first: u64, probe: &mut impl Probe) -> Result<(Span, V), Error> {
        self.free.reserve(1)?;
        let (area, value) = self.busy.remove(first).ok_or(Error::Invalid)?;
        self.free.release_span(area, probe).expect("K4: areas and free blocks are disjoint");
        Ok((area, value))
    }

    /// The area that contains `address`, and its value. Cost: O(log n).
    #[must_use]
    #[doc(alias = "find_vmap_area")]
    pub fn area_at(&self, address: u64) -> Option<(Span, &V)> {
        self.busy.area_at(address)
    }

    /// All areas in address order, with their values. Cost: amortized constant for each.
    pub fn areas(&self) -> impl FusedIterator<Item = (Span, &V)> {
        self.busy.iter()
    }

    /// The number of areas. Cost: constant.
    #[must_use]
    pub fn len(&self) -> usize {
        self.busy.len()
    }

    /// Whether there is no area. Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All free blocks in address order. Cost: amortized constant for each.
    pub fn free_blocks(&self) -> impl FusedIterator<Item = Span> {
        self.free.iter()
    }

    /// The tree of free blocks. Cost: constant.
    #[must_use]
    pub fn tree(&self) -> &RbTree<P> {
        &self.free
    }

    /// From the lowest to the highest address of the space, including holes. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.hull
    }

    /// The memory that the space holds. Cost: constant.
    #[must_use]
    pub fn index_bytes(&self) -> IndexBytes {
        let (free_index_bytes, busy_index_bytes) = (self.free.metadata_bytes(), self.busy.metadata_bytes());
        IndexBytes { free_index_bytes, busy_index_bytes }
    }

    /// Checks every invariant of both trees, and that they are disjoint. Cost: O(n log n).
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        self.busy.validate()?;
        self.free.validate()?;
        for block in self.free.iter() {
            check(!self.busy.overlaps(block), "K4", "a free block overlaps no area", block.first())?;
        }
        let spans = self.free.iter().chain(self.areas().map(|(area, _)| area));
        let bytes: u128 = spans.map(Span::size_bytes).sum();
        check(bytes == self.total_bytes, "K4", "free blocks and areas are the layout", self.hull.first())
    }
}

/// The usable addresses of an area: all except the guard.
#[inline]
fn usable(area: Span, request: &Request) -> Span {
    Span::from_size(area.first(), request.size_bytes).expect("K4: a request has a byte")
}
