//! Regions at a fixed place: allocation at given addresses, and resizing in place.

use super::AddressSpace;
use crate::regions::{EntryHandle, RegionAttrs, RegionEntry};
use crate::{AllocError, Rejected, ResizeError};
use freehold_units::Span;

impl<V> AddressSpace<V> {
    /// Takes exactly `span`.
    ///
    /// # Errors
    /// Returns the value. [`AllocError::Occupied`] names the region that is in the way, itself or by its guard.
    /// [`AllocError::PlaceOutside`]: the span is not entirely in the space. [`AllocError::PlaceNotGranular`]: it does
    /// not consist of whole granules. Nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, AllocError, Placement, Request};
    /// use freehold_units::{Align, Span};
    ///
    /// let bus = Span::from_size(0xc000_0000, 0x10_0000).unwrap();
    /// let mut bus: AddressSpace<&str> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    /// bus.alloc(&Request::new(0x2000).guard(0x1000), "disk")?;
    ///
    /// // The guest moves a BAR of its network card to where the disk's guard is.
    /// let place = Span::from_size(0xc000_2000, 0x4000).unwrap();
    /// let refused = bus.alloc_at(place, "nic").unwrap_err();
    /// let AllocError::Occupied { region } = refused.cause else { panic!("{refused}") };
    /// let owner = bus.region_at(region.first()).map_or("nobody", |region| *region.value());
    /// let told = format!("cannot place {} at {place}: {refused}, it belongs to {owner}", refused.value);
    /// assert_eq!(
    ///     told,
    ///     "cannot place nic at 0xc0002000..=0xc0005fff: \
    ///      0xc0000000..=0xc0001fff is in the way, it belongs to disk"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "reserve")]
    pub fn alloc_at(&mut self, span: Span, value: V) -> Result<Span, Rejected<V>> {
        match self.prepare_at(span) {
            Ok(block) => {
                self.occupy(block, span, self.unaligned(), Some(value), &mut ());
                Ok(span)
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Takes exactly `span`, with a guard of `guard_bytes` after it: a region at a fixed place that the next one does not
    /// touch.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_at`], where the place includes the guard; [`AllocError::NotGranular`] or
    /// [`AllocError::GuardTooLarge`] for the guard, [`AllocError::SizeOverflow`] if it would pass the last address.
    ///
    /// # Cost
    /// O(log n).
    pub fn alloc_at_guarded(&mut self, span: Span, guard_bytes: u64, value: V) -> Result<Span, Rejected<V>> {
        match self.reserve_at(span, guard_bytes) {
            Ok(pending) => Ok(pending.commit(value)),
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    pub(super) fn prepare_at_guarded(
        &mut self,
        span: Span,
        guard_bytes: u64,
    ) -> Result<(EntryHandle, Span, RegionAttrs), AllocError> {
        let guard_granules = self.check_guard(guard_bytes)?;
        if !self.made_of_granules(span) {
            return Err(AllocError::PlaceNotGranular { place: span, granule: self.granule });
        }
        let last = span.last().checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let taken = Span::new(span.first(), last).expect("K4: a guard is behind its region");
        let block = self.prepare_at(taken)?;
        Ok((block, taken, RegionAttrs::new(guard_granules, self.granule)))
    }

    /// The attributes of a region at a fixed place: no guard, and the granule as its alignment.
    pub(super) fn unaligned(&self) -> RegionAttrs {
        RegionAttrs::new(0, self.granule)
    }

    /// Resizes the region that starts at `first` in place to `size_bytes`. Its guard moves with its end. Returns its
    /// addresses.
    ///
    /// # Errors
    /// [`ResizeError::Address`] if no region starts at `first`, or a carved one does. [`ResizeError::Size`] with
    /// [`AllocError::Occupied`] or [`AllocError::PlaceOutside`] if the region cannot grow, or with the error of an
    /// invalid size. Nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    pub fn resize(&mut self, first: u64, size_bytes: u64) -> Result<Span, ResizeError> {
        let Some((place, entry)) = self.regions.region(first) else {
            return Err(ResizeError::Address(self.why_not(first)));
        };
        let old_taken = entry.taken();
        let guard_granules = entry.terms.guard_granules;
        let guard_bytes = entry.guard().map_or(0, Span::size_saturating);
        self.check_whole(first)?;
        self.check_size(size_bytes)?;
        let taken_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let span = Span::from_size(first, size_bytes).ok_or(AllocError::SizeOverflow)?;
        let taken = Span::from_size(first, taken_bytes).ok_or(AllocError::SizeOverflow)?;
        if let Some(more) = taken.above(old_taken) {
            let block = self.prepare_at(more)?;
            self.cut(block, more, &mut ());
            self.regions.set_end(place, taken.last(), guard_granules);
            self.free_bytes -= more.size_bytes();
        } else if let Some(less) = old_taken.above(taken) {
            self.reserve_blocks(1).map_err(AllocError::from)?;
            let block = self.regions.set_end(place, taken.last(), guard_granules);
            self.join(block.expect("K4: what a region gives back is free"), less, &mut ());
            self.free_bytes += less.size_bytes();
        }
        Ok(span)
    }

    /// Finds the entry before the free block that covers `span`, or the obstacle. Reserves one region and one block.
    pub(super) fn prepare_at(&mut self, span: Span) -> Result<EntryHandle, AllocError> {
        if !self.made_of_granules(span) {
            return Err(AllocError::PlaceNotGranular { place: span, granule: self.granule });
        }
        self.reserve_regions(1)?;
        self.block_over(span).ok_or_else(|| self.in_the_way(span))
    }

    /// The error for a `span` that is not free.
    #[cold]
    pub(super) fn in_the_way(&self, span: Span) -> AllocError {
        match self.regions.region_over(span) {
            Some(entry) => AllocError::Occupied { region: self.place_shown(&entry) },
            None => AllocError::PlaceOutside { place: span, space: self.hull },
        }
    }

    /// The addresses of an entry's region, without guard; for a placeholder, those of the region's new place.
    pub(super) fn place_shown(&self, entry: &RegionEntry<'_, V>) -> Span {
        let mover = self.moves.region_of(entry).and_then(|first| self.regions.region(first));
        mover.and_then(|(_, mover)| self.moves.place_of(mover.span)).unwrap_or(entry.span)
    }
}
