//! A space counted in granules, for peers whose ranges are half open or whose numbers are small.

use freehold_units::{Align, Span};

/// A space in which every address is a number of granules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    granule: Align,
}

impl Units {
    /// The space of a layout that is one span of whole granules, which leaves room for the number after its last.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn of(layout: &[Span], granule: Align) -> Result<(Self, Span), String> {
        let &[space] = layout else { return Err("manages one span only".to_owned()) };
        let units = Self { granule };
        let whole = granule.divides(space.first()) && space.last() & granule.mask() == granule.mask();
        if !whole {
            return Err("the space is not made of whole granules".to_owned());
        }
        if granule == Align::ONE && space.last() == u64::MAX {
            return Err("the space reaches the last number there is".to_owned());
        }
        Ok((units, space))
    }

    /// The granule.
    pub(super) fn granule(self) -> Align {
        self.granule
    }

    /// An address or a size in granules, rounded down.
    #[inline]
    pub(super) fn down(self, bytes: u64) -> u64 {
        bytes >> self.granule.bytes().trailing_zeros()
    }

    /// A number of granules in bytes.
    #[inline]
    pub(super) fn bytes(self, units: u64) -> u64 {
        units << self.granule.bytes().trailing_zeros()
    }

    /// The granule after the last of a span.
    #[inline]
    pub(super) fn end(self, span: Span) -> u64 {
        self.down(span.last()).saturating_add(1)
    }

    /// An alignment in granules, at least 1.
    #[inline]
    pub(super) fn align(self, align: Align) -> u64 {
        self.down(align.bytes()).max(1)
    }
}
