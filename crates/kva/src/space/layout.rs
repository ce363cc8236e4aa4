//! Creates a space from the spans it may hand out, and changes them.

use super::AddressSpace;
use super::carved::Carved;
use super::moves::Moves;
use crate::regions::RegionTree;
use crate::{LayoutError, OutOfMemory, Placement};
use freehold_units::{Align, Probe, Span};

impl<V> AddressSpace<V> {
    /// A space of all addresses of `span`.
    ///
    /// Cost: constant.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`] unless `span` consists of whole granules; [`LayoutError::OutOfMemory`].
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement};
    /// use freehold_units::{Align, Span};
    /// let mut whole = AddressSpace::new(Span::ALL, Align::PAGE, Placement::Lowest).unwrap();
    /// whole.alloc_at(Span::new(0x1000, 0x1fff).unwrap(), "page 1").unwrap();
    /// assert_eq!(whole.stats().free_bytes, (1 << 64) - 4096);
    /// ```
    pub fn new(span: Span, granule: Align, placement: Placement) -> Result<Self, LayoutError> {
        Self::with_layout(&[span], granule, placement)
    }

    /// A space of several spans.
    ///
    /// Cost: O(log n) for each span.
    ///
    /// # Errors
    /// As [`AddressSpace::new`]; [`LayoutError::Empty`] for no span, [`LayoutError::Overlap`] if two overlap.
    pub fn with_layout(spans: &[Span], granule: Align, placement: Placement) -> Result<Self, LayoutError> {
        let &first_span = spans.first().ok_or(LayoutError::Empty)?;
        let mut space = Self::bare(first_span, granule, placement)?;
        for &span in spans {
            space.add(span)?;
        }
        Ok(space)
    }

    /// A space without addresses.
    pub(super) fn bare(hull: Span, granule: Align, placement: Placement) -> Result<Self, OutOfMemory> {
        Ok(Self {
            regions: RegionTree::empty(granule)?,
            sizes: None,
            carved: Carved::default(),
            origin: None,
            moves: Moves::default(),
            hull,
            granule,
            placement,
            total_bytes: 0,
            free_bytes: 0,
        })
    }

    /// Adds addresses to the space.
    ///
    /// Cost: O(log n).
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`]; [`LayoutError::Overlap`] with a free block or a region;
    /// [`LayoutError::SubSpace`]; [`LayoutError::OutOfMemory`]. Nothing was changed.
    pub fn add(&mut self, span: Span) -> Result<(), LayoutError> {
        self.add_probed(span, &mut ())
    }

    /// [`AddressSpace::add`], with the work counted.
    ///
    /// Cost: as [`AddressSpace::add`].
    ///
    /// # Errors
    /// As [`AddressSpace::add`].
    pub fn add_probed(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), LayoutError> {
        self.check_layout(span)?;
        if let Some(entry) = self.regions.region_over(span) {
            return Err(LayoutError::Overlap { span, block: entry.taken() });
        }
        self.reserve_regions(1)?;
        self.release_new(span, probe).map_err(|block| LayoutError::Overlap { span, block })?;
        self.hull = self.hull.hull(span);
        self.total_bytes += span.size_bytes();
        Ok(())
    }

    /// Removes free addresses from the space, the inverse of [`AddressSpace::add`]: memory that is unplugged, or a
    /// window that a bridge releases.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`]; [`LayoutError::Occupied`] with the highest region in the way;
    /// [`LayoutError::Outside`]; [`LayoutError::Empty`] if no address would be left; [`LayoutError::SubSpace`];
    /// [`LayoutError::OutOfMemory`]. Nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, LayoutError, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut space = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// let region = space.alloc(&Request::new(0x1000), "stays")?;
    /// space.remove(Span::new(0x8000, 0xffff).unwrap())?;
    /// assert_eq!(space.span(), Span::new(0, 0x7fff).unwrap());
    /// assert_eq!(space.remove(region), Err(LayoutError::Occupied { region }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(&mut self, span: Span) -> Result<(), LayoutError> {
        self.check_layout(span)?;
        if let Some(entry) = self.regions.region_over(span) {
            return Err(LayoutError::Occupied { region: self.place_shown(&entry) });
        }
        self.reserve_regions(1)?;
        let before = self.block_over(span).ok_or(LayoutError::Outside { span, space: self.hull })?;
        if span.size_bytes() == self.total_bytes {
            return Err(LayoutError::Empty);
        }
        self.cut(before, span, &mut ());
        self.regions.remove_span(before, span);
        self.free_bytes -= span.size_bytes();
        self.total_bytes -= span.size_bytes();
        self.hull = self.regions.hull();
        Ok(())
    }

    /// Checks the conditions for any change of the layout.
    fn check_layout(&self, span: Span) -> Result<(), LayoutError> {
        if !self.made_of_granules(span) {
            return Err(LayoutError::NotGranular { span, granule: self.granule });
        }
        if self.is_sub_space() {
            return Err(LayoutError::SubSpace { space: self.hull });
        }
        Ok(())
    }

    /// Makes `span`, which overlaps no region, free. The caller has reserved a region. If it overlaps a free block,
    /// that block is the error and nothing was changed.
    pub(super) fn release_new(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        let block = self.regions.add_span(span)?;
        self.join(block, span, probe);
        self.free_bytes += span.size_bytes();
        Ok(())
    }

    /// Whether a span starts and ends on multiples of the granule.
    pub(super) fn made_of_granules(&self, span: Span) -> bool {
        let ends_whole = span.last().checked_add(1).is_none_or(|end| self.granule.divides(end));
        self.granule.divides(span.first()) && ends_whole
    }
}
