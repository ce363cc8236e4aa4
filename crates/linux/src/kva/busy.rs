//! The areas in use, by address: a red-black tree without maxima, as in the kernel.

use super::rbtree::{Areas, RbTree};
use alloc::vec::Vec;
use core::iter::FusedIterator;
use freehold_units::{Align, Broken, OutOfMemory, Span, check};

/// Disjoint areas, each with the caller's value.
#[derive(Clone, Debug)]
pub(super) struct BusyTree<V> {
    tree: RbTree<Areas>,
    /// The values, by node number.
    values: Vec<Option<V>>,
}

impl<V> BusyTree<V> {
    /// A tree without areas.
    pub(super) fn new(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self { tree: RbTree::new(granule)?, values: Vec::new() })
    }

    /// Reserves memory for that many inserts.
    #[inline]
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.tree.reserve(count)?;
        let numbers = self.tree.numbers();
        if self.values.len() < numbers { self.add_values(numbers) } else { Ok(()) }
    }

    #[cold]
    fn add_values(&mut self, numbers: usize) -> Result<(), OutOfMemory> {
        let more = numbers - self.values.len();
        if self.values.capacity() < numbers {
            self.values.try_reserve_exact(more.max(self.values.len() / 16))?;
        }
        self.values.resize_with(numbers, || None);
        Ok(())
    }

    /// Adds an area that overlaps no other. The caller has reserved it.
    #[inline]
    pub(super) fn insert(&mut self, area: Span, value: V) {
        let number = self.tree.insert_area(area).expect("K4: areas are disjoint");
        self.values[number] = Some(value);
    }

    /// Removes the area that starts at `first`.
    #[inline]
    pub(super) fn remove(&mut self, first: u64) -> Option<(Span, V)> {
        let (number, area) = self.tree.remove_area(first)?;
        let value = self.values[number].take().expect("K4: every area has a value");
        Some((area, value))
    }

    /// The area that contains `address`.
    pub(super) fn area_at(&self, address: u64) -> Option<(Span, &V)> {
        let (block, area) = self.tree.floor(address)?;
        area.contains(address).then(|| (area, self.value(block.number())))
    }

    /// The value of the area that starts at `first`, which is there.
    pub(super) fn at(&self, first: u64) -> &V {
        let (block, _) = self.tree.floor(first).expect("K4: an area starts there");
        self.value(block.number())
    }

    /// The value of the area that starts at `first`, which is there.
    pub(super) fn at_mut(&mut self, first: u64) -> &mut V {
        let (block, _) = self.tree.floor(first).expect("K4: an area starts there");
        self.values[block.number()].as_mut().expect("K4: every area has a value")
    }

    /// The highest area that overlaps `span`.
    pub(super) fn last_in(&self, span: Span) -> Option<(Span, &V)> {
        let (block, area) = self.tree.floor(span.last()).filter(|(_, area)| area.overlaps(span))?;
        Some((area, self.value(block.number())))
    }

    /// Whether `span` overlaps an area.
    pub(super) fn overlaps(&self, span: Span) -> bool {
        self.tree.floor(span.last()).is_some_and(|(_, area)| area.overlaps(span))
    }

    /// All areas in address order.
    pub(super) fn iter(&self) -> impl FusedIterator<Item = (Span, &V)> {
        self.tree.numbered().map(|(number, area)| (area, self.value(number)))
    }

    fn value(&self, number: usize) -> &V {
        self.values[number].as_ref().expect("K4: every area has a value")
    }

    pub(super) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Bytes of memory held, including spare capacity.
    pub(super) fn metadata_bytes(&self) -> usize {
        self.tree.metadata_bytes() + self.values.capacity() * size_of::<Option<V>>()
    }

    /// Checks the tree, and that exactly the areas have values.
    pub(super) fn validate(&self) -> Result<(), Broken> {
        self.tree.validate()?;
        let values = self.values.iter().flatten().count();
        let have_values = self.tree.numbered().all(|(number, _)| self.values[number].is_some());
        check(have_values && values == self.len(), "K4", "every area has a value", 0)
    }
}
