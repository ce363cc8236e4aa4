//! Regions at a fixed place: taking one, and making one longer or shorter where it is.

use super::AddressSpace;
use crate::index::Want;
use crate::{AllocError, FreeIndex, Rejected, Request, ResizeError};
use freehold_units::Span;

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Takes exactly `span`.
    ///
    /// # Errors
    /// The value comes back: [`AllocError::Occupied`] names the region in the way,
    /// [`AllocError::WindowOutside`] says that the span is not all in the space; nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    #[doc(alias = "reserve")]
    pub fn alloc_at(&mut self, span: Span, value: V) -> Result<Span, Rejected<V>> {
        match self.prepare_at(span) {
            Ok(block) => {
                self.take(block, span, &mut ());
                self.busy.insert(self.busy.way_to(span.first()), span, 0, value);
                Ok(span)
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Makes the region that starts at `first` `size_bytes` long, where it is, its guard kept behind it. Returns
    /// its addresses.
    ///
    /// # Errors
    /// [`ResizeError::Address`] if no region starts there; [`ResizeError::Size`] with
    /// [`AllocError::Occupied`] or [`AllocError::WindowOutside`] for what it would grow into, or why the size is
    /// none; nothing was changed.
    ///
    /// # Cost
    /// O(log n).
    pub fn resize(&mut self, first: u64, size_bytes: u64) -> Result<Span, ResizeError> {
        let Some((found, entry)) = self.busy.find(self.busy.way_to(first), first) else {
            return Err(ResizeError::Address(self.why_not(first)));
        };
        let (old, old_taken) = (entry.span, self.taken(&entry));
        self.check_size(size_bytes)?;
        let guard_bytes = u64::try_from(old_taken.size_bytes() - old.size_bytes()).unwrap_or(u64::MAX);
        let taken_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let span = Span::from_size(first, size_bytes).ok_or(AllocError::SizeOverflow)?;
        let taken = Span::from_size(first, taken_bytes).ok_or(AllocError::SizeOverflow)?;
        if let Some(more) = taken.above(old_taken) {
            let block = self.prepare_at(more)?;
            self.take(block, more, &mut ());
        } else if let Some(less) = old_taken.above(taken) {
            self.free.reserve(1).map_err(AllocError::from)?;
            self.give_back(self.free.way_to(less.first()), less, &mut ()).map_err(|region| AllocError::Occupied { region })?;
        }
        self.busy.set_last(&found, span.last());
        Ok(span)
    }

    /// Moves the region that starts at `first`, with its value, to where `request` puts it. The place is looked
    /// for while the old one is still taken, and if there is none, as if it were free. Returns the new addresses.
    ///
    /// # Errors
    /// [`ResizeError::Address`] if no region starts there; [`ResizeError::Size`] if the request cannot be served;
    /// then the region is where it was.
    ///
    /// # Cost
    /// O(log n), as [`AddressSpace::alloc`].
    pub fn move_to(&mut self, first: u64, request: &Request) -> Result<Span, ResizeError> {
        let (want, guard_granules) = self.check(request)?;
        let Some((found, entry)) = self.busy.find(self.busy.way_to(first), first) else {
            return Err(ResizeError::Address(self.why_not(first)));
        };
        let old = self.taken(&entry);
        self.free.prepare(&want, &mut ()).map_err(AllocError::from)?;
        // The old place may come back as a block, and the new one may split a block.
        self.free.reserve(2).map_err(AllocError::from)?;
        self.busy.reserve(1).map_err(AllocError::from)?;
        let taken = match self.free.find(self.placement, &want, &mut ()) {
            Some((block, taken)) => {
                self.take(block, taken, &mut ());
                self.give_back_held(old);
                taken
            }
            None => self.move_over(old, &want)?,
        };
        let usable = Span::from_size(taken.first(), request.size_bytes).unwrap_or(taken);
        // Reserving makes nodes ready without moving any, so the way that was found still leads there.
        let value = self.busy.remove(&found);
        self.busy.insert(self.busy.way_to(usable.first()), usable, guard_granules, value);
        Ok(usable)
    }

    /// The new place may overlap the old one: frees the old one first, and takes it again if that does not help.
    fn move_over(&mut self, old: Span, want: &Want) -> Result<Span, AllocError> {
        self.give_back_held(old);
        if let Some((block, taken)) = self.free.find(self.placement, want, &mut ()) {
            self.take(block, taken, &mut ());
            return Ok(taken);
        }
        let refused = self.no_space(want);
        if let Some((block, _)) = self.free.at_or_below(old.first()) {
            self.take(block, old, &mut ());
        }
        Err(refused)
    }

    /// Returns what the region that is being moved holds.
    fn give_back_held(&mut self, old: Span) {
        let given = self.give_back(self.free.way_to(old.first()), old, &mut ());
        debug_assert!(given.is_ok(), "K4: regions and free blocks are apart");
    }

    /// The free block that covers `span`, or what is in the way; room for one more region and block.
    fn prepare_at(&mut self, span: Span) -> Result<I::Block, AllocError> {
        if !self.made_of_granules(span) {
            return Err(AllocError::AreaNotGranular { area: 0, granule: self.granule });
        }
        self.free.reserve(1)?;
        self.busy.reserve(1)?;
        match self.free.at_or_below(span.first()) {
            Some((block, free)) if free.covers(span) => Ok(block),
            _ => Err(self.in_the_way(span)),
        }
    }

    /// Why `span` is not free.
    #[cold]
    fn in_the_way(&self, span: Span) -> AllocError {
        match self.busy.at_or_below(span.last()) {
            Some(entry) if self.taken(&entry).overlaps(span) => AllocError::Occupied { region: entry.span },
            _ => AllocError::WindowOutside { window: span, space: self.hull },
        }
    }
}
