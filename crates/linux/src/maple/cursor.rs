//! The kernel's cursor: a range of indexes and a state, with its walks and steps.
//!
//! Between two calls a cursor stores only its range, so it does not borrow the tree, and no write can leave it
//! dangling: it continues from its range. A step is a descent from the root.
//!
//! # What a step does
//! An upward step starts at `last + 1`, which must not be above `max`; a downward step starts at `index - 1`, which
//! must not be below `min`. Otherwise the cursor does not move and has overflowed, or underflowed.
//!
//! ```text
//!              index    last
//!                |       |              stops at gaps: the range at last + 1, whatever it is
//!   --[entry]----[ entry ]-----[entry]--
//!                        ^^^^^^^        does not: the next entry; if the gap reaches max, the cursor is on the
//!                          gap          gap and has overflowed
//! ```

use super::map::Way;
use super::{Item, Ranges};
use freehold_units::Span;

/// The state of a cursor. The kernel has two more states, for a cursor in a tree without nodes; this tree does not show
/// whether it has nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a range of the tree.
    #[doc(alias = "ma_active")]
    Active,
    /// Not walked yet: the cursor is at the range that was set.
    #[doc(alias = "ma_start")]
    Start,
    /// Paused: the search will continue next to its range.
    #[doc(alias = "ma_pause")]
    Pause,
    /// Stopped at a maximum.
    #[doc(alias = "ma_overflow")]
    Overflow,
    /// Stopped at a minimum.
    #[doc(alias = "ma_underflow")]
    Underflow,
}

/// The kernel's cursor. Each call takes the tree as an argument: a [`Tree`](super::Tree) with one owner, or what
/// [`Tree::read`](super::Tree::read) returns.
///
/// A limit applies to the near end of the next range: its first index on the way up, its last on the way down. The
/// range may extend beyond the limit.
///
/// ```
/// use freehold_linux::maple::{Flags, Item, MaState, State, Tree};
/// use std::num::NonZeroU32;
///
/// let mut tree = Tree::new(Flags::default());
/// let [one, two] = [1, 2].map(|number| Item::Entry(NonZeroU32::new(number).unwrap()));
/// tree.store_range(10, 19, one)?;
/// tree.store_range(40, 49, two)?;
///
/// let mut mas = MaState::new(0, 0);
/// assert_eq!(mas.find(&tree, 100), one);
/// assert_eq!((mas.index(), mas.last()), (10, 19));
/// assert_eq!(mas.next_range(&tree, 100), Item::Null); // the gap between them
/// assert_eq!((mas.index(), mas.last()), (20, 39));
/// assert_eq!(mas.next(&tree, 100), two);
/// assert_eq!(mas.next(&tree, 49), Item::Null);
/// assert_eq!(mas.state(), State::Overflow);
/// # Ok::<(), freehold_maple::Rejected<Item<NonZeroU32>, freehold_linux::Error>>(())
/// ```
#[doc(alias = "ma_state")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaState {
    pub(super) index: u64,
    pub(super) last: u64,
    pub(super) state: State,
}

impl MaState {
    /// A cursor over a range, not walked yet. If the ends are reversed, a store through it is refused.
    #[doc(alias = "MA_STATE")]
    #[must_use]
    pub const fn new(index: u64, last: u64) -> Self {
        Self { index, last, state: State::Start }
    }

    /// A cursor in a given state, for a caller that keeps cursors in a form of its own.
    #[must_use]
    pub const fn with_state(index: u64, last: u64, state: State) -> Self {
        Self { index, last, state }
    }

    /// The first index of its range.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The last index of its range.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// The cursor's state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Resets the cursor to an index.
    #[doc(alias = "mas_set")]
    pub const fn set(&mut self, index: u64) {
        *self = Self::new(index, index);
    }

    /// Resets the cursor to a range.
    #[doc(alias = "mas_set_range")]
    pub const fn set_range(&mut self, index: u64, last: u64) {
        *self = Self::new(index, last);
    }

    /// Resets the state to not walked; the range does not change.
    #[doc(alias = "mas_reset")]
    pub const fn reset(&mut self) {
        self.state = State::Start;
    }

    /// Pauses the cursor: a search will continue next to its range, whatever happens to the tree. The range does not
    /// change.
    #[doc(alias = "mas_pause")]
    pub const fn pause(&mut self) {
        self.state = State::Pause;
    }

    /// Moves to the range that contains its index, an entry's or a gap.
    #[doc(alias = "mas_walk")]
    pub fn walk<'t, T: Ranges>(&mut self, tree: &'t T) -> Item<T::Value<'t>> {
        self.go(tree, self.index)
    }

    /// Moves to the next entry. A cursor that had stopped at a minimum returns its present entry again.
    #[doc(alias = "mas_next")]
    pub fn next<'t, T: Ranges>(&mut self, tree: &'t T, max: u64) -> Item<T::Value<'t>> {
        self.advance(tree, Toward::up(max, false))
    }

    /// Moves to the next range, an entry's or a gap; otherwise as [`next`](Self::next).
    #[doc(alias = "mas_next_range")]
    pub fn next_range<'t, T: Ranges>(&mut self, tree: &'t T, max: u64) -> Item<T::Value<'t>> {
        self.advance(tree, Toward::up(max, true))
    }

    /// Moves to the previous entry. A cursor that had stopped at a maximum returns its present entry again.
    #[doc(alias = "mas_prev")]
    pub fn prev<'t, T: Ranges>(&mut self, tree: &'t T, min: u64) -> Item<T::Value<'t>> {
        self.advance(tree, Toward::down(min, false))
    }

    /// Moves to the previous range, an entry's or a gap; otherwise as [`prev`](Self::prev).
    #[doc(alias = "mas_prev_range")]
    pub fn prev_range<'t, T: Ranges>(&mut self, tree: &'t T, min: u64) -> Item<T::Value<'t>> {
        self.advance(tree, Toward::down(min, true))
    }

    /// A cursor at the limit stops there, walked or not. A cursor that was not walked starts on the range that contains
    /// its index. A cursor that had stopped in the other direction returns its present item again.
    fn advance<'t, T: Ranges>(&mut self, tree: &'t T, to: Toward) -> Item<T::Value<'t>> {
        if to.reached(to.front(self)) {
            return self.stop(to.beyond());
        }
        match self.state {
            State::Start | State::Pause => {
                self.walk(tree);
            }
            state if state == to.behind() => {
                let again = self.walk(tree);
                if !again.is_null() {
                    return again;
                }
            }
            _ => {}
        }
        self.step(tree, to)
    }

    /// Steps from the cursor's range to the next.
    pub(super) fn step<'t, T: Ranges>(&mut self, tree: &'t T, to: Toward) -> Item<T::Value<'t>> {
        let front = to.front(self);
        if to.reached(front) {
            return self.stop(to.beyond());
        }
        let beside = to.beside(front);
        if to.gaps {
            return self.go(tree, beside);
        }
        let entry = match to.way {
            Way::Up => tree.entries(beside, to.limit).next(),
            Way::Down => tree.entries(to.limit, beside).next_back(),
        };
        match entry {
            Some((span, item)) => {
                self.land(span);
                item
            }
            None => {
                self.go(tree, beside);
                self.stop(to.beyond())
            }
        }
    }

    /// Moves to the range that contains an index.
    fn go<'t, T: Ranges>(&mut self, tree: &'t T, index: u64) -> Item<T::Value<'t>> {
        let (span, item) = tree.slot_at(index);
        self.land(span);
        item
    }

    pub(super) fn land(&mut self, span: Span) {
        (self.index, self.last, self.state) = (span.first(), span.last(), State::Active);
    }

    /// Sets the state and returns nothing.
    pub(super) fn stop<T>(&mut self, state: State) -> Item<T> {
        self.state = state;
        Item::Null
    }
}

/// The direction and limit of a call, and whether it stops at gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Toward {
    way: Way,
    limit: u64,
    pub(super) gaps: bool,
}

impl Toward {
    pub(super) const fn up(max: u64, gaps: bool) -> Self {
        Self { way: Way::Up, limit: max, gaps }
    }

    pub(super) const fn down(min: u64, gaps: bool) -> Self {
        Self { way: Way::Down, limit: min, gaps }
    }

    /// The end of a cursor's range that is ahead.
    pub(super) const fn front(self, mas: &MaState) -> u64 {
        match self.way {
            Way::Up => mas.last,
            Way::Down => mas.index,
        }
    }

    /// Whether an index is at or beyond the limit.
    pub(super) const fn reached(self, index: u64) -> bool {
        match self.way {
            Way::Up => index >= self.limit,
            Way::Down => index <= self.limit,
        }
    }

    /// Whether an index is beyond the limit.
    pub(super) const fn passed(self, index: u64) -> bool {
        index != self.limit && self.reached(index)
    }

    /// The next index in this direction. It exists, since the limit is not reached.
    pub(super) const fn beside(self, index: u64) -> u64 {
        match self.way {
            Way::Up => index.saturating_add(1),
            Way::Down => index.saturating_sub(1),
        }
    }

    /// The state of a cursor at the limit.
    pub(super) const fn beyond(self) -> State {
        match self.way {
            Way::Up => State::Overflow,
            Way::Down => State::Underflow,
        }
    }

    /// The state of a cursor at the limit of the other direction.
    pub(super) const fn behind(self) -> State {
        match self.way {
            Way::Up => State::Underflow,
            Way::Down => State::Overflow,
        }
    }
}
