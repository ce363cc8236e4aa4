//! Spans from ranges, and ranges from spans.

use super::Span;
use core::fmt;
use core::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// The error for a range without any address: a [`Span`] is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyRange;

impl fmt::Display for EmptyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the range is empty")
    }
}

impl core::error::Error for EmptyRange {}

impl TryFrom<Range<u64>> for Span {
    type Error = EmptyRange;

    fn try_from(range: Range<u64>) -> Result<Self, EmptyRange> {
        Self::from_bounds(&range).ok_or(EmptyRange)
    }
}

impl TryFrom<RangeInclusive<u64>> for Span {
    type Error = EmptyRange;

    /// An inclusive range that was iterated to its end is empty.
    fn try_from(range: RangeInclusive<u64>) -> Result<Self, EmptyRange> {
        Self::from_bounds(&range).ok_or(EmptyRange)
    }
}

impl TryFrom<RangeTo<u64>> for Span {
    type Error = EmptyRange;

    fn try_from(range: RangeTo<u64>) -> Result<Self, EmptyRange> {
        Self::from_bounds(&range).ok_or(EmptyRange)
    }
}

impl TryFrom<(Bound<u64>, Bound<u64>)> for Span {
    type Error = EmptyRange;

    fn try_from(range: (Bound<u64>, Bound<u64>)) -> Result<Self, EmptyRange> {
        Self::from_bounds(&range).ok_or(EmptyRange)
    }
}

impl From<RangeFrom<u64>> for Span {
    fn from(range: RangeFrom<u64>) -> Self {
        Self { first: range.start, last: u64::MAX }
    }
}

impl From<RangeToInclusive<u64>> for Span {
    fn from(range: RangeToInclusive<u64>) -> Self {
        Self { first: 0, last: range.end }
    }
}

impl From<RangeFull> for Span {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

/// The error for a span that includes `u64::MAX`: its end is 2^64, which a half-open range of `u64` cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndsAtTheTop {
    /// The span.
    pub span: Span,
}

impl fmt::Display for EndsAtTheTop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ends at 2^64, which is no u64", self.span)
    }
}

impl core::error::Error for EndsAtTheTop {}

impl TryFrom<Span> for Range<u64> {
    type Error = EndsAtTheTop;

    fn try_from(span: Span) -> Result<Self, EndsAtTheTop> {
        let end = span.last.checked_add(1).ok_or(EndsAtTheTop { span })?;
        Ok(span.first..end)
    }
}

impl From<Span> for RangeInclusive<u64> {
    fn from(span: Span) -> Self {
        span.first..=span.last
    }
}

impl RangeBounds<u64> for Span {
    fn start_bound(&self) -> Bound<&u64> {
        Bound::Included(&self.first)
    }

    fn end_bound(&self) -> Bound<&u64> {
        Bound::Included(&self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_range_is_a_span_or_empty() {
        let span = Span::new(4, 8).unwrap();
        assert_eq!(Span::try_from(4..9), Ok(span));
        assert_eq!(Span::try_from(4..=8), Ok(span));
        assert_eq!(Span::try_from(0..=u64::MAX), Ok(Span::ALL));
        assert_eq!(Span::try_from(4..4), Err(EmptyRange));
        assert_eq!(Span::try_from(0..0), Err(EmptyRange));
        #[allow(clippy::reversed_empty_ranges, reason = "it is tested that they are empty")]
        let reversed = (Span::try_from(5..4), Span::try_from(5..=4));
        assert_eq!(reversed, (Err(EmptyRange), Err(EmptyRange)));
        let mut done = 4..=4;
        assert_eq!(done.next(), Some(4));
        assert_eq!(Span::try_from(done), Err(EmptyRange));
        assert_eq!(Span::from(4..), Span { first: 4, last: u64::MAX });
        assert_eq!((Span::from(..=8), Span::from(..)), (Span { first: 0, last: 8 }, Span::ALL));
        assert_eq!(
            (Span::try_from(..9), Span::try_from(..0)),
            (Ok(Span { first: 0, last: 8 }), Err(EmptyRange))
        );
        assert_eq!(Span::try_from((Bound::Excluded(3), Bound::Included(8))), Ok(span));
        assert_eq!(Span::try_from((Bound::Excluded(u64::MAX), Bound::Unbounded)), Err(EmptyRange));
        assert_eq!(Span::from_bounds(&..), Some(Span::ALL));
        assert_eq!(Span::from_bounds(&(4..)), Span::new(4, u64::MAX));
        assert_eq!(Span::from_bounds(&..=8), Span::new(0, 8));
        assert_eq!(Span::from_bounds(&..9), Span::new(0, 8));
        assert_eq!(Span::from_bounds(&..0), None);
        assert_eq!(Span::from_bounds(&(Bound::Excluded(3), Bound::Excluded(9))), Some(span));
        assert_eq!(Span::from_bounds(&(Bound::Excluded(u64::MAX), Bound::Unbounded)), None);
    }

    #[test]
    fn a_span_is_the_bounds_that_it_came_from() {
        let span = Span::new(4, 8).unwrap();
        assert_eq!(RangeInclusive::from(span), 4..=8);
        assert_eq!(Range::try_from(span), Ok(4..9));
        let top = Span::new(u64::MAX, u64::MAX).unwrap();
        assert_eq!(Range::try_from(top), Err(EndsAtTheTop { span: top }));
        assert_eq!((span.len(), top.len(), Span::ALL.len()), (Some(5), Some(1), None));
        assert!(span.iter().eq(4..=8) && span.iter().rev().eq((4..=8).rev()) && top.iter().eq([u64::MAX]));
        assert_eq!(Span::from_bounds(&span), Some(span));
        let map: std::collections::BTreeMap<u64, ()> = (0..20).map(|at| (at, ())).collect();
        assert!(map.range(span).map(|(&at, ())| at).eq(4..=8));
        assert!(map.range(Span::ALL).map(|(&at, ())| at).eq(0..20));
    }
}
