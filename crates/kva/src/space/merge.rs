//! Merges a region with the next one.

use super::AddressSpace;
use super::region::Region;
use crate::MergeError;
use crate::regions::EntryHandle;
use freehold_units::Span;

impl<V> AddressSpace<V> {
    /// Merges the region that starts at `first` with the next one, which must start where it ends and have an equal
    /// value. Returns the usable addresses of both together, and the value of the second. The first one's value stays.
    ///
    /// The region keeps the alignment of the first and the guard of the second. A first region with a guard cannot be
    /// merged: the guard lies between the two.
    ///
    /// # Errors
    /// [`MergeError`]: no region starts at `first`, none starts where it ends, or the values differ. A carved region, and
    /// one that is moving, cannot be merged. Nothing was changed.
    ///
    /// # Cost
    /// O(log n). Needs no memory.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, MergeError, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut disk = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// let one = disk.alloc(&Request::new(0x1000), "file")?;
    /// let two = disk.alloc(&Request::new(0x1000), "file")?;
    /// disk.alloc(&Request::new(0x1000), "another file")?;
    /// assert_eq!(disk.merge(one.first())?, (one.hull(two), "file"));
    /// assert!(matches!(disk.merge(one.first()), Err(MergeError::Disagree { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, first: u64) -> Result<(Span, V), MergeError>
    where
        V: PartialEq,
    {
        self.merge_with(first, |one, other| one.value() == other.value())
    }

    /// [`AddressSpace::merge`] for regions of which `agree` says that they belong together. If it panics, nothing was
    /// changed.
    ///
    /// # Errors
    /// As [`AddressSpace::merge`]; [`MergeError::Disagree`] if `agree` returns false.
    ///
    /// # Cost
    /// As [`AddressSpace::merge`], and `agree`.
    pub fn merge_with(
        &mut self,
        first: u64,
        agree: impl FnOnce(&Region<'_, V>, &Region<'_, V>) -> bool,
    ) -> Result<(Span, V), MergeError> {
        let ((place, one), (second, other)) = self.regions_to_merge(first)?;
        let (region, next) = (one.span(), other.span());
        if !agree(&one, &other) {
            return Err(MergeError::Disagree { region, next });
        }
        let value = self.regions.merge(place, second).expect("K4: a region that was found is there");
        Ok((region.hull(next), value))
    }

    /// The region that starts at `first`, and the next one, if they can be merged.
    #[allow(clippy::type_complexity, reason = "two regions and their places")]
    pub(crate) fn regions_to_merge(
        &self,
        first: u64,
    ) -> Result<((EntryHandle, Region<'_, V>), (EntryHandle, Region<'_, V>)), MergeError> {
        self.check_whole(first)?;
        let (place, entry) = self.regions.region(first).ok_or_else(|| self.why_not(first))?;
        let one = self.known().region(entry).expect("K16: a placeholder was refused");
        let region = one.span();
        if let Some(guard) = one.guard() {
            return Err(MergeError::Guarded { region, guard });
        }
        let alone = MergeError::NoNeighbour { region };
        let second = self.regions.region_behind(place).ok_or(alone)?;
        let entry = self.regions.entry_of(second);
        self.check_whole(entry.span.first())?;
        let other = self.known().region(entry).expect("K16: a placeholder was refused");
        Ok(((place, one), (second, other)))
    }
}
