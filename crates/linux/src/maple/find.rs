//! Finding: the first call looks where the cursor is, the next ones go on from there.
//!
//! The kernel's two ways are no mirror images, and callers rely on either. "Look" is to walk to the cursor's index and
//! give the entry there; without one, the cursor steps on.
//!
//! | State | up, to `max` | down, to `min` |
//! |---|---|---|
//! | start | `index > max`: nothing; else look | `index < min`: nothing; else look |
//! | paused | `last >= max`: nothing; else one above, and look | `index <= min`: underflow; else one below, and look |
//! | active | `last >= max`: nothing; else step | `index < min`: nothing; else step |
//! | overflow | `last >= max`: nothing; else look, again | `index <= min`: underflow; else step |
//! | underflow | `index >= max`: overflow; else look, again | `index <= min`: nothing; else step |
//!
//! A look that meets a gap ends there if the gap begins at `max`, or below `min`. Up, a search for entries leaves the
//! cursor active even where its step met the limit.

use super::cursor::{Found, State, Toward};
use super::{Item, MaState, Tree};
use freehold_maple::NonNullValue;

impl MaState {
    /// To the entry at or above its index, or, once it is on a range, to the next. Finding nothing, it is on the last
    /// range that it looked at.
    #[doc(alias = "mas_find")]
    #[doc(alias = "mas_for_each")]
    pub fn find<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, max: u64) -> Found<'t, E> {
        self.find_up(tree, Toward::up(max, false))
    }

    /// To the range at or above its index, an entry's or a gap, or, once it is on one, to the next.
    #[doc(alias = "mas_find_range")]
    pub fn find_range<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, max: u64) -> Found<'t, E> {
        self.find_up(tree, Toward::up(max, true))
    }

    /// To the entry at or below its index, or, once it is on a range, to the previous.
    #[doc(alias = "mas_find_rev")]
    #[doc(alias = "mas_for_each_rev")]
    pub fn find_rev<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, min: u64) -> Found<'t, E> {
        self.find_down(tree, Toward::down(min, false))
    }

    /// To the range at or below its index, an entry's or a gap, or, once it is on one, to the previous.
    #[doc(alias = "mas_find_range_rev")]
    pub fn find_range_rev<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, min: u64) -> Found<'t, E> {
        self.find_down(tree, Toward::down(min, true))
    }

    fn find_up<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, to: Toward) -> Found<'t, E> {
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

    fn find_down<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, to: Toward) -> Found<'t, E> {
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

    /// A paused cursor goes on beside its range, and looks there.
    const fn shift(&mut self, to: Toward) -> bool {
        self.index = to.beside(to.front(self));
        self.last = self.index;
        true
    }
}
