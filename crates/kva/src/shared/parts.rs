//! Parts of regions in a shared space: resizing, cutting, merging, freeing.

use super::{SharedSpace, show};
use crate::error::SharedError;
use crate::{FreeRangeError, FreedRegions, MergeError, ResizeError, SplitError};
use core::ops::RangeBounds;
use freehold_units::Span;
use std::sync::Arc;

impl<V: ?Sized> SharedSpace<V> {
    /// Resizes the region that starts at `first` in place to `size_bytes`. Its guard moves with its end. Returns its
    /// addresses.
    ///
    /// Cost: the lock, [`AddressSpace::resize`](crate::AddressSpace::resize), and a transaction of one change in the
    /// tree of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::resize`](crate::AddressSpace::resize), or the tree cannot make the change (readers, memory or
    /// the barrier); nothing was changed.
    pub fn resize(&self, first: u64, size_bytes: u64) -> Result<Span, SharedError<ResizeError>> {
        self.change(
            |core, tree| {
                let Some((region, new)) = core.region_at(first).zip(Span::from_size(first, size_bytes))
                else {
                    return Ok(());
                };
                match region.span().above(new) {
                    Some(less) => tree.remove_range(less),
                    None => show(tree, new, region.value()),
                }
            },
            |core| core.resize(first, size_bytes),
        )
    }

    /// Cuts the region that contains `address` in two, of which the second starts there. Both have the value. Returns
    /// their usable addresses.
    ///
    /// Cost: the lock, [`AddressSpace::split_at`](crate::AddressSpace::split_at), and a transaction of one change in the
    /// tree of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::split_at`](crate::AddressSpace::split_at), or the tree cannot make the change (readers, memory
    /// or the barrier); nothing was changed.
    pub fn split_at(&self, address: u64) -> Result<(Span, Span), SharedError<SplitError>> {
        self.change(
            |core, tree| {
                let Some(region) = core.region_at(address) else { return Ok(()) };
                // None if the address is at the new place of a region that moves.
                let Some(second) = Span::new(address, region.span().last()) else { return Ok(()) };
                show(tree, second, region.value())
            },
            |core| core.split_at(address),
        )
    }

    /// Merges the region that starts at `first` with the next one, which must start where it ends and have the same
    /// `Arc` as its value, as the parts of a region that was cut have. Returns the usable addresses of both together, and
    /// the second one's `Arc`.
    ///
    /// Cost: the lock, [`AddressSpace::merge`](crate::AddressSpace::merge), and a transaction of one change in the tree
    /// of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::merge`](crate::AddressSpace::merge), or the tree cannot make the change (readers, memory or
    /// the barrier); nothing was changed.
    pub fn merge(&self, first: u64) -> Result<(Span, Arc<V>), SharedError<MergeError>> {
        self.change(
            |core, tree| {
                let Some(region) = core.region_at(first) else { return Ok(()) };
                let behind = region.span().last().checked_add(1).and_then(|next| core.region_at(next));
                let Some(next) = behind else { return Ok(()) };
                let both = region.span().hull(next.span());
                show(tree, both, region.value())
            },
            |core| core.merge_with(first, |one, other| Arc::ptr_eq(one.value(), other.value())),
        )
    }

    /// Frees every address in `range`, with the regions and parts of regions that it contains. What sticks out of it
    /// stays. Readers see all of it go at the same moment. Returns the freed usable addresses with their values, one
    /// entry for each region, in address order.
    ///
    /// Cost: the lock, [`AddressSpace::free_range`](crate::AddressSpace::free_range), and a transaction of one change in
    /// the tree of readers; O(log n) for each region in the range.
    ///
    /// # Errors
    /// As [`AddressSpace::free_range`](crate::AddressSpace::free_range), or the tree cannot make the change (readers,
    /// memory or the barrier); nothing was changed.
    pub fn free_range(
        &self,
        range: impl RangeBounds<u64>,
    ) -> Result<FreedRegions<Arc<V>>, SharedError<FreeRangeError>> {
        let bounds = (range.start_bound().cloned(), range.end_bound().cloned());
        self.change(|_, tree| tree.remove_range(bounds), |core| core.free_range(bounds))
    }
}
