//! The map of a shared tree: readers take no lock, and one writer at a time stores.

use super::item::rejected;
use super::map::{Planned, Stored, Way, null_rejected};
use super::{Item, Map, Ranges};
use crate::Error;
use freehold_maple::maple_tree::{Reading, Transaction};
use freehold_maple::{AllocError, MapleTree, NonNullValue, Request};
use freehold_units::Span;

/// The map of a shared tree. Readers go through [`MapleTree::read`], at any time, on any thread: a
/// [`MaState`](super::MaState) goes over a [`Reading`].
pub type SharedMap<'m, E> = &'m MapleTree<Option<E>>;

impl<E: NonNullValue> Ranges for Reading<'_, Option<E>> {
    type Value<'t>
        = E::Ref<'t>
    where
        Self: 't;

    fn slot_at(&self, index: u64) -> (Span, Item<E::Ref<'_>>) {
        let (span, slot) = self.slot_at(index);
        (span, Item::from_slot(slot))
    }

    fn entries(&self, first: u64, last: u64) -> impl DoubleEndedIterator<Item = (Span, Item<E::Ref<'_>>)> {
        self.range(first..=last).map(|(span, value)| (span, value.into()))
    }

    /// Without the range: a shorter way down.
    fn load(&self, index: u64) -> Option<E::Ref<'_>> {
        self.get(index).flatten()
    }
}

impl<'m, E: NonNullValue> Map<E> for SharedMap<'m, E> {
    type Reading<'t>
        = Reading<'m, Option<E>>
    where
        Self: 't;
    type Plan<'t>
        = SharedPlan<'m, E>
    where
        Self: 't;

    fn read(&self) -> Reading<'m, Option<E>> {
        MapleTree::read(self)
    }

    fn is_empty(&self) -> bool {
        MapleTree::is_empty(self)
    }

    fn gap(&self, way: Way, request: &Request) -> Result<Span, AllocError> {
        match way {
            Way::Up => self.lowest_gap(request),
            Way::Down => self.highest_gap(request),
        }
    }

    fn item_at(&self, index: u64) -> Item<E> {
        Item::from_slot(self.get_owned(index))
    }

    fn put(&mut self, span: Span, item: Item<E>) -> Stored<(), E> {
        match item.into_slot() {
            Some(value) => self.store(span, value).map_err(rejected),
            None => self.remove_range(span).map_err(null_rejected),
        }
    }

    fn insert(&mut self, span: Span, value: Option<E>) -> Stored<(), E> {
        MapleTree::insert(self, span, value).map_err(rejected)
    }

    fn erase(&mut self, index: u64) -> Result<Item<E>, Error> {
        let erased = self.item_at(index);
        MapleTree::erase(self, index)?;
        Ok(erased)
    }

    fn plan(&mut self, span: Span, item: Item<E>) -> Stored<SharedPlan<'m, E>, E> {
        SharedPlan::new(self, span, item)
    }

    fn copy_into(&self, other: &mut Self) -> Result<(), Error> {
        let mut version = other.transaction();
        for (span, _) in MapleTree::read(self).range(..) {
            let Some(value) = self.get_owned(span.first()) else { continue };
            version.store(span, value).map_err(|refused| refused.cause)?;
        }
        version.commit();
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Error> {
        Ok(self.remove_range(..)?)
    }
}

/// A planned store of a shared map: the tree with the store, not published yet.
pub struct SharedPlan<'t, E: NonNullValue> {
    version: Transaction<'t, Option<E>>,
    lands: Span,
}

impl<'t, E: NonNullValue> SharedPlan<'t, E> {
    /// Plans a store. Until the plan ends, stores of other threads wait, and those of this thread are refused.
    ///
    /// # Errors
    /// [`Error::NoMemory`]. Returns the item.
    ///
    /// # Panics
    /// If this thread has a plan or a transaction of the map.
    pub fn new(map: SharedMap<'t, E>, span: Span, item: Item<E>) -> Stored<Self, E> {
        let mut version = map.transaction();
        let erases = item.is_null();
        match item.into_slot() {
            Some(value) => version.store(span, value).map_err(rejected)?,
            None => version.remove_range(span).map_err(null_rejected)?,
        }
        let lands = if erases { version.slot_at(span.first()).0 } else { span };
        Ok(Self { version, lands })
    }
}

impl<E: NonNullValue> Planned for SharedPlan<'_, E> {
    fn commit(self) -> Span {
        self.version.commit();
        self.lands
    }
}
