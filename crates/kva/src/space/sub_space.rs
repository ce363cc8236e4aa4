//! Sub-spaces: a region becomes a space of its own, which hands out the region's addresses until it is returned.
//!
//! ```text
//!   parent      |####|..........|#########################|g|.......|
//!                                region, carved: "bridge 1"          its owner stays known, it cannot be freed
//!                               |                         |
//!   sub-space                   |##|....|######|..........|          another placement and type of value if
//!                                nic      disk                       need be; the same granule
//! ```
//!
//! A sub-space is an [`AddressSpace`] like any other. For example, a bridge in a tree of devices owns one and carves
//! from it for the bridges below. Parent and sub-space have no references to each other, so they may live and be
//! dropped in any order. The parent recognizes its sub-space by an identity when it returns (`carved.rs`).
//!
//! Invariant: K13 a sub-space has exactly the addresses of a region that its parent has marked as carved. So a parent
//! does not free, resize or move such a region, and a sub-space accepts no other addresses.

use super::AddressSpace;
use super::alloc::usable;
use super::identity::Identity;
use crate::regions::{EntryHandle, RegionAttrs};
use crate::{AdoptError, AllocError, FreeError, OutOfMemory, Placement, Rejected, Request, ReturnError};
use freehold_units::Span;

/// A sub-space that is to be carved.
pub(crate) struct Carving<W> {
    /// The entry before the place. Valid until the parent changes.
    before: EntryHandle,
    taken: Span,
    terms: RegionAttrs,
    pub(crate) child: AddressSpace<W>,
}

impl<V> AddressSpace<V> {
    /// Takes a range for `request` and stores `value` with it, as [`AddressSpace::alloc`] does. Returns an empty space
    /// of its addresses, without the guard, that has the same granule. [`AddressSpace::take_back`] frees it.
    ///
    /// # Errors
    /// As [`AddressSpace::alloc`].
    ///
    /// # Cost
    /// As [`AddressSpace::alloc`], and O(carved regions).
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    ///
    /// let bus = Span::new(0xc000_0000, 0xffff_ffff).unwrap();
    /// let mut bus: AddressSpace<&str> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    /// let mut window: AddressSpace<u8> =
    ///     bus.carve(&Request::new(0x10_0000), "bridge 1", Placement::Highest)?;
    ///
    /// let bar = window.alloc(&Request::new(0x4000), 0)?;
    /// assert_eq!(bar.last(), 0xc00f_ffff);
    /// assert_eq!(*bus.region_at(bar.first()).unwrap().value(), "bridge 1");
    ///
    /// // Neither side can pull the ground from under the other.
    /// assert!(bus.free(0xc000_0000).is_err());
    /// let refused = bus.take_back(window).unwrap_err();
    /// assert_eq!(refused.to_string(), "0xc00fc000..=0xc00fffff is still allocated in the sub-space");
    ///
    /// let mut window = refused.value;
    /// window.free(bar.first())?;
    /// assert_eq!(bus.take_back(window)?.1, "bridge 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn carve<W>(
        &mut self,
        request: &Request,
        value: V,
        placement: Placement,
    ) -> Result<AddressSpace<W>, Rejected<V>> {
        match self.prepare_carve(request, placement) {
            Ok(carving) => Ok(self.commit_carve(carving, value)),
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Performs all steps that can fail and changes nothing except reserved memory.
    pub(crate) fn prepare_carve<W>(
        &mut self,
        request: &Request,
        placement: Placement,
    ) -> Result<Carving<W>, AllocError> {
        let (before, taken, terms) = self.prepare(request, self.placement, &mut ())?;
        self.carved.reserve()?;
        // The span consists of granules, so only memory can be missing.
        let child =
            AddressSpace::new(usable(taken, request), self.granule, placement).map_err(|_| OutOfMemory)?;
        Ok(Carving { before, taken, terms, child: AddressSpace { origin: Some(Identity::new()), ..child } })
    }

    /// Carves a sub-space that was prepared. The space has not changed since.
    pub(crate) fn commit_carve<W>(&mut self, carving: Carving<W>, value: V) -> AddressSpace<W> {
        let Carving { before, taken, terms, child } = carving;
        self.occupy(before, taken, terms, Some(value), &mut ());
        self.carved.set(child.hull.first(), child.origin);
        child
    }

    /// Ends an empty sub-space and frees the region that it was carved from, with its guard. Returns the region's
    /// usable addresses and its value.
    ///
    /// # Errors
    /// Returns the sub-space unchanged: [`ReturnError::Foreign`] if it is not a sub-space of this space,
    /// [`ReturnError::InUse`] with its lowest live region, [`ReturnError::OutOfMemory`].
    ///
    /// # Cost
    /// O(log n), and O(carved regions).
    #[allow(clippy::result_large_err, reason = "the sub-space comes back whole")]
    pub fn take_back<W>(
        &mut self,
        sub_space: AddressSpace<W>,
    ) -> Result<(Span, V), Rejected<AddressSpace<W>, ReturnError>> {
        let first = sub_space.hull.first();
        let cause = if sub_space.origin.is_none() || self.carved.child(first) != sub_space.origin {
            ReturnError::Foreign { space: sub_space.hull }
        } else if let Some(region) = sub_space.regions().next() {
            ReturnError::InUse { region: region.span() }
        } else {
            match self.free_region(first, &mut ()) {
                Ok(freed) => {
                    self.carved.remove(first);
                    return Ok(freed);
                }
                Err(FreeError::OutOfMemory) => ReturnError::OutOfMemory,
                Err(error) => panic!("K12: a mark is the start of a region: {error}"),
            }
        };
        Err(Rejected { value: sub_space, cause })
    }

    /// Makes `child`, which may be in use, the sub-space of the region that starts at `first`. The region is an
    /// ordinary one, or it awaits its sub-space: restoring or cloning a space keeps the marks of its carved regions,
    /// but not their sub-spaces. Returns the region's addresses.
    ///
    /// # Errors
    /// [`AdoptError`]: no region starts at `first`, the region has a sub-space already, or `child` does not match.
    ///
    /// # Cost
    /// O(log n), and O(carved regions).
    pub fn adopt<W>(&mut self, first: u64, child: &mut AddressSpace<W>) -> Result<Span, AdoptError> {
        let Some((_, entry)) = self.regions.region(first) else {
            return Err(AdoptError::Address(self.why_not(first)));
        };
        let (region, space) = (entry.span, child.hull);
        if self.carved.child(first).is_some() {
            return Err(AdoptError::Address(FreeError::Carved { region }));
        }
        if self.moves.involve(first) {
            return Err(AdoptError::Address(self.why_not(first)));
        }
        if child.is_sub_space() {
            return Err(AdoptError::HasParent { space });
        }
        if child.granule != self.granule {
            return Err(AdoptError::Granule { parent: self.granule, child: child.granule });
        }
        if space != region || child.total_bytes != region.size_bytes() {
            return Err(AdoptError::Unlike { region, space });
        }
        self.carved.reserve()?;
        child.origin = Some(Identity::new());
        self.carved.set(first, child.origin);
        Ok(region)
    }

    /// Makes the carved region that starts at `first` an ordinary one, which can be freed. This is for a sub-space that
    /// will not return: it was dropped, or the guest that had it is gone. If it does return, it is refused as foreign.
    /// Returns whether there was such a region.
    ///
    /// # Cost
    /// O(carved regions).
    pub fn disown(&mut self, first: u64) -> bool {
        self.carved.remove(first)
    }

    /// Whether the space is a sub-space, carved from another space or adopted by it. A clone of a sub-space is not.
    /// Cost: constant.
    #[must_use]
    pub fn is_sub_space(&self) -> bool {
        self.origin.is_some()
    }
}
