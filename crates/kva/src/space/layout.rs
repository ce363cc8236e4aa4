//! Making a space out of the spans it may hand out.

use super::AddressSpace;
use super::carved::{Carved, Origin};
use crate::regions::RegionTree;
use crate::{FreeIndex, LayoutError, OutOfMemory};
use freehold_units::{Align, Probe, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// A space of all addresses of `span`.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`] unless `span` is made of granules; [`LayoutError::OutOfMemory`].
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement};
    /// use freehold_units::{Align, Probe, Span};
    /// let whole = AddressSpace::<()>::new(Span::ALL, Align::PAGE, Placement::Lowest).unwrap();
    /// assert_eq!(whole.stats().free_bytes, 1 << 64);
    /// ```
    pub fn new(span: Span, granule: Align, placement: I::Placement) -> Result<Self, LayoutError> {
        Self::with_layout(&[span], granule, placement)
    }

    /// A space of several spans, free in the order given (which decides the first shape of a tree).
    ///
    /// # Errors
    /// As [`AddressSpace::new`]; [`LayoutError::Empty`] for no span, [`LayoutError::Overlap`] if two overlap.
    pub fn with_layout(spans: &[Span], granule: Align, placement: I::Placement) -> Result<Self, LayoutError> {
        let &first_span = spans.first().ok_or(LayoutError::Empty)?;
        let mut space = Self::bare(first_span, granule, placement)?;
        for &span in spans {
            space.add(span)?;
        }
        Ok(space)
    }

    /// A space with no address yet.
    pub(super) fn bare(hull: Span, granule: Align, placement: I::Placement) -> Result<Self, OutOfMemory> {
        Ok(Self {
            regions: RegionTree::empty(granule, I::USES_BOUNDS),
            index: I::empty(granule)?,
            carved: Carved::default(),
            origin: Origin::NONE,
            hull,
            granule,
            placement,
            total_bytes: 0,
            free_bytes: 0,
        })
    }

    /// Gives the space more addresses to hand out.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`]; [`LayoutError::Overlap`] with a free block or a region;
    /// [`LayoutError::SubSpace`]; [`LayoutError::OutOfMemory`]. Nothing was changed.
    pub fn add(&mut self, span: Span) -> Result<(), LayoutError> {
        self.add_probed(span, &mut ())
    }

    /// [`AddressSpace::add`], with the work counted.
    ///
    /// # Errors
    /// As [`AddressSpace::add`].
    pub fn add_probed(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), LayoutError> {
        if !self.made_of_granules(span) {
            return Err(LayoutError::NotGranular { span, granule: self.granule });
        }
        if self.is_sub_space() {
            return Err(LayoutError::SubSpace { space: self.hull });
        }
        if let Some(entry) = self.regions.region_over(span) {
            return Err(LayoutError::Overlap { span, block: entry.taken });
        }
        self.reserve(1)?;
        self.release_new(span, probe).map_err(|block| LayoutError::Overlap { span, block })?;
        self.hull = self.hull.hull(span);
        self.total_bytes += span.size_bytes();
        Ok(())
    }

    /// Makes `span` free, which overlaps no region; a region was reserved. A free block that it overlaps is the error,
    /// and nothing was changed.
    pub(super) fn release_new(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        let block = self.regions.add_span(span)?;
        self.index.release(&self.regions, span, block, probe);
        self.free_bytes += span.size_bytes();
        Ok(())
    }

    /// Whether a span starts and ends on multiples of the granule.
    pub(super) fn made_of_granules(&self, span: Span) -> bool {
        let ends_whole = span.last().checked_add(1).is_none_or(|end| self.granule.divides(end));
        self.granule.divides(span.first()) && ends_whole
    }
}
