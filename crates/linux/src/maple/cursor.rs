//! The kernel's cursor: a range of indexes and a state, and how it walks and steps.
//!
//! Between two calls it knows nothing of the tree but the range that it is on, so it borrows nothing and no write can
//! make it point to what is gone: it goes on from its range. A step is a descent from the root.
//!
//! # What a step does
//! Up, it looks from `last + 1` on and may not start above `max`; down, from `index - 1` on and may not start below
//! `min`. Where it would, the cursor stays where it is and has overflowed, or underflowed.
//!
//! ```text
//!              index    last
//!                |       |              stops at gaps: the range at last + 1, whatever it is
//!   --[entry]----[ entry ]-----[entry]--
//!                        ^^^^^^^        does not: the next entry; if the gap reaches max, the cursor is on the
//!                          gap          gap and has overflowed
//! ```

use super::{Item, Tree};
use freehold_maple::NonNullValue;
use freehold_units::Span;

/// What a cursor is doing. The kernel has two more states, for a cursor in a tree that has no node; this tree does not
/// show whether it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a range of the tree.
    #[doc(alias = "ma_active")]
    Active,
    /// Not walked yet: it is where it was set to.
    #[doc(alias = "ma_start")]
    Start,
    /// Paused: the search goes on beside its range.
    #[doc(alias = "ma_pause")]
    Pause,
    /// Stopped at a maximum.
    #[doc(alias = "ma_overflow")]
    Overflow,
    /// Stopped at a minimum.
    #[doc(alias = "ma_underflow")]
    Underflow,
}

/// The kernel's cursor, which names its tree at each call.
///
/// What a limit binds is where a range begins that is come to: its first index on the way up, its last on the way
/// down. It may reach beyond.
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

/// What a call answers with: what is in the tree where the cursor went.
pub(super) type Found<'t, E> = Item<<E as freehold_maple::StoredValue>::Ref<'t>>;

impl MaState {
    /// A cursor that was not walked yet, over a range. The ends may be the wrong way round; a store through it is
    /// refused then.
    #[doc(alias = "MA_STATE")]
    #[must_use]
    pub const fn new(index: u64, last: u64) -> Self {
        Self { index, last, state: State::Start }
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

    /// What it is doing.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// As new, at an index.
    #[doc(alias = "mas_set")]
    pub const fn set(&mut self, index: u64) {
        *self = Self::new(index, index);
    }

    /// As new, over a range.
    #[doc(alias = "mas_set_range")]
    pub const fn set_range(&mut self, index: u64, last: u64) {
        *self = Self::new(index, last);
    }

    /// Not walked any more; its range stays.
    #[doc(alias = "mas_reset")]
    pub const fn reset(&mut self) {
        self.state = State::Start;
    }

    /// A search will go on beside its range, whatever happens to the tree; its range stays.
    #[doc(alias = "mas_pause")]
    pub const fn pause(&mut self) {
        self.state = State::Pause;
    }

    /// Goes to the range that holds its index, an entry's or a gap.
    #[doc(alias = "mas_walk")]
    pub fn walk<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>) -> Found<'t, E> {
        self.go(tree, self.index)
    }

    /// To the next entry. A cursor that had stopped at a minimum gives the entry again that it is on.
    #[doc(alias = "mas_next")]
    pub fn next<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, max: u64) -> Found<'t, E> {
        self.advance(tree, Toward::up(max, false))
    }

    /// To the next range, an entry's or a gap; otherwise as [`next`](Self::next).
    #[doc(alias = "mas_next_range")]
    pub fn next_range<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, max: u64) -> Found<'t, E> {
        self.advance(tree, Toward::up(max, true))
    }

    /// To the previous entry. A cursor that had stopped at a maximum gives the entry again that it is on.
    #[doc(alias = "mas_prev")]
    pub fn prev<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, min: u64) -> Found<'t, E> {
        self.advance(tree, Toward::down(min, false))
    }

    /// To the previous range, an entry's or a gap; otherwise as [`prev`](Self::prev).
    #[doc(alias = "mas_prev_range")]
    pub fn prev_range<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, min: u64) -> Found<'t, E> {
        self.advance(tree, Toward::down(min, true))
    }

    /// A cursor that is at the limit stops there, walked or not. One that was not walked is on the range that holds
    /// its index; one that had stopped on the way back gives what it is on once more.
    fn advance<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, to: Toward) -> Found<'t, E> {
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

    /// Moves on from the cursor's range.
    pub(super) fn step<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, to: Toward) -> Found<'t, E> {
        let front = to.front(self);
        if to.reached(front) {
            return self.stop(to.beyond());
        }
        let beside = to.beside(front);
        if to.gaps {
            return self.go(tree, beside);
        }
        let entry = match to.way {
            Way::Up => tree.map.range(beside..=to.limit).next(),
            Way::Down => tree.map.range(to.limit..=beside).next_back(),
        };
        match entry {
            Some((span, value)) => {
                self.land(span);
                value.into()
            }
            None => {
                self.go(tree, beside);
                self.stop(to.beyond())
            }
        }
    }

    /// To the range that holds an index.
    fn go<'t, E: NonNullValue>(&mut self, tree: &'t Tree<E>, index: u64) -> Found<'t, E> {
        let (span, value) = tree.map.slot_at(index);
        self.land(span);
        Item::from_slot(value)
    }

    pub(super) fn land(&mut self, span: Span) {
        (self.index, self.last, self.state) = (span.first(), span.last(), State::Active);
    }

    /// Nothing is found, and the cursor is in that state from now on.
    pub(super) fn stop<T>(&mut self, state: State) -> Item<T> {
        self.state = state;
        Item::Null
    }
}

/// Which way a call goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    Up,
    Down,
}

/// Which way a call goes, how far, and whether gaps are a goal.
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

    /// Whether the limit does not lie beyond an index.
    pub(super) const fn reached(self, index: u64) -> bool {
        match self.way {
            Way::Up => index >= self.limit,
            Way::Down => index <= self.limit,
        }
    }

    /// Whether an index lies beyond the limit.
    pub(super) const fn passed(self, index: u64) -> bool {
        index != self.limit && self.reached(index)
    }

    /// The next index that way; there is one, as the limit is not reached.
    pub(super) const fn beside(self, index: u64) -> u64 {
        match self.way {
            Way::Up => index.saturating_add(1),
            Way::Down => index.saturating_sub(1),
        }
    }

    /// The state at the limit.
    pub(super) const fn beyond(self) -> State {
        match self.way {
            Way::Up => State::Overflow,
            Way::Down => State::Underflow,
        }
    }

    /// The state at the limit of the way back.
    pub(super) const fn behind(self) -> State {
        match self.way {
            Way::Up => State::Underflow,
            Way::Down => State::Overflow,
        }
    }
}
