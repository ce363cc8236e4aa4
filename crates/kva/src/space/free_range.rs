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
//! With blocks by size, freed addresses are entered once for each block that they form, not once for each region: the key
//! of the block that still grows is not entered yet. So a few changes are enough memory, whatever the number of regions.

use super::AddressSpace;
use super::freed::FreedRegions;
use super::split::cut;
use crate::regions::{EntryHandle, RemovedRun};
use crate::{FreeError, FreeRangeError, OutOfMemory};
use alloc::vec::Vec;
use core::ops::RangeBounds;
use freehold_units::Span;

/// A region that sticks out of a range, and the value of the part that begins where it is cut.
#[derive(Clone, Copy)]
struct Cut<V> {
    /// The usable addresses.
    region: Span,
    /// The usable addresses and the guard.
    taken: Span,
    /// Valid until the first change.
    place: EntryHandle,
    value: V,
}

impl<V> AddressSpace<V> {
    /// Frees every address in `range`, with the regions and parts of regions that it contains. A region that sticks out
    /// is cut, and what lies outside of the range stays, with the value; what lies in it is freed, with a clone of the
    /// value where the region starts below the range. Returns the freed usable addresses of each region, with the values.
    ///
    /// Addresses in the range that are free, or not in the space, are no error: so an empty range frees nothing. What a
    /// cut does to guards and alignments is as for [`split_at`](Self::split_at): each part that stays has what its own start
    /// has of the region's alignment. And the guard of a region is freed with
    /// the region's last address, whether or not the range contains it, and a range that has only addresses of a guard
    /// frees nothing. A part that stays below the range has no guard.
    ///
    /// # Errors
    /// [`FreeRangeError`]: the range does not consist of whole granules, or contains addresses of a carved region, of one
    /// that is moving or of the new place of one; the lowest that it meets is named. Nothing was changed.
    ///
    /// # Cost
    /// O(log n) for each region in the range, and memory for those that are whole in a range over several. With [best fit](crate::Placement::BestFit) in a space with holes, also one
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
    /// assert!(freed.eq([(span(0x3000, 0x3fff), "file 1"), (span(0x4000, 0x4fff), "file 2")]));
    /// assert_eq!(disk.region_at(0x5000).unwrap().span(), span(0x5000, 0x5fff));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn free_range(&mut self, range: impl RangeBounds<u64>) -> Result<FreedRegions<V>, FreeRangeError>
    where
        V: Clone,
    {
        match Span::from_bounds(&range) {
            Some(span) => self.free_range_listed(span, |_, _, value| value.clone()),
            None => Ok(FreedRegions::nothing()),
        }
    }

    /// [`AddressSpace::free_range`] with the values of second parts from `split`.
    pub(crate) fn free_range_listed(
        &mut self,
        span: Span,
        split: impl FnMut(Span, Span, &V) -> V,
    ) -> Result<FreedRegions<V>, FreeRangeError> {
        match self.check_range(span)? {
            Some(one) if one.region.last() >= span.last() => {
                let value = self.free_in_one(span, &one, split)?;
                Ok(FreedRegions::new(Some((span, value)), Vec::new(), None))
            }
            first => {
                let mut whole = Vec::new();
                let (below, above) = self.regions_to_cut(span, first);
                let next = below.and_then(|below| self.regions.next_start(below.place));
                if above.is_none_or(|above| Some(above.region.first()) != next) {
                    whole.try_reserve_exact(self.regions.count_in(span)).map_err(OutOfMemory::from)?;
                }
                let (below, above) = self.prepare_cuts(span, below, above, split)?;
                let mut freeing = Freeing::new(self, span);
                let (below, above) = freeing.cut_ends(below, above);
                freeing.finish(&mut |span, value| whole.push((span, value)));
                Ok(FreedRegions::new(below, whole, above))
            }
        }
    }

    /// The regions that freeing a range cuts, at its start and at its end, with their values. One that sticks out on both
    /// sides is both.
    #[cfg(feature = "std")]
    #[allow(clippy::type_complexity, reason = "a region at either end")]
    pub(crate) fn ends_to_cut(&self, span: Span) -> Result<[Option<(Span, &V)>; 2], FreeRangeError> {
        let first = self.check_range(span)?;
        let (below, above) = self.regions_to_cut(span, first);
        Ok([below, above].map(|end| end.map(|end| (end.region, self.regions.value_of(end.place)))))
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
        match self.check_range(span)? {
            Some(one) if one.region.last() >= span.last() => {
                freed(span, self.free_in_one(span, &one, split)?)
            }
            first => {
                let (below, above) = self.regions_to_cut(span, first);
                let (below, above) = self.prepare_cuts(span, below, above, split)?;
                let mut freeing = Freeing::new(self, span);
                let (below, above) = freeing.cut_ends(below, above);
                below.into_iter().for_each(|(span, value)| freed(span, value));
                freeing.finish(&mut freed);
                above.into_iter().for_each(|(span, value)| freed(span, value));
            }
        }
        Ok(())
    }

    /// Refuses a range that cannot be freed. Returns the region with its first address.
    fn check_range(&self, span: Span) -> Result<Option<Cut<()>>, FreeRangeError> {
        if !self.made_of_granules(span) {
            return Err(FreeRangeError::NotGranular { span, granule: self.granule });
        }
        self.check_whole_in(span)?;
        Ok(self.usable_at(span.first()))
    }

    /// Refuses a span with addresses of a carved region, of a region that is moving, at either place, or of a
    /// placeholder. Guards do not count.
    pub(super) fn check_whole_in(&self, span: Span) -> Result<(), FreeRangeError> {
        if self.carved.is_empty() && self.moves.len() == 0 {
            return Ok(());
        }
        // Where each lies in the span, and its start. A region that moves by a little is usable where its guard was, which is
        // in no placeholder.
        let around = self.regions.region_at(span.first()).map(|(_, entry)| entry.span);
        let place = around.and_then(|region| self.moves.place_of(region));
        let [around, place] = [around, place].map(|usable| {
            let met = usable.filter(|usable| usable.overlaps(span))?;
            Some((met.first().max(span.first()), around?.first()))
        });
        let inside =
            [self.carved.first_in(span), self.moves.first_in(span)].map(|start| start.map(|at| (at, at)));
        let mut met = [around, place, inside[0], inside[1]];
        met.sort_unstable();
        for (_, first) in met.into_iter().flatten() {
            self.check_whole(first).map_err(|error| match error {
                FreeError::Moving { region } => FreeRangeError::Moving { region },
                FreeError::Carved { region } => FreeRangeError::Carved { region },
                other => panic!("K12, K16: a region is refused as carved or moving: {other}"),
            })?;
        }
        Ok(())
    }

    /// The region with the usable `address`.
    fn usable_at(&self, address: u64) -> Option<Cut<()>> {
        let (place, entry) = self.regions.region_at(address)?;
        let found = Cut { region: entry.span, taken: entry.taken(), place, value: () };
        found.region.contains(address).then_some(found)
    }

    /// Frees a part of one region, or all of it. Returns the value of that part.
    fn free_in_one(
        &mut self,
        span: Span,
        one: &Cut<()>,
        mut split: impl FnMut(Span, Span, &V) -> V,
    ) -> Result<V, OutOfMemory> {
        let &Cut { region, taken, place, .. } = one;
        self.reserve_blocks(1)?;
        let sticks_out = (region.first() < span.first(), span.last() < region.last());
        if sticks_out.1 {
            self.regions.reserve(1 + self.moves.len())?;
        }
        let mut part = region;
        let below = sticks_out.0.then(|| {
            let (kept, rest) = cut(region, span.first());
            part = rest;
            split(kept, rest, self.regions.value_of(place))
        });
        let above = sticks_out.1.then(|| {
            let (freed, kept) = cut(part, span.last() + 1);
            (kept.first(), split(freed, kept, below.as_ref().unwrap_or_else(|| self.regions.value_of(place))))
        });
        let freed = if sticks_out.1 { span } else { cut_or_whole(taken, span.first()) };
        let (value, block) = match (below, above) {
            (Some(value), Some((second, kept))) => {
                self.regions.split(place, Some(span), second, kept);
                (value, span)
            }
            (Some(value), None) => {
                let block = self.regions.set_end(place, span.first() - 1, 0);
                (value, block.expect("K4: what was freed is free"))
            }
            (None, Some((second, kept))) => self
                .regions
                .set_start(place, second, kept)
                .expect("K16: a placeholder is freed by its move alone"),
            (None, None) => {
                let removed = self.regions.remove(region.first(), &mut ()).expect("K4: the region was found");
                (removed.value.expect("K16: a placeholder is freed by its move alone"), removed.block)
            }
        };
        self.join(block, freed, &mut ());
        self.free_bytes += freed.size_bytes();
        Ok(value)
    }

    /// The regions that a range over several cuts, at its start and at its end. It starts in `first`, if in a region.
    fn regions_to_cut(&self, span: Span, first: Option<Cut<()>>) -> (Option<Cut<()>>, Option<Cut<()>>) {
        let below = first.filter(|first| first.region.first() < span.first());
        (below, self.usable_at(span.last()).filter(|last| span.last() < last.region.last()))
    }

    /// Performs all steps that can fail and changes nothing except reserved memory. Makes the values of the second
    /// parts of the regions at both ends.
    #[allow(clippy::type_complexity, reason = "a region at either end")]
    fn prepare_cuts(
        &mut self,
        span: Span,
        below: Option<Cut<()>>,
        above: Option<Cut<()>>,
        mut split: impl FnMut(Span, Span, &V) -> V,
    ) -> Result<(Option<Cut<V>>, Option<Cut<V>>), OutOfMemory> {
        if above.is_some() {
            self.regions.reserve(1 + self.moves.len())?;
        }
        if self.sizes.is_some() {
            let has_holes = self.total_bytes < self.hull.size_bytes();
            // One for each end, and one for each block in between.
            self.reserve_blocks(3 + if has_holes { self.regions.markers_in(span) } else { 0 })?;
        }
        let mut valued = |Cut { region, taken, place, .. }: Cut<()>, at| {
            let (first, second) = cut(region, at);
            Cut { region, taken, place, value: split(first, second, self.regions.value_of(place)) }
        };
        let below = below.map(|below| valued(below, span.first()));
        let above = above.map(|above| valued(above, span.last() + 1));
        Ok((below, above))
    }
}

/// The part of `span` from `at` on.
fn cut_or_whole(span: Span, at: u64) -> Span {
    if span.first() < at { cut(span, at).1 } else { span }
}

/// Frees the regions of a range over several. Its drop frees the rest.
///
/// It is never handed to a caller, who could forget it.
pub(super) struct Freeing<'a, V> {
    space: &'a mut AddressSpace<V>,
    /// The addresses that remain; `None` at the end.
    rest: Option<Span>,
    /// The free block that was entered last. Its key is not in the index by size yet.
    open: Option<Span>,
}

impl<'a, V> Freeing<'a, V> {
    /// For a span that cuts no region, or whose ends were [cut](Freeing::cut_ends).
    pub(super) fn new(space: &'a mut AddressSpace<V>, span: Span) -> Self {
        Self { space, rest: Some(span), open: None }
    }

    /// Frees the parts in the range of the regions at both ends. First of all, since their places are valid until then.
    #[allow(clippy::type_complexity, reason = "a region at either end")]
    fn cut_ends(
        &mut self,
        below: Option<Cut<V>>,
        above: Option<Cut<V>>,
    ) -> (Option<(Span, V)>, Option<(Span, V)>) {
        let below = below.zip(self.rest).map(|(below, rest)| {
            let block = self.space.regions.set_end(below.place, rest.first() - 1, 0);
            let block = block.expect("K4: what was freed is free");
            self.enter(block, cut(below.taken, rest.first()).1);
            self.rest = after(block, rest);
            (cut(below.region, rest.first()).1, below.value)
        });
        let above = above.zip(self.rest).map(|(above, rest)| {
            let (part, kept) = cut(above.region, rest.last() + 1);
            let moved = self.space.regions.set_start(above.place, kept.first(), above.value);
            let (value, block) = moved.expect("K16: a placeholder is freed by its move alone");
            self.enter(block, part);
            self.rest = rest.below(part);
            (part, value)
        });
        (below, above)
    }

    /// Frees all whole regions that remain, and enters the last block.
    fn finish(mut self, freed: &mut impl FnMut(Span, V)) {
        if self.rest.is_some() {
            self.run(freed);
        }
    }

    /// Frees all whole regions that remain, those of one leaf after the other. If `freed` panics, the rest can still be
    /// freed.
    pub(super) fn run(&mut self, freed: &mut impl FnMut(Span, V)) {
        let mut run = RemovedRun::EMPTY;
        while let Some(rest) = self.rest {
            let Some(block) = self.space.regions.remove_run(rest, &mut run) else {
                self.rest = self.skip(rest);
                continue;
            };
            self.enter_run(&run, block);
            self.rest = after(block, rest);
            run.drain().for_each(|region| freed(region.span, region.value));
        }
    }

    /// Counts regions that were removed at once, which are now a part of the free `block`.
    fn enter_run(&mut self, run: &RemovedRun<V>, block: Span) {
        if self.space.sizes.is_none() {
            let taken = run.regions().map(|region| region.taken.size_bytes());
            self.space.free_bytes += taken.sum::<u128>();
            return;
        }
        // One region after the other, so that the keys of the blocks between them go.
        let mut starts = run.regions().skip(1).map(|region| region.taken.first());
        for region in run.regions() {
            let end = starts.next().map_or(block.last(), |next| next - 1);
            let part = Span::new(block.first(), end).expect("K4: a run of regions is in its block");
            self.enter(part, region.taken);
        }
    }

    /// What remains from the next region on. The rest starts in a free block, in a hole of the layout, or in a guard.
    fn skip(&self, rest: Span) -> Option<Span> {
        let taken = self.space.regions.region_from(rest.first())?.taken();
        match taken.first() < rest.first() {
            true => after(taken, rest),
            false => Span::new(taken.first(), rest.last()),
        }
    }

    /// Counts `taken`, which is now a part of the free `block`. The blocks on both sides of it lose their keys.
    fn enter(&mut self, block: Span, taken: Span) {
        self.space.free_bytes += taken.size_bytes();
        if self.space.sizes.is_none() {
            return;
        }
        let parts = [block.below(taken), block.above(taken)];
        let open = self.open.take();
        if open.is_some() && !parts.contains(&open) {
            self.close(open);
        }
        if let Some(sizes) = &mut self.space.sizes {
            parts.into_iter().filter(|&part| part != open).flatten().for_each(|part| sizes.remove(part));
            self.open = Some(block);
        }
    }

    /// Enters a block that the freed addresses form into the index by size.
    fn close(&mut self, open: Option<Span>) {
        if let (Some(sizes), Some(block)) = (&mut self.space.sizes, open) {
            sizes.insert(block);
        }
    }
}

/// The part of `rest` above `passed`.
fn after(passed: Span, rest: Span) -> Option<Span> {
    passed.last().checked_add(1).and_then(|next| Span::new(next, rest.last()))
}

impl<V> Drop for Freeing<'_, V> {
    fn drop(&mut self) {
        if self.rest.is_some() {
            self.run(&mut |_, value| drop(value));
        }
        let open = self.open.take();
        self.close(open);
    }
}
