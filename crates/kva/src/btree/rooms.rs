//! What room each child of a node has per class of alignment.
//!
//! ```text
//!   nodes   | lows, children | lows, children | lows, children |
//!   class 0 | 22  7  0  9 .. |  3  3 40  1 .. |  8 11  2  5 .. |     a row of rooms for each node
//!   class 3 |  8  0  0  8 .. |  0  0 32  0 .. |  8  8  0  0 .. |     if it is asked for
//! ```

use super::kept::{CLASSES, Kept};
use super::lanes;
use super::segment::Segments;
use crate::OutOfMemory;
use crate::arena::Link;
use crate::bplus::{INNER_WIDTH, Summaries, array};
use alloc::vec::Vec;

/// The largest room per class, in the short form of [`Kept::short`]. Classes that are not kept are 0.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub(super) struct Room(pub(super) [u32; CLASSES]);

impl PartialEq for Room {
    /// Word by word: comparing arrays calls `memcmp`, which costs more than all the rest of an update.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// The rooms of one node's children in one class. Behind the last child they are 0.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Row([u32; INNER_WIDTH]);

impl Row {
    const EMPTY: Self = Self([0; INNER_WIDTH]);
}

/// The rooms of all inner nodes' children: per class that is kept a row for each node, so that a search reads only
/// rows of its own class, and what is not asked for takes no memory.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    pub(super) kept: Kept,
    /// Those of classes that are not kept are empty.
    classes: [Vec<Row>; CLASSES],
    /// Rows of each class that is kept, at least as many as nodes.
    rows: usize,
}

impl Rooms {
    pub(super) fn new(kept: Kept) -> Self {
        Self { kept, classes: [const { Vec::new() }; CLASSES], rows: 0 }
    }

    /// Has a class kept up from now on. Its rooms are not right before they are summed up anew.
    pub(super) fn keep(&mut self, class: usize) -> Result<(), OutOfMemory> {
        extend(&mut self.classes[class], self.rows)?;
        self.kept.keep(class);
        Ok(())
    }

    /// Has a class other than the first kept up no longer.
    pub(super) fn drop(&mut self, class: usize) {
        self.kept.drop(class);
        if !self.kept.keeps(class) {
            self.classes[class] = Vec::new();
        }
    }

    /// The rooms of a node's children in a class.
    #[inline]
    pub(super) fn row(&self, class: usize, node: Link) -> &[u32; INNER_WIDTH] {
        &self.classes[class][node.number() as usize].0
    }

    #[inline]
    pub(super) fn row_mut(&mut self, class: usize, node: Link) -> &mut [u32; INNER_WIDTH] {
        &mut self.classes[class][node.number() as usize].0
    }

    /// Two nodes' rows, those of both classes and nodes that there are.
    fn rows_mut(&mut self, nodes: [Link; 2]) -> impl Iterator<Item = [&mut [u32; INNER_WIDTH]; 2]> {
        let numbers = nodes.map(|node| node.number() as usize);
        self.classes.iter_mut().filter_map(move |rows| {
            let rows = rows.get_disjoint_mut(numbers).ok()?;
            Some(rows.map(|row| &mut row.0))
        })
    }

    /// The largest room of all children.
    #[inline]
    pub(super) fn most(&self, class: usize, node: Link) -> u32 {
        lanes::most(self.row(class, node))
    }

    #[cold]
    fn grow(&mut self, nodes: usize) -> Result<(), OutOfMemory> {
        let rows = nodes + nodes / 16;
        for class in self.kept.classes() {
            extend(&mut self.classes[class], rows)?;
        }
        self.rows = rows;
        Ok(())
    }
}

/// Makes `count` rows of them, the new ones empty.
fn extend(rows: &mut Vec<Row>, count: usize) -> Result<(), OutOfMemory> {
    rows.try_reserve_exact(count.saturating_sub(rows.len())).map_err(|_| OutOfMemory)?;
    rows.resize(count, Row::EMPTY);
    Ok(())
}

impl<V> Summaries<Segments<V>> for Rooms {
    type One = Room;

    #[inline]
    fn reserve(&mut self, nodes: usize) -> Result<(), OutOfMemory> {
        if nodes > self.rows { self.grow(nodes) } else { Ok(()) }
    }

    fn bytes(&self) -> usize {
        self.classes.iter().map(|rows| rows.capacity() * size_of::<Row>()).sum()
    }

    fn of_leaf(&self, keys: &[u64], segments: &Segments<V>) -> Room {
        let mut room = Room::default();
        for class in self.kept.classes() {
            room.0[class] = segments.room_in_class(&self.kept, keys, class);
        }
        room
    }

    #[inline]
    fn get(&self, node: Link, at: usize) -> Room {
        let mut room = Room::default();
        for class in self.kept.classes() {
            room.0[class] = self.row(class, node)[at];
        }
        room
    }

    #[inline]
    fn set(&mut self, node: Link, at: usize, one: Room) {
        for class in self.kept.classes() {
            self.row_mut(class, node)[at] = one.0[class];
        }
    }

    fn total(&self, node: Link, _: usize) -> Room {
        let mut total = Room::default();
        for class in self.kept.classes() {
            total.0[class] = self.most(class, node);
        }
        total
    }

    fn insert(&mut self, node: Link, len: usize, at: usize, one: Room) {
        for class in self.kept.classes() {
            array::insert(self.row_mut(class, node), len, at, one.0[class]);
        }
    }

    fn remove(&mut self, node: Link, len: usize, at: usize) {
        for class in self.kept.classes() {
            let row = self.row_mut(class, node);
            array::remove(row, len, at);
            row[len - 1] = 0;
        }
    }

    fn move_tail(&mut self, node: Link, len: usize, keep: usize, right: Link, right_len: usize) {
        for [row, right] in self.rows_mut([node, right]) {
            array::move_tail(row, len, keep, right, right_len);
            row[keep..len].fill(0);
        }
    }

    fn move_head(&mut self, node: Link, len: usize, count: usize, right: Link, right_len: usize) {
        for [row, right] in self.rows_mut([node, right]) {
            array::move_head(row, len, count, right, right_len);
            right[right_len - count..right_len].fill(0);
        }
    }
}
