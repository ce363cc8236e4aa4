//! Frees every address of a range, and cuts the regions that stick out of it.
//!
//! ```text
//!   range               |-------------------------|
//!   before       |####A####|...|##B##|g|....|###C###|g|
//!   after        |##A##|............................|C|g|         freed: the end of A, B, the start of C
//! ```
//!
//! The result is that of cutting the regions at both ends of the range ([`AddressSpace::split_at`]) and freeing every
//! region in between. All steps that can fail come before the first change: what forbids it is found from the marks
//! and the moves, which are sorted, without a walk over the regions; memory is reserved; values of new parts are made.
//!
//! With blocks by size, the freed addresses are entered once, at the end of each block that they form, not once for each
//! region. So one change per block is enough memory.

use super::AddressSpace;
use super::split::cut;
use crate::regions::EntryHandle;
use crate::{FreeError, FreeRangeError, OutOfMemory};
use alloc::vec::Vec;
use core::ops::RangeBounds;
use freehold_units::Span;

/// A region that sticks out of a range, and the value of the part that begins where it is cut.
struct Cut<V> {
    /// The region's usable addresses.
    region: Span,
    /// Valid until the first change.
    place: EntryHandle,
    value: V,
}

/// The regions that a range cuts.
struct Cuts<V> {
    /// The region that starts below the range.
    below: Option<Cut<V>>,
    /// The region that ends above the range. It may be the same one.
    above: Option<Cut<V>>,
}

impl<V> AddressSpace<V> {
    /// Frees every address in `range`, with the regions and parts of regions that it contains. A region that sticks out
    /// is cut, and what lies outside of the range stays, with the value; what lies in it is freed, with a clone of the
    /// value where the region starts below the range. Returns the freed usable addresses, one entry for each region, with
    /// the values, in address order.
    ///
    /// Addresses in the range that are free, or not in the space, are no error: so an empty range frees nothing. What a
    /// cut does to guards and alignments is as for [`split_at`](Self::split_at). So the guard of a region is freed with
    /// the region's last address, whether or not the range contains it, and a range that has only addresses of a guard
    /// frees nothing. A part that stays below the range has no guard.
    ///
    /// # Errors
    /// [`FreeRangeError`]: the range does not consist of whole granules, or contains addresses of a carved region, of one
    /// that is moving or of the new place of one. Nothing was changed.
    ///
    /// # Cost
    /// O(log n) for each region in the range. With [best fit](crate::Placement::BestFit) in a space with holes, also one
    /// visit to each leaf of the range.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut disk = AddressSpace::new(Span::new(0, 0xf_ffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// disk.alloc(&Request::new(0x4000), "file 1")?;
    /// disk.alloc(&Request::new(0x2000), "file 2")?;
    ///
    /// // A hole is punched into the end of the first file and the start of the second.
    /// let freed = disk.free_range(0x3000..0x5000)?;
    /// let span = |first, last| Span::new(first, last).unwrap();
    /// assert_eq!(freed, [(span(0x3000, 0x3fff), "file 1"), (span(0x4000, 0x4fff), "file 2")]);
    /// assert_eq!(disk.region_at(0x5000).unwrap().span(), span(0x5000, 0x5fff));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn free_range(&mut self, range: impl RangeBounds<u64>) -> Result<Vec<(Span, V)>, FreeRangeError>
    where
        V: Clone,
    {
        let Some(span) = Span::from_bounds(&range) else { return Ok(Vec::new()) };
        self.check_range(span)?;
        let mut freed = Vec::new();
        freed.try_reserve_exact(self.regions.count_in(span)).map_err(OutOfMemory::from)?;
        let cuts = self.prepare_free_range(span, |_, _, value: &V| value.clone())?;
        freed.extend(Freeing::new(self, span, cuts));
        Ok(freed)
    }

    /// [`AddressSpace::free_range`] without a list: `freed` receives the addresses and the value of each region. `split`
    /// makes the value of the second part of a region that is cut, as for [`split_at_with`](Self::split_at_with). It is
    /// called at most twice: a region that sticks out on both sides is cut below first, and the value that this gives is
    /// the one that is cut above.
    ///
    /// If `split` panics, nothing was changed. If `freed` panics, the rest of the range is freed all the same, and its
    /// values are dropped.
    ///
    /// # Errors
    /// As [`AddressSpace::free_range`].
    ///
    /// # Cost
    /// As [`AddressSpace::free_range`], and the calls.
    pub fn free_range_with(
        &mut self,
        range: impl RangeBounds<u64>,
        split: impl FnMut(Span, Span, &V) -> V,
        mut freed: impl FnMut(Span, V),
    ) -> Result<(), FreeRangeError> {
        let Some(span) = Span::from_bounds(&range) else { return Ok(()) };
        self.check_range(span)?;
        let cuts = self.prepare_free_range(span, split)?;
        Freeing::new(self, span, cuts).for_each(|(span, value)| freed(span, value));
        Ok(())
    }

    fn check_range(&self, span: Span) -> Result<(), FreeRangeError> {
        if !self.made_of_granules(span) {
            return Err(FreeRangeError::NotGranular { span, granule: self.granule });
        }
        self.check_whole_in(span)
    }

    /// Refuses a span with addresses of a carved region, of a region that is moving, or of a hold. Guards do not count.
    pub(super) fn check_whole_in(&self, span: Span) -> Result<(), FreeRangeError> {
        if self.carved.is_empty() && self.moves.len() == 0 {
            return Ok(());
        }
        let around = self.usable_at(span.first()).map(|(_, region)| region.first());
        let inside = [self.carved.first_in(span), self.moves.first_in(span)];
        let starts = inside.into_iter().flatten().min();
        for first in around.into_iter().chain(starts) {
            self.check_whole(first).map_err(|error| match error {
                FreeError::Moving { region } => FreeRangeError::Moving { region },
                FreeError::Carved { region } => FreeRangeError::Carved { region },
                other => panic!("K12, K16: a region is refused as carved or moving: {other}"),
            })?;
        }
        Ok(())
    }

    /// Performs all steps that can fail and changes nothing except reserved memory.
    fn prepare_free_range(
        &mut self,
        span: Span,
        mut split: impl FnMut(Span, Span, &V) -> V,
    ) -> Result<Cuts<V>, OutOfMemory> {
        let around = self.usable_at(span.first());
        // Usually one region answers for both ends.
        let over = match around {
            Some((_, region)) if region.last() >= span.last() => around,
            _ => self.usable_at(span.last()),
        };
        let below = around.filter(|(_, region)| region.first() < span.first());
        let above = over.filter(|(_, region)| span.last() < region.last());
        if above.is_some() {
            self.regions.reserve(1 + self.moves.len())?;
        }
        if self.sizes.is_some() {
            let has_holes = self.total_bytes < self.hull.size_bytes();
            self.reserve_blocks(1 + if has_holes { self.regions.markers_in(span) } else { 0 })?;
        }
        let below = below.map(|(place, region)| {
            let (kept, freed) = cut(region, span.first());
            Cut { region, place, value: split(kept, freed, self.regions.value_of(place)) }
        });
        let above = above.map(|(place, region)| {
            let (part, value) = match &below {
                Some(below) if below.region == region => (cut(region, span.first()).1, &below.value),
                _ => (region, self.regions.value_of(place)),
            };
            let (freed, kept) = cut(part, span.last() + 1);
            Cut { region, place, value: split(freed, kept, value) }
        });
        Ok(Cuts { below, above })
    }

    /// The region with the usable `address`, and its usable addresses.
    fn usable_at(&self, address: u64) -> Option<(EntryHandle, Span)> {
        let (place, entry) = self.regions.region_at(address)?;
        entry.span.contains(address).then_some((place, entry.span))
    }
}

/// Frees the regions of a range one by one, and returns each. Its drop frees the rest.
///
/// It is never handed to a caller, who could forget it.
pub(super) struct Freeing<'a, V> {
    space: &'a mut AddressSpace<V>,
    cuts: Cuts<V>,
    /// The addresses that remain; `None` at the end.
    rest: Option<Span>,
    /// The free block that was entered last. Its key is not in the index by size yet.
    open: Option<Span>,
}

impl<'a, V> Freeing<'a, V> {
    fn new(space: &'a mut AddressSpace<V>, span: Span, cuts: Cuts<V>) -> Self {
        Self { space, cuts, rest: Some(span), open: None }
    }

    /// For a span that cuts no region.
    pub(super) fn of_whole_regions(space: &'a mut AddressSpace<V>, span: Span) -> Self {
        Self::new(space, span, Cuts { below: None, above: None })
    }

    /// Frees the part of a region from the start of the range on.
    fn free_below(&mut self, rest: Span, below: Cut<V>) -> (Span, V) {
        let (kept, part) = cut(below.region, rest.first());
        let above = self.cuts.above.take_if(|above| above.region == below.region);
        let freed = match above {
            Some(above) => {
                let (freed, second) = cut(part, rest.last() + 1);
                self.space.regions.split(below.place, Some(freed), second.first(), above.value);
                self.enter(freed, freed, rest);
                freed
            }
            None => {
                let taken = self.space.regions.taken_of(below.place);
                self.space.regions.set_end(below.place, kept.last(), 0);
                let block = self.space.regions.block_behind(below.place).expect("K4: what was freed is free");
                self.enter(block, cut(taken, part.first()).1, rest);
                part
            }
        };
        (freed, below.value)
    }

    /// Frees the region that starts at the start of the rest, or its part in the range.
    fn free_first(&mut self, rest: Span) -> Option<(Span, V)> {
        let first = rest.first();
        if let Some(above) = self.cuts.above.take_if(|above| above.region.first() == first) {
            let (freed, kept) = cut(above.region, rest.last() + 1);
            let moved = self.space.regions.set_start(first, kept.first(), above.value);
            let (value, block) = moved.expect("K4: a region that was found is there");
            self.enter(block, freed, rest);
            return Some((freed, value));
        }
        let removed = self.space.regions.remove(first, &mut ())?;
        self.enter(removed.block, removed.taken, rest);
        Some((removed.span, removed.value.expect("K16: a hold is freed by its move alone")))
    }

    /// Counts `taken`, which is now a part of the free `block`, and goes on after that block.
    fn enter(&mut self, block: Span, taken: Span, rest: Span) {
        self.space.free_bytes += taken.size_bytes();
        self.rest = block.last().checked_add(1).and_then(|next| Span::new(next, rest.last()));
        if self.space.sizes.is_none() {
            return;
        }
        let goes_on = self.open.is_some_and(|open| block.covers(open));
        if !goes_on {
            self.close();
        }
        if let Some(sizes) = &mut self.space.sizes {
            block
                .below(taken)
                .filter(|_| !goes_on)
                .into_iter()
                .chain(block.above(taken))
                .for_each(|part| sizes.remove(part));
            self.open = Some(block);
        }
    }

    /// Enters the block that the freed addresses form into the index by size.
    fn close(&mut self) {
        if let (Some(sizes), Some(block)) = (&mut self.space.sizes, self.open.take()) {
            sizes.insert(block);
        }
    }
}

impl<V> Iterator for Freeing<'_, V> {
    type Item = (Span, V);

    fn next(&mut self) -> Option<(Span, V)> {
        while let Some(rest) = self.rest.take() {
            if let Some(below) = self.cuts.below.take() {
                return Some(self.free_below(rest, below));
            }
            if let Some(freed) = self.free_first(rest) {
                return Some(freed);
            }
            // The rest starts in a free block, in a hole of the layout, or in a guard, which is skipped.
            let next = self.space.regions.region_from(rest.first()).map(|entry| entry.taken);
            let next = next.and_then(|taken| match taken.first() < rest.first() {
                true => taken.last().checked_add(1),
                false => Some(taken.first()),
            });
            self.rest = next.and_then(|first| Span::new(first, rest.last()));
        }
        self.close();
        None
    }
}

impl<V> Drop for Freeing<'_, V> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
