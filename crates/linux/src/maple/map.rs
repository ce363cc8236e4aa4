//! Stores: what a tree needs of the map that holds its entries.

use super::item::rejected;
use super::{Item, Ranges};
use crate::Error;
use freehold_maple::{AllocError, Facts, NonNullValue, Plan, RemovalPlan, Request, WordMap};
use freehold_units::{Rejected, Span};

/// The result of a store. The error returns the item.
pub type Stored<T, E> = Result<T, Rejected<Item<E>, Error>>;

/// The direction of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To higher indexes; among several places, the lowest.
    Up,
    /// To lower indexes; among several places, the highest.
    Down,
}

/// The map below a [`Tree`](super::Tree): one with a single owner, or a shared one. One writer at a time calls it.
pub trait Map<E: NonNullValue> {
    /// What look-ups read.
    type Reading<'t>: Ranges
    where
        Self: 't;
    /// A planned store.
    type Plan<'t>: Planned
    where
        Self: 't;

    /// Begins to read.
    fn read(&self) -> Self::Reading<'_>;

    /// Whether there are no entries and no zero entries.
    fn is_empty(&self) -> bool;

    /// The lowest or the highest free place that fits.
    ///
    /// # Errors
    /// Those of [`WordMap::lowest_gap`].
    fn gap(&self, way: Way, request: &Request) -> Result<Span, AllocError>;

    /// The item at an index, to keep.
    fn item_at(&self, index: u64) -> Item<E>;

    /// Stores over a range; [`Item::Null`] erases.
    ///
    /// # Errors
    /// [`Error::NoMemory`]. Returns the item.
    fn put(&mut self, span: Span, item: Item<E>) -> Stored<(), E>;

    /// Stores an entry, or the zero entry for `None`, into a free range.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NoMemory`]. Returns the value.
    fn insert(&mut self, span: Span, value: Option<E>) -> Stored<(), E>;

    /// Removes the whole entry that contains an index.
    ///
    /// # Errors
    /// [`Error::NoMemory`]; never, if the map has one owner.
    fn erase(&mut self, index: u64) -> Result<Item<E>, Error>;

    /// Plans a store, so that it cannot fail.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    fn plan(&mut self, span: Span, item: Item<E>) -> Stored<Self::Plan<'_>, E>;

    /// Copies the entries into an empty map.
    ///
    /// # Errors
    /// [`Error::NoMemory`]: the other map is empty still.
    fn copy_into(&self, other: &mut Self) -> Result<(), Error>;

    /// Removes everything.
    ///
    /// # Errors
    /// [`Error::NoMemory`]; never, if the map has one owner.
    fn clear(&mut self) -> Result<(), Error>;
}

/// A store that cannot fail any more. Dropping it cancels it.
pub trait Planned {
    /// Stores. Neither allocates nor fails. Returns the stored range, or the whole gap if the store erased.
    fn commit(self) -> Span;
}

impl<E: NonNullValue> Map<E> for WordMap<Option<E>> {
    type Reading<'t>
        = &'t Self
    where
        Self: 't;
    type Plan<'t>
        = OwnedPlan<'t, E>
    where
        Self: 't;

    fn read(&self) -> &Self {
        self
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
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
        self.insert(span, value).map_err(rejected)
    }

    fn erase(&mut self, index: u64) -> Result<Item<E>, Error> {
        Ok(self.erase(index).map_or(Item::Null, |(_, value)| value.into()))
    }

    fn plan(&mut self, span: Span, item: Item<E>) -> Stored<OwnedPlan<'_, E>, E> {
        Ok(OwnedPlan(match item.into_slot() {
            Some(value) => match self.plan_store(span) {
                Ok(plan) => Either::Store(plan, value, span),
                Err(cause) => return Err(rejected(Rejected { value, cause })),
            },
            None => Either::Removal(self.plan_removal(span).map_err(null_rejected)?),
        }))
    }

    fn copy_into(&self, other: &mut Self) -> Result<(), Error> {
        *other = self.try_clone()?;
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Error> {
        *self = self.new_alike();
        Ok(())
    }
}

impl<M: Ranges> Ranges for &M {
    type Value<'t>
        = M::Value<'t>
    where
        Self: 't;

    fn slot_at(&self, index: u64) -> (Span, Item<M::Value<'_>>) {
        M::slot_at(self, index)
    }

    fn entries(&self, first: u64, last: u64) -> impl DoubleEndedIterator<Item = (Span, Item<M::Value<'_>>)> {
        M::entries(self, first, last)
    }

    fn load(&self, index: u64) -> Option<M::Value<'_>> {
        M::load(self, index)
    }
}

/// A planned store of a map with one owner.
pub struct OwnedPlan<'t, E: NonNullValue>(Either<'t, E>);

enum Either<'t, E: NonNullValue> {
    Store(Plan<'t, Option<E>>, Option<E>, Span),
    Removal(RemovalPlan<'t, Option<E>>),
}

impl<E: NonNullValue> OwnedPlan<'_, E> {
    /// The kind of the store and its needs.
    pub(super) fn facts(&self) -> Facts {
        match &self.0 {
            Either::Store(plan, ..) => plan.facts(),
            Either::Removal(plan) => plan.facts(),
        }
    }
}

impl<E: NonNullValue> Planned for OwnedPlan<'_, E> {
    fn commit(self) -> Span {
        match self.0 {
            Either::Store(plan, value, span) => {
                plan.commit(value);
                span
            }
            Either::Removal(plan) => {
                let gap = plan.gap();
                plan.commit();
                gap
            }
        }
    }
}

/// The refusal of a store of [`Item::Null`].
pub(super) fn null_rejected<E>(cause: impl Into<Error>) -> Rejected<Item<E>, Error> {
    Rejected { value: Item::Null, cause: cause.into() }
}
