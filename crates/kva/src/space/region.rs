//! Queries of a space: the region at an address, all regions, and the figures.

use super::AddressSpace;
use super::carved::Carved;
use super::moves::Moves;
use crate::regions::{Entries, EntryRef, RegionEntry, RegionTree};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use freehold_units::Span;

/// An allocated region and the caller's value.
#[derive(Debug, PartialEq, Eq)]
pub struct Region<'a, V> {
    span: Span,
    guard: Option<Span>,
    moving_to: Option<Span>,
    value: &'a V,
    is_carved: bool,
}

impl<V> Clone for Region<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Region<'_, V> {}

impl<'a, V> Region<'a, V> {
    /// The usable addresses; for a region that is moving, those at the old place. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The guard: the unused addresses after the region, if it has any. Cost: constant.
    #[must_use]
    pub fn guard(&self) -> Option<Span> {
        self.guard
    }

    /// The usable addresses at the new place, while a [move](AddressSpace::begin_move) is pending. Cost: constant.
    #[must_use]
    pub fn moving_to(&self) -> Option<Span> {
        self.moving_to
    }

    /// The value that the caller stored. Cost: constant.
    #[must_use]
    pub fn value(&self) -> &'a V {
        self.value
    }

    /// Whether a sub-space hands out its addresses. Cost: constant.
    #[must_use]
    pub fn is_carved(&self) -> bool {
        self.is_carved
    }

    /// Whether `address` is usable, at either place.
    #[inline]
    fn has(&self, address: u64) -> bool {
        self.span.contains(address) || self.moving_to.is_some_and(|place| place.contains(address))
    }
}

/// The regions of a space, with their marks and moves.
#[derive(Debug)]
pub(super) struct Known<'a, V> {
    tree: &'a RegionTree<V>,
    carved: &'a Carved,
    moves: &'a Moves,
}

impl<V> Copy for Known<'_, V> {}
impl<V> Clone for Known<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, V> Known<'a, V> {
    /// The region of an entry; `None` for a placeholder.
    #[inline]
    pub(super) fn region(self, entry: RegionEntry<'a, V>) -> Option<Region<'a, V>> {
        let span = entry.span;
        Some(Region {
            span,
            guard: entry.guard(),
            moving_to: self.moves.place_of(span),
            value: entry.value?,
            is_carved: self.carved.holds(span.first()),
        })
    }

    /// The region that an iteration is at; `None` at a placeholder or a marker.
    #[inline]
    fn region_in(self, at: EntryRef<'a, V>) -> Option<Region<'a, V>> {
        self.region(self.tree.region_of(at)?)
    }

    /// The region whose addresses, at either of its places, or guard contain `address`.
    #[inline]
    fn region_at(self, address: u64) -> Option<Region<'a, V>> {
        let (_, mut entry) = self.tree.region_at(address)?;
        if let Some(first) = self.moves.region_of(&entry) {
            (_, entry) = self.tree.region(first).expect("K16: a placeholder is a region's");
        }
        self.region(entry)
    }
}

/// Regions in address order, from both ends: [`AddressSpace::regions`], [`AddressSpace::regions_in`].
pub struct Regions<'a, V> {
    entries: Entries<'a, V>,
    known: Known<'a, V>,
}

impl<'a, V> Iterator for Regions<'a, V> {
    type Item = Region<'a, V>;

    #[inline]
    fn next(&mut self) -> Option<Region<'a, V>> {
        loop {
            if let Some(region) = self.known.region_in(self.entries.next()?) {
                return Some(region);
            }
        }
    }
}

impl<V> DoubleEndedIterator for Regions<'_, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(region) = self.known.region_in(self.entries.next_back()?) {
                return Some(region);
            }
        }
    }
}

impl<V> FusedIterator for Regions<'_, V> {}

impl<V> Clone for Regions<'_, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), known: self.known }
    }
}

impl<V: fmt::Debug> fmt::Debug for Regions<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Takes regions with their values out of a space in address order, from both ends: [`AddressSpace::into_iter`]. A
/// forgotten iterator (`mem::forget`) leaks the remaining values.
pub struct IntoRegions<V> {
    space: AddressSpace<V>,
    /// The addresses whose regions remain.
    rest: Option<Span>,
}

impl<V> IntoRegions<V> {
    fn take(&mut self, first: u64) -> Option<(Span, V)> {
        let removed =
            self.space.regions.remove(first, &mut ()).expect("K4: a region that was found is there");
        Some((removed.span, removed.value.expect("K16: a region has a value")))
    }
}

impl<V> Iterator for IntoRegions<V> {
    type Item = (Span, V);

    fn next(&mut self) -> Option<(Span, V)> {
        // A placeholder has no value: its region has its place elsewhere.
        loop {
            let rest = self.rest.take()?;
            let entry =
                self.space.regions.region_from(rest.first()).filter(|entry| entry.span.overlaps(rest))?;
            let (first, is_region) = (entry.span.first(), entry.value.is_some());
            self.rest = rest.above(entry.taken());
            if is_region {
                return self.take(first);
            }
        }
    }
}

impl<V> DoubleEndedIterator for IntoRegions<V> {
    fn next_back(&mut self) -> Option<(Span, V)> {
        let rest = self.rest.take()?;
        let found = self.space.regions_in(rest).next_back()?.span;
        self.rest = rest.below(found);
        self.take(found.first())
    }
}

impl<V> FusedIterator for IntoRegions<V> {}

impl<V: fmt::Debug> fmt::Debug for IntoRegions<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoRegions").field(&self.space.regions()).finish()
    }
}

impl<V> IntoIterator for AddressSpace<V> {
    type Item = (Span, V);
    type IntoIter = IntoRegions<V>;

    /// Usable addresses and values in address order. Sub-spaces are not affected.
    fn into_iter(self) -> IntoRegions<V> {
        IntoRegions { space: self, rest: Some(Span::ALL) }
    }
}

impl<'a, V> IntoIterator for &'a AddressSpace<V> {
    type Item = Region<'a, V>;
    type IntoIter = Regions<'a, V>;

    fn into_iter(self) -> Regions<'a, V> {
        self.regions()
    }
}

impl<V> AddressSpace<V> {
    /// The region that contains `address`, at its start or anywhere inside. A guard belongs to no region here. A region
    /// that is moving has the addresses of both places.
    ///
    /// # Cost
    /// O(log n). Writes nothing.
    #[inline(always)] // 159 instructions among 256 regions, 50 more with calls within, which return through memory
    #[must_use]
    #[doc(alias = "find_vmap_area")]
    pub fn region_at(&self, address: u64) -> Option<Region<'_, V>> {
        if self.moves.len() > 0 {
            return self.region_beside_moves(address);
        }
        let region = self.known().region(self.regions.entry_at(address)?)?;
        // It starts at or below the address: only its guard may hold it instead.
        (address <= region.span.last()).then_some(region)
    }

    /// [`AddressSpace::region_at`] while moves are pending.
    #[cold]
    fn region_beside_moves(&self, address: u64) -> Option<Region<'_, V>> {
        self.known().region_at(address).filter(|region| region.has(address))
    }

    /// The region whose guard contains `address`: the one that was overrun. Cost: O(log n). Writes nothing.
    #[must_use]
    pub fn guard_at(&self, address: u64) -> Option<Region<'_, V>> {
        self.known().region_at(address).filter(|region| region.guard.is_some() && !region.has(address))
    }

    /// A mutable reference to the value of the region that contains `address`. Cost: O(log n).
    pub fn value_at_mut(&mut self, address: u64) -> Option<&mut V> {
        let at = if self.moves.len() > 0 { self.region_at(address)?.span.first() } else { address };
        self.regions.value_at(at)
    }

    /// All values, in no order. Cost: constant for each region, amortized.
    pub fn values_mut(&mut self) -> impl FusedIterator<Item = &mut V> {
        self.regions.values_mut()
    }

    /// All regions in address order, from both ends. A region that is moving is shown at its old place.
    ///
    /// Cost: as [`AddressSpace::regions_in`].
    pub fn regions(&self) -> Regions<'_, V> {
        self.regions_in(Span::ALL)
    }

    /// The regions that have an address in `range`, guard included, in address order and from both ends. A range is
    /// `0x1000..` or a [`Span`], for example; an empty one has no regions. A region that is moving is at its old place.
    ///
    /// # Cost
    /// O(log n), and constant for each region.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut space = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// for name in ["a", "b", "c"] {
    ///     space.alloc(&Request::new(0x2000), name)?;
    /// }
    /// let from_the_top = space.regions_in(0x3000..).rev();
    /// assert!(from_the_top.map(|region| *region.value()).eq(["c", "b"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn regions_in(&self, range: impl RangeBounds<u64>) -> Regions<'_, V> {
        let entries = Span::from_bounds(&range).map(|span| self.regions.entries(span));
        Regions { entries: entries.unwrap_or_else(|| self.regions.no_entries()), known: self.known() }
    }

    /// All free blocks in address order, from both ends. Cost: O(log n), and constant for each region.
    pub fn free_blocks(&self) -> impl DoubleEndedIterator<Item = Span> + FusedIterator {
        self.regions.blocks()
    }

    #[inline]
    pub(super) fn known(&self) -> Known<'_, V> {
        Known { tree: &self.regions, carved: &self.carved, moves: &self.moves }
    }
}
