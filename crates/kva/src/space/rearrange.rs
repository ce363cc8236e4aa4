//! Moves several regions at once: all or none.
//!
//! ```text
//!   before   |##A##|..|##B##|.......|##C##|       A to where B is, B to where A is, C next to it
//!   after    |##B##|..|##A##|##C##|.......|
//! ```
//!
//! Each new place must be free or vacated by one of the moves. Then all regions are removed and inserted at their new
//! places.

use super::AddressSpace;
use super::moves::Mover;
use crate::{AllocError, MoveError, OutOfMemory};
use alloc::vec::Vec;
use freehold_units::Span;

/// A region that is being moved.
struct Travel<V> {
    mover: Mover,
    /// The new place, guard included.
    place: Span,
    /// The value, while the region is out of the space.
    value: Option<V>,
}

impl<V> AddressSpace<V> {
    /// Moves regions, each given by its start, to new places, all at once. Two may swap places, one may take another's
    /// place, and one may stay. Size, alignment, guard and value are kept.
    ///
    /// # Errors
    /// [`MoveError`]; no region has moved.
    ///
    /// # Cost
    /// O(m log n) for m moves. Reserves m leaves of the tree of regions, which stay in reserve.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    ///
    /// let bus = Span::new(0xc000_0000, 0xcfff_ffff).unwrap();
    /// let mut bus = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    /// let disk = bus.alloc(&Request::natural(0x4000), "disk")?;
    /// let nic = bus.alloc(&Request::natural(0x4000), "nic")?;
    /// bus.rearrange(&[(disk.first(), nic), (nic.first(), disk)])?;
    /// assert_eq!(*bus.region_at(disk.first()).unwrap().value(), "nic");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rearrange(&mut self, moves: &[(u64, Span)]) -> Result<(), MoveError> {
        let mut travels = self.travels(moves)?;
        self.reserve_regions(travels.len())?;
        self.reserve_blocks(travels.len().saturating_mul(2))?;
        for travel in &mut travels {
            let first = travel.mover.span.first();
            let removed = self.free_entry(first, &mut ()).expect("K4: a region that was checked is there");
            travel.value = removed.value;
        }
        for Travel { mover, place, value } in travels {
            let block = self.block_over(place).expect("K4: the place was free, or has become so");
            self.occupy(block, place, mover.terms, value, &mut ());
        }
        Ok(())
    }

    /// The moves, after checking that each is valid by itself and that no two conflict.
    fn travels(&self, moves: &[(u64, Span)]) -> Result<Vec<Travel<V>>, MoveError> {
        let mut travels = Vec::new();
        travels.try_reserve_exact(moves.len()).map_err(OutOfMemory::from)?;
        for &(first, place) in moves {
            let mover = self.mover(first)?;
            if place.size_bytes() != mover.span.size_bytes() {
                return Err(MoveError::OtherSize { region: mover.span, place });
            }
            travels.push(Travel { place: mover.place(place.first())?, mover, value: None });
        }
        travels.sort_unstable_by_key(|travel| travel.place);
        if let Some(two) = travels.windows(2).find(|two| two[0].place.overlaps(two[1].place)) {
            return Err(MoveError::PlacesOverlap { place: two[0].place, other: two[1].place });
        }
        travels.sort_unstable_by_key(|travel| travel.mover.span);
        if let Some(twice) = travels.windows(2).find(|two| two[0].mover.span == two[1].mover.span) {
            return Err(MoveError::Twice { region: twice[0].mover.span });
        }
        travels.iter().try_for_each(|travel| self.check_vacated(travel.place, &travels))?;
        Ok(travels)
    }

    /// Refuses a place that has an address which is neither free nor vacated by one of `travels`, which ascend.
    fn check_vacated(&self, place: Span, travels: &[Travel<V>]) -> Result<(), AllocError> {
        // From the top down, so that the error names the highest obstacle.
        let mut at = place.last();
        loop {
            let part = match self.regions.region_at(at) {
                Some((_, entry)) => {
                    let leaves = |travel: &Travel<V>| travel.mover.taken.cmp(&entry.taken());
                    if travels.binary_search_by(leaves).is_err() {
                        return Err(AllocError::Occupied { region: self.place_shown(&entry) });
                    }
                    entry.taken()
                }
                None => {
                    let outside = AllocError::PlaceOutside { place, space: self.hull };
                    self.regions.block_at(at).ok_or(outside)?
                }
            };
            match part.first().checked_sub(1) {
                Some(next) if next >= place.first() => at = next,
                _ => return Ok(()),
            }
        }
    }
}
