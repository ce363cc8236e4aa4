//! Making a space out of the spans it may hand out.

use super::AddressSpace;
use crate::busy::BusyIndex;
use crate::{FreeIndex, LayoutError};
use freehold_units::{Align, Span};

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// A space of all addresses of `span`.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`] unless `span` is made of granules; [`LayoutError::OutOfMemory`].
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement};
    /// use freehold_units::{Align, Span};
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
        let (mut free, mut hull, mut total_bytes) = (I::new()?, first_span, 0u128);
        for &span in spans {
            let ends_whole = span.last().checked_add(1).is_none_or(|end| granule.divides(end));
            if !granule.divides(span.first()) || !ends_whole {
                return Err(LayoutError::NotGranular { span, granule });
            }
            free.reserve(1)?;
            if let Err(block) = free.release(span, &mut ()) {
                return Err(LayoutError::Overlap { span, block });
            }
            let (first, last) = (hull.first().min(span.first()), hull.last().max(span.last()));
            hull = Span::new(first, last).unwrap_or(hull);
            total_bytes += span.size_bytes();
        }
        let busy = BusyIndex::new()?;
        Ok(Self { free, busy, hull, granule, placement, total_bytes, free_bytes: total_bytes })
    }
}
