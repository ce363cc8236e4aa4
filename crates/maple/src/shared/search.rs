//! Searches for a gap, under the writer's lock: the longest gaps in inner nodes are the writer's.

use super::MapleTree;
use crate::entry::StoredValue;
use crate::error::AllocError;
use crate::map::Request;
use crate::tree::Direction;
use freehold_units::Span;

impl<E: StoredValue> MapleTree<E> {
    /// The lowest free place that fits a request, in the map as readers see it. Waits for a running store, never for an
    /// open transaction.
    ///
    /// The place is free until the next store, which another thread may make at any time.
    ///
    /// Cost: as [`WordMap::lowest_gap`](crate::WordMap::lowest_gap), under the writer's lock: O(log n) for n entries
    /// without an alignment.
    ///
    /// # Errors
    /// `ZeroSize`; `TooLarge` if the request exceeds the window; `NoSpace` if no place fits.
    ///
    /// ```
    /// use freehold_maple::{MapleTree, Request};
    ///
    /// let map = MapleTree::new();
    /// map.store(0..0x1000, 1u32)?;
    /// map.store(0x3000..0x4000, 2)?;
    /// let request = Request::new(0x1000).window((0..0x3000).try_into()?);
    /// assert_eq!(map.lowest_gap(&request)?.first(), 0x1000);
    /// assert_eq!(map.highest_gap(&request)?.first(), 0x2000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "mas_empty_area")]
    pub fn lowest_gap(&self, request: &Request) -> Result<Span, AllocError> {
        self.find_gap(request, Direction::Up)
    }

    /// The highest free place that fits a request; otherwise as [`lowest_gap`](Self::lowest_gap).
    ///
    /// Cost: as for [`lowest_gap`](Self::lowest_gap).
    ///
    /// # Errors
    /// As for [`lowest_gap`](Self::lowest_gap).
    #[doc(alias = "mas_empty_area_rev")]
    pub fn highest_gap(&self, request: &Request) -> Result<Span, AllocError> {
        self.find_gap(request, Direction::Down)
    }

    fn find_gap(&self, request: &Request, direction: Direction) -> Result<Span, AllocError> {
        let want = request.checked(direction)?;
        let writer = self.lock();
        let found = writer.tree.find_gap_in(writer.tree.published(), &want, &mut ());
        found.ok_or_else(|| request.no_space())
    }
}
