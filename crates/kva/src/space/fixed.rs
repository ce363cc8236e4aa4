//! Regions at a fixed place: taking one, and making one longer or shorter where it is.

use super::{AddressSpace, BlockOf};
use crate::index::{Map, Want};
use crate::{AllocError, FreeIndex, Rejected, Request, ResizeError};
use freehold_units::Span;

/// Where a region was before it moved.
struct Old {
    taken: Span,
    guard_granules: u32,
}

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Takes exactly `span`.
    ///
    /// # Errors
    /// The value comes back: [`AllocError::Occupied`] names the region in the way, be it by its guard;
    /// [`AllocError::PlaceOutside`] says that the span is not all in the space, [`AllocError::PlaceNotGranular`]
    /// that it is not made of granules; nothing was changed.
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
    ///     "cannot place nic at [0xc0002000, 0xc0005fff]: \
    ///      [0xc0000000, 0xc0001fff] is in the way, it belongs to disk"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "reserve")]
    pub fn alloc_at(&mut self, span: Span, value: V) -> Result<Span, Rejected<V>> {
        match self.prepare_at(span) {
            Ok(block) => {
                self.occupy(block, span, 0, value, &mut ());
                Ok(span)
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Makes the region that starts at `first` `size_bytes` long, where it is, its guard kept behind it. Returns
    /// its addresses.
    ///
    /// # Errors
    /// [`ResizeError::Address`] if no region starts there, or a carved one does; [`ResizeError::Size`] with
    /// [`AllocError::Occupied`] or [`AllocError::PlaceOutside`] for what it would grow into, or why the size is
    /// none; nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    pub fn resize(&mut self, first: u64, size_bytes: u64) -> Result<Span, ResizeError> {
        let Some((place, entry)) = self.map.region(first) else {
            return Err(ResizeError::Address(self.why_not(first)));
        };
        let (old, old_taken) = (entry.span, entry.taken);
        self.check_whole(first)?;
        self.check_size(size_bytes)?;
        let guard_bytes = u64::try_from(old_taken.size_bytes() - old.size_bytes()).unwrap_or(u64::MAX);
        let taken_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let span = Span::from_size(first, size_bytes).ok_or(AllocError::SizeOverflow)?;
        let taken = Span::from_size(first, taken_bytes).ok_or(AllocError::SizeOverflow)?;
        if let Some(more) = taken.above(old_taken) {
            let block = self.prepare_at(more)?;
            self.map.extend(place, block, more, &mut ());
            self.free_bytes -= more.size_bytes();
        } else if let Some(less) = old_taken.above(taken) {
            self.map.reserve(1, 0).map_err(AllocError::from)?;
            self.map.shorten(place, less, &mut ());
            self.free_bytes += less.size_bytes();
        }
        Ok(span)
    }

    /// Moves the region that starts at `first`, with its value, to where `request` puts it. The place is looked
    /// for while the old one is still taken, and if there is none, as if it were free. Returns the new addresses.
    ///
    /// # Errors
    /// [`ResizeError::Address`] if no region starts there, or a carved one does; [`ResizeError::Size`] if the
    /// request cannot be served; then the region is where it was.
    ///
    /// # Cost
    /// O(log n), as [`AddressSpace::alloc`].
    pub fn move_to(&mut self, first: u64, request: &Request) -> Result<Span, ResizeError> {
        let (want, guard_granules) = self.check(request)?;
        let Some((place, entry)) = self.map.region(first) else {
            return Err(ResizeError::Address(self.why_not(first)));
        };
        let old = Old { taken: entry.taken, guard_granules: entry.guard_granules };
        self.check_whole(first)?;
        self.map.prepare(&want, &mut ()).map_err(AllocError::from)?;
        // The old place may come back as a block, and may have to be taken again.
        self.map.reserve(2, 1).map_err(AllocError::from)?;
        let found = self.map.find(self.placement, &want, &mut ()).map(|(_, taken)| taken);
        let Some(value) = self.map.vacate(place, old.taken, &mut ()) else {
            return Err(ResizeError::Address(self.why_not(first)));
        };
        self.free_bytes += old.taken.size_bytes();
        let taken = self.settle(found, old, &want, guard_granules, value)?;
        Ok(Span::from_size(taken.first(), request.size_bytes).unwrap_or(taken))
    }

    /// Takes the place that was found while the old one was taken; if there was none, one that may overlap the old
    /// one; if there is none either, the old one.
    fn settle(
        &mut self,
        found: Option<Span>,
        old: Old,
        want: &Want,
        guard_granules: u32,
        value: V,
    ) -> Result<Span, AllocError> {
        let place = match found {
            Some(taken) => self.map.block_at_or_below(taken.first()).map(|(block, _)| (block, taken)),
            None => self.map.find(self.placement, want, &mut ()),
        };
        if let Some((block, taken)) = place {
            self.occupy(block, taken, guard_granules, value, &mut ());
            return Ok(taken);
        }
        // The region itself is out of the index now, and so not in its own way.
        let refused = self.no_space_for(want);
        if let Some((block, _)) = self.map.block_at_or_below(old.taken.first()) {
            self.occupy(block, old.taken, old.guard_granules, value, &mut ());
        }
        Err(refused)
    }

    /// The free block that covers `span`, or what is in the way; room for one more region and block.
    fn prepare_at(&mut self, span: Span) -> Result<BlockOf<V, I>, AllocError> {
        if !self.made_of_granules(span) {
            return Err(AllocError::PlaceNotGranular { place: span, granule: self.granule });
        }
        self.map.reserve(1, 0)?;
        match self.map.block_at_or_below(span.first()) {
            Some((block, free)) if free.covers(span) => Ok(block),
            _ => Err(self.in_the_way(span)),
        }
    }

    /// Why `span` is not free.
    #[cold]
    pub(super) fn in_the_way(&self, span: Span) -> AllocError {
        match self.map.region_over(span) {
            Some(entry) => AllocError::Occupied { region: entry.span },
            None => AllocError::PlaceOutside { place: span, space: self.hull },
        }
    }
}
