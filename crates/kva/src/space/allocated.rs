//! The allocated addresses, where regions that touch are one range.

use super::AddressSpace;
use crate::regions::Entries;
use core::iter::FusedIterator;
use freehold_units::Span;

/// See [`AddressSpace::allocated_ranges`].
struct Allocated<'a, V> {
    space: &'a AddressSpace<V>,
    entries: Entries<'a, V>,
    /// Regions that a search for the end of a range has read beyond it, from the front and from the back.
    front: Option<Span>,
    back: Option<Span>,
}

impl<V> AddressSpace<V> {
    /// The allocated addresses in address order, from both ends. Regions that touch are one range. Guards, and the new
    /// places of regions that are moving, count as allocated: the ranges and the [free blocks](Self::free_blocks)
    /// together are all addresses of the space.
    ///
    /// Cost: O(log n), and constant for each region.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    /// let mut space = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// space.alloc(&Request::new(0x1000).guard(0x1000), "a")?;
    /// space.alloc(&Request::new(0x2000), "b")?;
    /// space.alloc_at(Span::new(0x8000, 0x8fff).unwrap(), "c")?;
    /// let ranges: Vec<String> = space.allocated_ranges().map(|range| range.to_string()).collect();
    /// assert_eq!(ranges, ["0x0..=0x3fff", "0x8000..=0x8fff"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allocated_ranges(&self) -> impl DoubleEndedIterator<Item = Span> + FusedIterator {
        Allocated { space: self, entries: self.regions.entries(Span::ALL), front: None, back: None }
    }
}

impl<V> Iterator for Allocated<'_, V> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let regions = &self.space.regions;
        let taken = self.entries.by_ref().filter_map(|at| regions.region_of(at)).map(|entry| entry.taken());
        joined(taken, &mut self.front, &mut self.back)
    }
}

impl<V> DoubleEndedIterator for Allocated<'_, V> {
    fn next_back(&mut self) -> Option<Span> {
        let regions = &self.space.regions;
        let entries = self.entries.by_ref().rev();
        let taken = entries.filter_map(|at| regions.region_of(at)).map(|entry| entry.taken());
        joined(taken, &mut self.back, &mut self.front)
    }
}

/// The next range from one end: the next region and those that touch it. `near` and `far` are the regions that were
/// read beyond a range, from this end and from the other one.
fn joined(
    mut taken: impl Iterator<Item = Span>,
    near: &mut Option<Span>,
    far: &mut Option<Span>,
) -> Option<Span> {
    let touch = |range: Span, next: Span| range.touches(next) || next.touches(range);
    let mut range = near.take().or_else(|| taken.next()).or_else(|| far.take())?;
    for next in taken {
        if !touch(range, next) {
            *near = Some(next);
            return Some(range);
        }
        range = range.hull(next);
    }
    let last = far.take_if(|&mut last| touch(range, last));
    Some(last.map_or(range, |last| range.hull(last)))
}

impl<V> FusedIterator for Allocated<'_, V> {}
