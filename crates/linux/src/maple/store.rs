//! Writes through the cursor, and searches for gaps.
//!
//! After a store the cursor is on the stored range, or on the whole gap if the store erased.

use super::map::{OwnedPlan, Planned, Stored, Way};
use super::{Item, MaState, Map, Ranges, Tree};
use crate::Error;
use freehold_maple::{Facts, NonNullValue, WordMap};
use freehold_units::{Rejected, Span};

impl MaState {
    /// Stores over the cursor's range; returns the previous item at the range's first index.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the range's ends are reversed; [`Error::NoMemory`]. Returns the item, and the cursor does
    /// not move.
    #[doc(alias = "mas_store")]
    pub fn store<E: NonNullValue, M: Map<E>>(
        &mut self,
        tree: &mut Tree<E, M>,
        item: Item<E>,
    ) -> Stored<Item<E>, E> {
        let old = tree.map.item_at(self.index);
        self.store_gfp(tree, item)?;
        Ok(old)
    }

    /// Stores over the cursor's range.
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    #[doc(alias = "mas_store_gfp")]
    pub fn store_gfp<E: NonNullValue, M: Map<E>>(
        &mut self,
        tree: &mut Tree<E, M>,
        item: Item<E>,
    ) -> Stored<(), E> {
        let Some(span) = Span::new(self.index, self.last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        tree.map.put(span, item)?;
        self.land(tree.read().slot_at(self.index).0);
        Ok(())
    }

    /// Reserves memory for a store over the cursor's range, so that the store cannot fail. The result borrows tree and
    /// cursor; nothing changes until it stores.
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    ///
    /// # Panics
    /// If the map is shared, and this thread has a plan or a transaction of it by another tree, for which it would wait
    /// for ever.
    ///
    /// ```
    /// use freehold_linux::maple::{Flags, Item, MaState, Tree};
    /// use std::num::NonZeroU32;
    ///
    /// let mut tree = Tree::new(Flags::default());
    /// let seven = Item::Entry(NonZeroU32::new(7).unwrap());
    /// let mut mas = MaState::new(10, 19);
    /// let store = mas.preallocate(&mut tree, seven)?;
    /// assert_eq!(store.facts().nodes, 1);
    /// store.store_prealloc(); // returns nothing: there is nothing to go wrong
    /// assert_eq!(mas.walk(&tree), seven);
    /// # Ok::<(), freehold_maple::Rejected<Item<NonZeroU32>, freehold_linux::Error>>(())
    /// ```
    #[doc(alias = "mas_preallocate")]
    pub fn preallocate<'t, E: NonNullValue, M: Map<E>>(
        &'t mut self,
        tree: &'t mut Tree<E, M>,
        item: Item<E>,
    ) -> Stored<Preallocated<'t, E, M>, E> {
        let Some(span) = Span::new(self.index, self.last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        Ok(Preallocated { planned: tree.map.plan(span, item)?, mas: self })
    }

    /// Removes the whole entry that contains the cursor's index. The cursor is on the gap afterwards.
    ///
    /// # Errors
    /// As for [`Tree::erase`]; the cursor does not move.
    #[doc(alias = "mas_erase")]
    pub fn erase<E: NonNullValue, M: Map<E>>(&mut self, tree: &mut Tree<E, M>) -> Result<Item<E>, Error> {
        let erased = tree.erase(self.index)?;
        self.land(tree.read().slot_at(self.index).0);
        Ok(erased)
    }

    /// Sets the cursor's range to the lowest `size` free indexes within `min..=max`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tree does not allocate gaps, for a size of 0 or one larger than the window;
    /// [`Error::Busy`] if there is no such gap. The cursor does not move.
    #[doc(alias = "mas_empty_area")]
    pub fn empty_area<E: NonNullValue, M: Map<E>>(
        &mut self,
        tree: &Tree<E, M>,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Error> {
        self.land(tree.empty_area(Way::Up, min, max, size)?);
        Ok(())
    }

    /// Sets the cursor's range to the highest `size` free indexes within `min..=max`.
    ///
    /// # Errors
    /// As for [`empty_area`](Self::empty_area).
    #[doc(alias = "mas_empty_area_rev")]
    pub fn empty_area_rev<E: NonNullValue, M: Map<E>>(
        &mut self,
        tree: &Tree<E, M>,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Error> {
        self.land(tree.empty_area(Way::Down, min, max, size)?);
        Ok(())
    }
}

/// A store that cannot fail: it has reserved its nodes. Dropping it without storing cancels it.
#[doc(alias = "mas_destroy")]
#[must_use = "nothing is stored before `store_prealloc`"]
pub struct Preallocated<'t, E: NonNullValue + 't, M: Map<E> + 't = WordMap<Option<E>>> {
    planned: M::Plan<'t>,
    mas: &'t mut MaState,
}

impl<E: NonNullValue> Preallocated<'_, E> {
    /// The kind of the store and its needs.
    #[doc(alias = "mas_prealloc_calc")]
    #[must_use]
    pub fn facts(&self) -> Facts {
        OwnedPlan::facts(&self.planned)
    }
}

impl<E: NonNullValue, M: Map<E>> Preallocated<'_, E, M> {
    /// Performs the store. Neither allocates nor fails.
    #[doc(alias = "mas_store_prealloc")]
    pub fn store_prealloc(self) {
        let Self { planned, mas } = self;
        mas.land(planned.commit());
    }
}
