//! Regions by address, with their owners' values: the index that answers for any interior address.
//!
//! Invariant: K4 regions are disjoint (kept by the space, which takes them from free blocks).
//! Cost: O(log n) for each operation. Memory: 20 bytes a slot and the value's size, and a twentieth more for
//! nodes; slots are all used after allocation in address order, and about two thirds of them after random use.

use crate::bplus::{Columns, Found, LEAF_WIDTH, Nothing, Position, Tree, Way};
use crate::{Broken, OutOfMemory, error::check};
use arrayvec::ArrayVec;
use freehold_units::Probe;

/// A region without its start. End, guard and value lie side by side: whoever wants one wants the others.
#[derive(Clone, Debug)]
pub(crate) struct Record<V> {
    /// The last usable address.
    pub(crate) last: u64,
    /// Granules after it that are taken too.
    pub(crate) guard_granules: u32,
    pub(crate) value: V,
}

/// The records of a leaf; the starts are its keys.
#[derive(Clone, Debug)]
pub(crate) struct Records<V>(ArrayVec<Record<V>, LEAF_WIDTH>);

impl<V> Columns for Records<V> {
    type Key = u64;
    type Item = Record<V>;

    fn empty() -> Self {
        Self(ArrayVec::new_const())
    }

    #[inline]
    fn insert(&mut self, _: usize, at: usize, item: Record<V>) {
        self.0.insert(at, item);
    }

    #[inline]
    fn remove(&mut self, _: usize, at: usize) -> Record<V> {
        self.0.remove(at)
    }

    fn touch_from(&self, at: usize, probe: &mut impl Probe) {
        probe.touch(self.0.get(at..).unwrap_or(&[]));
    }

    fn move_tail(&mut self, _: usize, keep: usize, right: &mut Self, _: usize) {
        right.0 = self.0.drain(keep..).chain(right.0.take()).collect();
    }

    fn move_head(&mut self, _: usize, count: usize, right: &mut Self, _: usize) {
        self.0.extend(right.0.drain(..count));
    }
}

/// Regions in a tree of their own. See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct BusyIndex<V> {
    tree: Tree<Records<V>, Nothing<u64>>,
}

impl<V> BusyIndex<V> {
    pub(crate) fn new() -> Result<Self, OutOfMemory> {
        Ok(Self { tree: Tree::new(Nothing::NEW)? })
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

    /// The way to where a region that starts at `first` is or would be. Asks for the memory at its end, so that it
    /// arrives while the caller does something else.
    #[inline]
    pub(crate) fn way_to(&self, first: u64) -> Way {
        let way = self.tree.way_to(first);
        self.tree.touch(way.end());
        way
    }

    /// Adds a region that overlaps none, at the end of the way to its start, after [`BusyIndex::reserve`].
    #[inline]
    pub(crate) fn insert(&mut self, way: Way, first: u64, record: Record<V>) {
        self.tree.insert(way, first, record);
    }

    /// Removes the region that was found and returns its value.
    #[inline]
    pub(crate) fn remove(&mut self, found: Found) -> V {
        self.tree.remove(found).0.value
    }

    /// Counts the memory that adding or removing the region that starts at `first` takes; asked before it.
    pub(crate) fn touch_change(&self, first: u64, probe: &mut impl Probe) {
        self.tree.touch_change(first, 0, probe);
    }

    /// Counts the memory that moved because of that; asked after it.
    pub(crate) fn touch_moved(&self, first: u64, probe: &mut impl Probe) {
        self.tree.touch_moved(first, probe);
    }

    /// The record of the region that was found, to change.
    pub(crate) fn record_mut(&mut self, found: Found) -> Option<&mut Record<V>> {
        self.tree.columns_mut(found.position()).0.get_mut(found.at())
    }

    /// The region that starts at `first`.
    #[inline]
    pub(crate) fn find(&self, first: u64) -> Option<(Found, &Record<V>)> {
        let found = self.tree.find(first)?;
        Some((found, self.tree.columns(found.position()).0.get(found.at())?))
    }

    /// The region that starts highest at or below `address`, and its start.
    pub(crate) fn at_or_below(&self, address: u64) -> Option<(u64, &Record<V>)> {
        self.record(self.tree.at_or_below(address)?)
    }

    /// The value of the region that starts highest at or below `address`, and the region's last address.
    pub(crate) fn value_mut(&mut self, address: u64) -> Option<(u64, &mut V)> {
        let position = self.tree.at_or_below(address)?;
        let record = self.tree.columns_mut(position).0.get_mut(position.at)?;
        Some((record.last, &mut record.value))
    }

    /// All regions in address order, each with its start.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Record<V>)> {
        let mut at = self.tree.first();
        core::iter::from_fn(move || {
            let position = at?;
            at = self.tree.next(position);
            self.record(position)
        })
    }

    fn record(&self, position: Position) -> Option<(u64, &Record<V>)> {
        Some((self.tree.key(position)?, self.tree.columns(position).0.get(position.at)?))
    }

    pub(crate) fn validate(&self) -> Result<(), Broken> {
        self.tree.validate()?;
        let mut previous: Option<u64> = None;
        let mut regions = 0;
        for (first, record) in self.iter() {
            check(previous.is_none_or(|last| last < first), "K4", "regions ascend and are disjoint", first)?;
            check(first <= record.last, "K4", "every region is a span", first)?;
            previous = Some(record.last);
            regions += 1;
        }
        check(regions == self.len(), "K4", "there are as many regions as are counted", 0)
    }
}
