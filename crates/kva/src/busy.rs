//! Regions by address, with their owners' values: the index that answers for any interior address.
//!
//! Invariant: K4 regions are disjoint (kept by the space, which takes them from free blocks).
//! Cost: O(log n) for each operation. Memory: 20 bytes a slot and the value's size, and a twentieth more for
//! nodes; slots are all used after allocation in address order, and about two thirds of them after random use.

use crate::bplus::{Columns, Found, Nothing, Position, Tree, WIDTH, array};
use crate::{Broken, OutOfMemory, error::check};
use alloc::vec::Vec;
use freehold_units::Span;

/// Ends, guards and values of the regions in a leaf; the starts are its keys.
#[derive(Debug)]
pub(crate) struct RegionColumns<V> {
    lasts: [u64; WIDTH],
    guards: [u32; WIDTH],
    /// As many as there are regions, with room for all.
    values: Vec<V>,
}

impl<V: Clone> Clone for RegionColumns<V> {
    /// Keeps the room of the original, which a copy of the values alone would lose: insertions count on it.
    fn clone(&self) -> Self {
        // A sentinel has no room; values of no size have more than can be asked for.
        let mut values = Vec::with_capacity(self.values.capacity().min(WIDTH));
        values.extend_from_slice(&self.values);
        Self { lasts: self.lasts, guards: self.guards, values }
    }
}

/// A region without its start.
pub(crate) struct RegionItem<V> {
    last: u64,
    guard_granules: u32,
    value: V,
}

impl<V> Columns for RegionColumns<V> {
    type Key = u64;
    type Item = RegionItem<V>;

    fn empty() -> Self {
        Self { lasts: [0; WIDTH], guards: [0; WIDTH], values: Vec::new() }
    }

    fn with_room() -> Result<Self, OutOfMemory> {
        let mut columns = Self::empty();
        columns.values.try_reserve_exact(WIDTH).map_err(|_| OutOfMemory)?;
        Ok(columns)
    }

    fn bytes_apart(width: usize) -> usize {
        width * size_of::<V>()
    }

    fn insert(&mut self, len: usize, at: usize, item: RegionItem<V>) {
        array::insert(&mut self.lasts, len, at, item.last);
        array::insert(&mut self.guards, len, at, item.guard_granules);
        self.values.insert(at, item.value);
    }

    fn remove(&mut self, len: usize, at: usize) -> RegionItem<V> {
        RegionItem {
            last: array::remove(&mut self.lasts, len, at),
            guard_granules: array::remove(&mut self.guards, len, at),
            value: self.values.remove(at),
        }
    }

    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize) {
        array::move_tail(&self.lasts, len, keep, &mut right.lasts, right_len);
        array::move_tail(&self.guards, len, keep, &mut right.guards, right_len);
        right.values.splice(0..0, self.values.drain(keep..));
    }

    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize) {
        array::move_head(&mut self.lasts, len, count, &mut right.lasts, right_len);
        array::move_head(&mut self.guards, len, count, &mut right.guards, right_len);
        self.values.extend(right.values.drain(..count));
    }
}

/// A region as the index knows it.
#[derive(Debug)]
pub(crate) struct Entry<'a, V> {
    /// The usable addresses.
    pub(crate) span: Span,
    /// Granules after them that are taken too.
    pub(crate) guard_granules: u32,
    pub(crate) value: &'a V,
}

#[derive(Clone, Debug)]
pub(crate) struct BusyIndex<V> {
    tree: Tree<RegionColumns<V>, Nothing<u64>>,
}

impl<V> BusyIndex<V> {
    pub(crate) fn new() -> Result<Self, OutOfMemory> {
        Ok(Self { tree: Tree::new(())? })
    }

    #[inline]
    pub(crate) fn reserve(&mut self, regions: usize) -> Result<(), OutOfMemory> {
        self.tree.reserve(regions)
    }

    pub(crate) fn len(&self) -> usize {
        self.tree.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    /// Adds a region that overlaps none, after [`BusyIndex::reserve`].
    #[inline]
    pub(crate) fn insert(&mut self, span: Span, guard_granules: u32, value: V) {
        self.tree.insert(span.first(), RegionItem { last: span.last(), guard_granules, value });
    }

    /// Removes the region that was found and returns its value.
    #[inline]
    pub(crate) fn remove(&mut self, found: &Found) -> V {
        self.tree.remove(found).0.value
    }

    /// Gives the region that was found another last address, below whatever comes after it.
    pub(crate) fn set_last(&mut self, found: &Found, last: u64) {
        if let Some(slot) = self.tree.columns_mut(found.position()).lasts.get_mut(found.at) {
            *slot = last;
        }
    }

    /// The region that starts at `first`.
    #[inline]
    pub(crate) fn find(&self, first: u64) -> Option<(Found, Entry<'_, V>)> {
        let found = self.tree.find(first)?;
        Some((found, self.entry(found.position())?))
    }

    /// The region that starts highest at or below `address`.
    pub(crate) fn at_or_below(&self, address: u64) -> Option<Entry<'_, V>> {
        self.entry(self.tree.at_or_below(address)?)
    }

    /// The value of the region that starts highest at or below `address`, and the region's last address.
    pub(crate) fn value_mut(&mut self, address: u64) -> Option<(u64, &mut V)> {
        let position = self.tree.at_or_below(address)?;
        let columns = self.tree.columns_mut(position);
        Some((*columns.lasts.get(position.at)?, columns.values.get_mut(position.at)?))
    }

    /// All regions in address order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry<'_, V>> {
        let mut at = self.tree.first();
        core::iter::from_fn(move || {
            let position = at?;
            at = self.tree.next(position);
            self.entry(position)
        })
    }

    #[inline]
    fn entry(&self, position: Position) -> Option<Entry<'_, V>> {
        let columns = self.tree.columns(position);
        Some(Entry {
            span: Span::new(self.tree.key(position)?, *columns.lasts.get(position.at)?)?,
            guard_granules: *columns.guards.get(position.at)?,
            value: columns.values.get(position.at)?,
        })
    }

    pub(crate) fn validate(&self) -> Result<(), Broken> {
        self.tree.validate()?;
        let mut previous: Option<Span> = None;
        let mut regions = 0;
        for entry in self.iter() {
            let apart = previous.is_none_or(|previous| previous.last() < entry.span.first());
            check(apart, "K4", "regions ascend and are disjoint", entry.span.first())?;
            previous = Some(entry.span);
            regions += 1;
        }
        check(regions == self.len(), "K4", "every region is a span", 0)
    }
}
