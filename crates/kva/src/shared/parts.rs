//! Parts of regions in a shared space: resizing, cutting, merging, freeing.
//!
//! Code of the caller runs without the lock:
//!
//! ```text
//!   lock, look at the regions, unlock | the caller's code | lock, the same regions? change : begin again, unlock
//! ```

use super::{SharedSpace, show};
use crate::error::SharedError;
use crate::space::split::cut;
use crate::{AddressSpace, FreeRangeError, FreedRegions, MergeError, ResizeError, SplitError};
use core::ops::RangeBounds;
use freehold_maple::maple_tree::{Transaction, WriteError};
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

    /// As [`split_at`](Self::split_at), with the second region's value from `split`, which is given the addresses of both
    /// parts and the value. The first region keeps its value.
    ///
    /// `split` runs without a lock, so it may use the space. It is called again if the region has changed meanwhile.
    ///
    /// Cost: as [`split_at`](Self::split_at), with the lock twice, and `split`.
    ///
    /// # Errors
    /// As [`split_at`](Self::split_at).
    ///
    /// ```
    /// use freehold_kva::{Placement, Request, SharedSpace};
    /// use freehold_units::{Align, Span};
    /// use std::sync::Arc;
    ///
    /// let disk = SharedSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// let file = disk.alloc(&Request::new(0x4000), Arc::new("file 1".to_owned()))?;
    /// disk.split_at_with(0x1000, |_, second, name| Arc::new(format!("{name}, from {:#x} on", second.first())))?;
    /// assert_eq!(*disk.region_at(0x2000).unwrap().1, "file 1, from 0x1000 on");
    /// // One region again, which has the first one's value.
    /// let (whole, _) = disk.merge_with(0, |(_, one), (_, other)| other.starts_with(&**one))?;
    /// assert_eq!((whole, &*disk.region_at(0x2000).unwrap().1), (file, &"file 1".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split_at_with(
        &self,
        address: u64,
        mut split: impl FnMut(Span, Span, &Arc<V>) -> Arc<V>,
    ) -> Result<(Span, Span), SharedError<SplitError>> {
        self.change_seen(
            |core| {
                let (_, (first, second), value) = core.region_to_cut(address)?;
                Ok((Seen::new(first, value), second))
            },
            |(first, second)| Ok(split(first.span, *second, &first.value)),
            |tree, (_, second), value| show(tree, *second, value),
            |core, _, value| core.split_at_with(address, |_, _, _| Arc::clone(value)),
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

    /// As [`merge`](Self::merge), for regions of which `agree` says that they belong together. It is given the addresses
    /// and the value of both. The value of the first stays.
    ///
    /// The parts of a region that was cut have two `Arc`s once the space is [restored](Self::from_bytes), so `merge`
    /// refuses them, and this does not.
    ///
    /// `agree` runs without a lock, so it may use the space. It is called again if one of the two has changed meanwhile.
    ///
    /// Cost: as [`merge`](Self::merge), with the lock twice, and `agree`.
    ///
    /// # Errors
    /// As [`merge`](Self::merge); [`MergeError::Disagree`] if `agree` returns false.
    pub fn merge_with(
        &self,
        first: u64,
        mut agree: impl FnMut((Span, &Arc<V>), (Span, &Arc<V>)) -> bool,
    ) -> Result<(Span, Arc<V>), SharedError<MergeError>> {
        self.change_seen(
            |core| {
                let ((_, one), (_, other)) = core.regions_to_merge(first)?;
                Ok([one, other].map(|region| Seen::new(region.span(), region.value())))
            },
            |[one, other]| match agree((one.span, &one.value), (other.span, &other.value)) {
                true => Ok(()),
                false => Err(MergeError::Disagree { region: one.span, next: other.span }),
            },
            |tree, [one, other], ()| show(tree, one.span.hull(other.span), &one.value),
            |core, _, ()| core.merge_with(first, |_, _| true),
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

    /// As [`free_range`](Self::free_range), with the values of second parts from `split`, as
    /// [`AddressSpace::free_range_with`] has: it is called at most twice, and a region that sticks out on both sides is
    /// cut below first.
    ///
    /// `split` runs without a lock, so it may use the space. It is called again if what the range cuts has changed
    /// meanwhile.
    ///
    /// Cost: as [`free_range`](Self::free_range), with the lock twice, and the calls.
    ///
    /// # Errors
    /// As [`free_range`](Self::free_range).
    pub fn free_range_with(
        &self,
        range: impl RangeBounds<u64>,
        mut split: impl FnMut(Span, Span, &Arc<V>) -> Arc<V>,
    ) -> Result<FreedRegions<Arc<V>>, SharedError<FreeRangeError>> {
        let Some(range) = Span::from_bounds(&range) else { return Ok(FreedRegions::nothing()) };
        self.change_seen(
            |core| {
                let ends = core.ends_to_cut(range)?;
                Ok(ends.map(|end| end.map(|(region, value)| Seen::new(region, value))))
            },
            |ends| Ok(second_values(range, ends, &mut split)),
            |tree, [_, above], [_, value]| {
                tree.remove_range(range)?;
                above
                    .as_ref()
                    .zip(value.as_ref())
                    .map_or(Ok(()), |(above, value)| show(tree, cut(above.span, range.last() + 1).1, value))
            },
            |core, _, values| {
                let mut values = values.iter().flatten();
                let next = |_: Span, _: Span, _: &Arc<V>| {
                    Arc::clone(values.next().expect("K17: a range cuts what was seen at its ends"))
                };
                core.free_range_listed(range, next)
            },
        )
    }

    /// Makes a change with what the caller's code, `make`, makes of the regions that the change is about. That code runs
    /// without the lock. If `look` then finds other regions, nothing is changed, and all is done again: so somebody
    /// else has made a change each time.
    fn change_seen<S: PartialEq, M, T, C>(
        &self,
        look: impl Fn(&AddressSpace<Arc<V>>) -> Result<S, C>,
        mut make: impl FnMut(&S) -> Result<M, C>,
        in_tree: impl Fn(&mut Transaction<'_, Arc<V>>, &S, &M) -> Result<(), WriteError>,
        in_core: impl Fn(&mut AddressSpace<Arc<V>>, &S, &M) -> Result<T, C>,
    ) -> Result<T, SharedError<C>> {
        loop {
            let seen = look(&self.begin()).map_err(SharedError::Refused)?;
            let made = make(&seen).map_err(SharedError::Refused)?;
            let core = self.begin();
            if look(&core).is_ok_and(|now| now == seen) {
                return self.change_locked(
                    core,
                    |_, tree| in_tree(tree, &seen, &made),
                    |core| in_core(core, &seen, &made),
                );
            }
        }
    }
}

/// The values of the second parts that freeing `range` makes at its two ends.
fn second_values<V: ?Sized>(
    range: Span,
    [below, above]: &[Option<Seen<V>>; 2],
    split: &mut impl FnMut(Span, Span, &Arc<V>) -> Arc<V>,
) -> [Option<Arc<V>>; 2] {
    // What is left of the region at the end, if it is the one at the start.
    let mut rest = None;
    let first = below.as_ref().map(|below| {
        let (kept, part) = cut(below.span, range.first());
        let value = split(kept, part, &below.value);
        rest = above.as_ref().filter(|above| above.span == below.span).map(|_| part);
        value
    });
    let second = above.as_ref().map(|above| {
        let (part, kept) = cut(rest.unwrap_or(above.span), range.last() + 1);
        let value = first.as_ref().filter(|_| rest.is_some()).unwrap_or(&above.value);
        split(part, kept, value)
    });
    [first, second]
}

/// A region as the caller's code was given it. It is the same one as long as it has these addresses and this `Arc`.
struct Seen<V: ?Sized> {
    span: Span,
    value: Arc<V>,
}

impl<V: ?Sized> Seen<V> {
    fn new(span: Span, value: &Arc<V>) -> Self {
        Self { span, value: Arc::clone(value) }
    }
}

impl<V: ?Sized> PartialEq for Seen<V> {
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span && Arc::ptr_eq(&self.value, &other.value)
    }
}
