//! Populated blocks: all of their pages were found to be resident, and none was decommitted since.
//!
//! A caller that clears a block before its next use asks the system which pages are resident, and writes to no others.
//! For a populated block it need not ask.

use super::PooledSpace;

impl PooledSpace {
    /// Whether the block that starts at `first`, which the caller holds, is populated: this or an earlier holder said so
    /// ([`PooledSpace::set_populated`]), and the block was not freed as decommitted or purged since. `false` for an
    /// address at which no block starts.
    ///
    /// Cost: constant: the page map and two loads.
    #[must_use]
    pub fn is_populated(&self, first: u64) -> bool {
        self.held_in(first).is_some_and(|slab| slab.is_populated(first))
    }

    /// Says that all pages of the block that starts at `first`, which the caller holds, are resident; or, with `false`,
    /// that it is not known, as after the holder returned some of them to the system. Does nothing at an address at
    /// which no block starts, and in a space that is not [for memory](PooledSpace::for_memory).
    ///
    /// Cost: as [`PooledSpace::is_populated`], and an exchange of an atomic word.
    pub fn set_populated(&self, first: u64, populated: bool) {
        if let Some(slab) = self.held_in(first)
            && self.tracks_residency
        {
            slab.set_populated(first, populated);
        }
    }
}
