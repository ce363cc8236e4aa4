//! Making a space out of the spans it may hand out.

use super::AddressSpace;
use crate::busy::BusyIndex;
use crate::{FreeIndex, LayoutError};
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
        let mut space = Self {
            free: I::new(granule)?,
            busy: BusyIndex::new()?,
            hull: first_span,
            granule,
            placement,
            total_bytes: 0,
            free_bytes: 0,
        };
        for &span in spans {
            space.add(span)?;
        }
        Ok(space)
    }

    /// Gives the space more addresses to hand out.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`]; [`LayoutError::Overlap`] with a free block or a region;
    /// [`LayoutError::OutOfMemory`]. Nothing was changed.
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
        let below = self.busy.at_or_below(span.last()).map(|entry| self.taken(&entry));
        if let Some(block) = below.filter(|taken| taken.overlaps(span)) {
            return Err(LayoutError::Overlap { span, block });
        }
        self.free.reserve(1)?;
        if let Err(block) = self.free.release(self.free.way_to(span.first()), span, probe) {
            return Err(LayoutError::Overlap { span, block });
        }
        let (first, last) = (self.hull.first().min(span.first()), self.hull.last().max(span.last()));
        self.hull = Span::new(first, last).unwrap_or(self.hull);
        self.total_bytes += span.size_bytes();
        self.free_bytes += span.size_bytes();
        Ok(())
    }

    /// Whether a span starts and ends on multiples of the granule.
    pub(super) fn made_of_granules(&self, span: Span) -> bool {
        let ends_whole = span.last().checked_add(1).is_none_or(|end| self.granule.divides(end));
        self.granule.divides(span.first()) && ends_whole
    }
}
