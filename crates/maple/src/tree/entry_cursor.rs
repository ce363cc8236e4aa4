//! Entries one after the other, for an owner that takes the map apart, or changes it in between.
//!
//! [`Slots`](super::Slots) borrows the tree for the whole iteration, and so needs no check that it has not changed. A
//! cursor borrows it for one step.

use super::{Direction, Memory, Tree, indexes};
use crate::entry::Word;
use crate::node::{NONE, NodeId};
use freehold_units::Span;

/// A leaf, and a bit for each of its entries to come. Valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryCursor {
    direction: Direction,
    leaf: NodeId,
    /// The leaf's index range.
    whole: Span,
    slots: u64,
    /// The index from which the next leaf is searched; `None` after the last.
    next: Option<u64>,
}

impl EntryCursor {
    /// Before the first entry, to go up.
    pub(crate) const fn at_start() -> Self {
        Self::new(Direction::Up, Some(0))
    }

    /// Behind the last entry, to go down.
    pub(crate) const fn at_end() -> Self {
        Self::new(Direction::Down, Some(u64::MAX))
    }

    /// Behind an entry, whatever has become of it, to go up.
    pub(crate) const fn behind(entry: Span) -> Self {
        Self::new(Direction::Up, entry.last().checked_add(1))
    }

    const fn new(direction: Direction, next: Option<u64>) -> Self {
        Self { direction, leaf: NONE, whole: Span::ALL, slots: 0, next }
    }
}

impl<M: Memory> Tree<M> {
    /// The next entry's index range and word. The cursor moves past it.
    #[inline]
    pub(crate) fn next_entry(&self, cursor: &mut EntryCursor) -> Option<(Span, Word)> {
        while cursor.slots == 0 {
            self.enter_next(cursor)?;
        }
        let slot = match cursor.direction {
            Direction::Up => cursor.slots.trailing_zeros(),
            Direction::Down => cursor.slots.ilog2(),
        } as usize;
        cursor.slots &= !(1 << slot);
        let leaf = self.leaf(cursor.leaf);
        let (first, last) = leaf.span(slot, cursor.whole);
        Some((indexes(first, last), leaf.word(slot)))
    }

    /// Moves a cursor to the next leaf. `None` if there is none.
    #[inline(never)]
    fn enter_next(&self, cursor: &mut EntryCursor) -> Option<()> {
        let index = cursor.next.filter(|_| self.height > 0)?;
        (cursor.leaf, cursor.whole) = self.leaf_id_at(index);
        let shape = &self.leaf(cursor.leaf).shape;
        let (to_come, next) = match cursor.direction {
            Direction::Up => (shape.slots_from(index), cursor.whole.last().checked_add(1)),
            Direction::Down => (shape.slots_to(index), cursor.whole.first().checked_sub(1)),
        };
        (cursor.slots, cursor.next) = (u64::from(shape.occupied()) & to_come, next);
        Some(())
    }
}
