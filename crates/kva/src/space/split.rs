//! Cuts a region in two.
//!
//! ```text
//!   before   |###########|g|        after   |####|######|g|
//!             region  guard                  first second
//! ```

use super::AddressSpace;
use crate::SplitError;
use crate::regions::EntryHandle;
use freehold_units::Span;

impl<V> AddressSpace<V> {
    /// Cuts the region that contains `address` in two: the second starts there, with a clone of the value. Returns
    /// the usable addresses of both.
    ///
    /// The guard stays with the end: the second region has it, the first has none. The first keeps the alignment of
    /// the region. The second has what its start has of it: the smaller of the region's alignment and the largest power
    /// of two that divides `address`. [`merge`](Self::merge) makes one region again, as it was.
    ///
    /// # Errors
    /// [`SplitError`]: no region contains `address`, or it is the region's start, lies in its guard or is no multiple of
    /// the granule; a carved region, and one that is moving, cannot be cut. Nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut disk = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// let file = disk.alloc(&Request::new(0x4000), "file 1")?;
    /// let (head, tail) = disk.split_at(0x1000)?;
    /// assert_eq!((head.size_bytes(), tail.size_bytes()), (0x1000, 0x3000));
    /// assert_eq!(disk.free(tail.first())?, (tail, "file 1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split_at(&mut self, address: u64) -> Result<(Span, Span), SplitError>
    where
        V: Clone,
    {
        self.split_at_with(address, |_, _, value| value.clone())
    }

    /// [`AddressSpace::split_at`] with the second region's value from `split`, which is given the addresses of both
    /// and the value. The first region keeps its value. If `split` panics, nothing was changed.
    ///
    /// # Errors
    /// As [`AddressSpace::split_at`].
    ///
    /// # Cost
    /// As [`AddressSpace::split_at`], and `split`.
    pub fn split_at_with(
        &mut self,
        address: u64,
        split: impl FnOnce(Span, Span, &V) -> V,
    ) -> Result<(Span, Span), SplitError> {
        let (place, (first, second), _) = self.region_to_cut(address)?;
        self.reserve_regions(1)?;
        let value = split(first, second, self.regions.value_of(place));
        self.regions.split(place, None, address, value);
        Ok((first, second))
    }

    /// The region that can be cut at `address`, its parts and its value.
    #[allow(clippy::type_complexity, reason = "a region and its parts")]
    pub(crate) fn region_to_cut(&self, address: u64) -> Result<(EntryHandle, (Span, Span), &V), SplitError> {
        if !self.granule.divides(address) {
            return Err(SplitError::NotGranular { address, granule: self.granule });
        }
        let Some((place, entry)) = self.regions.region_at(address) else {
            return Err(self.why_not(address).into());
        };
        let region = entry.span;
        self.check_whole(region.first())?;
        if region.first() == address {
            return Err(SplitError::AtStart { region });
        }
        if !region.contains(address) {
            return Err(SplitError::InGuard { address, region });
        }
        Ok((place, cut(region, address), entry.value.expect("K16: a placeholder is not cut")))
    }
}

/// The parts of `span` below `at` and from it on. Neither is empty.
pub(crate) fn cut(span: Span, at: u64) -> (Span, Span) {
    let first = at.checked_sub(1).and_then(|last| Span::new(span.first(), last));
    let parts = first.zip(Span::new(at, span.last()));
    parts.expect("K4: a cut leaves two regions")
}
