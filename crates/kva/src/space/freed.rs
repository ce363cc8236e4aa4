//! The regions and parts of regions that a range had, after it was freed.

use alloc::vec::{self, Vec};
use core::fmt;
use core::iter::FusedIterator;
use freehold_units::Span;

/// What [`AddressSpace::free_range`](crate::AddressSpace::free_range) has freed: the usable addresses of each region, or of
/// its part in the range, and the value. In address order, from both ends.
pub struct FreedRegions<V> {
    /// The end of the first region and the start of the last one, if the range cut them; whole regions between them.
    below: Option<(Span, V)>,
    whole: vec::IntoIter<(Span, V)>,
    above: Option<(Span, V)>,
}

impl<V> FreedRegions<V> {
    pub(crate) fn nothing() -> Self {
        Self::new(None, Vec::new(), None)
    }

    pub(super) fn new(below: Option<(Span, V)>, whole: Vec<(Span, V)>, above: Option<(Span, V)>) -> Self {
        Self { below, whole: whole.into_iter(), above }
    }
}

impl<V> Iterator for FreedRegions<V> {
    type Item = (Span, V);

    fn next(&mut self) -> Option<(Span, V)> {
        self.below.take().or_else(|| self.whole.next()).or_else(|| self.above.take())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = usize::from(self.below.is_some()) + self.whole.len() + usize::from(self.above.is_some());
        (len, Some(len))
    }
}

impl<V> DoubleEndedIterator for FreedRegions<V> {
    fn next_back(&mut self) -> Option<(Span, V)> {
        self.above.take().or_else(|| self.whole.next_back()).or_else(|| self.below.take())
    }
}

impl<V> ExactSizeIterator for FreedRegions<V> {}
impl<V> FusedIterator for FreedRegions<V> {}

impl<V: fmt::Debug> fmt::Debug for FreedRegions<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.below).entries(self.whole.as_slice()).entries(&self.above).finish()
    }
}
