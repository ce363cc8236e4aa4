//! Searches: the first call looks at the cursor's index, and further calls continue from there.
//!
//! The kernel's two directions are not mirror images, and callers rely on both. "Look" means: walk to the cursor's
//! index and return the entry there; if there is none, step on.
//!
//! | State | up, to `max` | down, to `min` |
//! |---|---|---|
//! | start | `index > max`: nothing; else look | `index < min`: nothing; else look |
//! | paused | `last >= max`: nothing; else one above, and look | `index <= min`: underflow; else one below, and look |
//! | active | `last >= max`: nothing; else step | `index < min`: nothing; else step |
//! | overflow | `last >= max`: nothing; else look, again | `index <= min`: underflow; else step |
//! | underflow | `index >= max`: overflow; else look, again | `index <= min`: nothing; else step |
//!
//! A look that meets a gap ends there if the gap begins at `max`, or below `min`. An upward search for entries leaves
//! the cursor active even if its step reached the limit.

use super::cursor::{State, Toward};
use super::{Item, MaState, Ranges};

impl MaState {
    /// Moves to the entry at or above its index or, once it is on a range, to the next entry. If there is none, the
    /// cursor is on the last range that it examined.
    #[doc(alias = "mas_find")]
    #[doc(alias = "mas_for_each")]
    pub fn find<'t, T: Ranges>(&mut self, tree: &'t T, max: u64) -> Item<T::Value<'t>> {
        self.find_up(tree, Toward::up(max, false))
    }

    /// Moves to the range at or above its index, an entry's or a gap, or, once it is on one, to the next range.
    #[doc(alias = "mas_find_range")]
    pub fn find_range<'t, T: Ranges>(&mut self, tree: &'t T, max: u64) -> Item<T::Value<'t>> {
        self.find_up(tree, Toward::up(max, true))
    }

    /// Moves to the entry at or below its index or, once it is on a range, to the previous entry.
    #[doc(alias = "mas_find_rev")]
    #[doc(alias = "mas_for_each_rev")]
    pub fn find_rev<'t, T: Ranges>(&mut self, tree: &'t T, min: u64) -> Item<T::Value<'t>> {
        self.find_down(tree, Toward::down(min, false))
    }

    /// Moves to the range at or below its index, an entry's or a gap, or, once it is on one, to the previous range.
    #[doc(alias = "mas_find_range_rev")]
    pub fn find_range_rev<'t, T: Ranges>(&mut self, tree: &'t T, min: u64) -> Item<T::Value<'t>> {
        self.find_down(tree, Toward::down(min, true))
    }

    fn find_up<'t, T: Ranges>(&mut self, tree: &'t T, to: Toward) -> Item<T::Value<'t>> {
        let looks = match self.state {
            State::Start if to.passed(self.index) => return Item::Null,
            State::Underflow if to.reached(self.index) => return self.stop(State::Overflow),
            State::Pause | State::Active | State::Overflow if to.reached(self.last) => return Item::Null,
            State::Active => false,
            State::Pause => self.shift(to),
            State::Start | State::Overflow | State::Underflow => true,
        };
        if looks {
            let found = self.walk(tree);
            if !found.is_null() || to.reached(self.index) {
                return found;
            }
        }
        let found = self.step(tree, to);
        if !to.gaps {
            self.state = State::Active;
        }
        found
    }

    fn find_down<'t, T: Ranges>(&mut self, tree: &'t T, to: Toward) -> Item<T::Value<'t>> {
        let looks = match self.state {
            State::Start | State::Active if to.passed(self.index) => return Item::Null,
            State::Pause | State::Overflow if to.reached(self.index) => return self.stop(State::Underflow),
            State::Underflow if to.reached(self.index) => return Item::Null,
            State::Active | State::Overflow | State::Underflow => false,
            State::Pause => self.shift(to),
            State::Start => true,
        };
        if looks {
            let found = self.walk(tree);
            if !found.is_null() || to.passed(self.index) {
                return found;
            }
        }
        self.step(tree, to)
    }

    /// Moves a paused cursor to the index next to its range, where the search continues.
    const fn shift(&mut self, to: Toward) -> bool {
        self.index = to.beside(to.front(self));
        self.last = self.index;
        true
    }
}
