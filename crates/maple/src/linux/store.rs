//! Writing through the cursor, and putting it on a gap.
//!
//! After a store the cursor is on what is there: the range stored, or the whole gap.

use super::alloc::End;
use super::error::rejected;
use super::tree::{Stored, Tree, null_rejected};
use super::{Error, Item, MaState};
use crate::entry::NonNullEntry;
use crate::error::Rejected;
use crate::map::Transaction;
use crate::node::{Full, Shape};
use freehold_units::Span;

impl MaState {
    /// Stores over its range; returns what was at the range's first index.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the range's ends are the wrong way round; [`Error::NoMemory`]. The item comes back, and the
    /// cursor stays.
    #[doc(alias = "mas_store")]
    pub fn store<E: NonNullEntry, S: Shape>(
        &mut self,
        tree: &mut Tree<E, S>,
        item: Item<E>,
    ) -> Stored<Item<E>, E> {
        let old = Item::from_slot(tree.map.get_owned(self.index));
        self.store_gfp(tree, item)?;
        Ok(old)
    }

    /// Stores over its range.
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    #[doc(alias = "mas_store_gfp")]
    pub fn store_gfp<E: NonNullEntry, S: Shape>(
        &mut self,
        tree: &mut Tree<E, S>,
        item: Item<E>,
    ) -> Stored<(), E> {
        let Some(span) = Span::new(self.index, self.last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        tree.put(span, item)?;
        self.walk(tree);
        Ok(())
    }

    /// Provides for a store over its range, so that it cannot fail any more. Until it is done, tree and cursor are
    /// lent to it, and nothing has changed.
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    ///
    /// ```
    /// use freehold_maple::linux::{Flags, Item, MaState, Tree};
    /// use std::num::NonZeroU32;
    ///
    /// let mut tree = Tree::new(Flags::default());
    /// let seven = Item::Entry(NonZeroU32::new(7).unwrap());
    /// let mut mas = MaState::new(10, 19);
    /// let store = mas.preallocate(&mut tree, seven)?;
    /// store.store_prealloc(); // returns nothing: there is nothing to go wrong
    /// assert_eq!(mas.walk(&tree), seven);
    /// # Ok::<(), freehold_maple::Rejected<Item<NonZeroU32>, freehold_maple::linux::Error>>(())
    /// ```
    #[doc(alias = "mas_preallocate")]
    pub fn preallocate<'t, E: NonNullEntry, S: Shape>(
        &'t mut self,
        tree: &'t mut Tree<E, S>,
        item: Item<E>,
    ) -> Stored<Preallocated<'t, E, S>, E> {
        let Some(span) = Span::new(self.index, self.last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        let mut transaction = tree.map.transaction();
        match item.into_slot() {
            Some(value) => transaction.store(span, value).map_err(rejected)?,
            None => transaction.remove_range(span).map_err(null_rejected)?,
        }
        Ok(Preallocated { transaction, mas: self })
    }

    /// Removes the whole entry that holds its index, and is on the gap afterwards. Never takes memory.
    #[doc(alias = "mas_erase")]
    pub fn erase<E: NonNullEntry, S: Shape>(&mut self, tree: &mut Tree<E, S>) -> Item<E> {
        let erased = tree.erase(self.index);
        self.walk(tree);
        erased
    }

    /// Goes to the lowest `size` indexes within `min..=max` that are free; its range is those.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tree does not give out gaps, for a size of 0 or one larger than the window;
    /// [`Error::Busy`] if there is no such gap. The cursor stays.
    #[doc(alias = "mas_empty_area")]
    pub fn empty_area<E: NonNullEntry, S: Shape>(
        &mut self,
        tree: &Tree<E, S>,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Error> {
        self.land(tree.empty_area(End::Lowest, min, max, size)?);
        Ok(())
    }

    /// Goes to the highest `size` indexes within `min..=max` that are free; its range is those.
    ///
    /// # Errors
    /// As for [`empty_area`](Self::empty_area).
    #[doc(alias = "mas_empty_area_rev")]
    pub fn empty_area_rev<E: NonNullEntry, S: Shape>(
        &mut self,
        tree: &Tree<E, S>,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Error> {
        self.land(tree.empty_area(End::Highest, min, max, size)?);
        Ok(())
    }
}

/// A store that cannot fail any more. Dropped without being done, it is given up.
#[doc(alias = "mas_destroy")]
#[must_use = "nothing is stored before `store_prealloc`"]
pub struct Preallocated<'t, E: NonNullEntry, S: Shape = Full> {
    transaction: Transaction<'t, Option<E>, S>,
    mas: &'t mut MaState,
}

impl<E: NonNullEntry, S: Shape> Preallocated<'_, E, S> {
    /// Stores. Neither allocates nor fails.
    #[doc(alias = "mas_store_prealloc")]
    pub fn store_prealloc(self) {
        let (span, _) = self.transaction.map().slot_at(self.mas.index);
        self.transaction.commit();
        self.mas.land(span);
    }
}
