//! What room each child of a node has per class of alignment.
//!
//! ```text
//!   nodes   | lows, children | lows, children | lows, children |
//!   class 0 | 22  7  0  9 .. |  3  3 40  1 .. |  8 11  2  5 .. |     a row of rooms for each node
//!   class 3 |  8  0  0  8 .. |  0  0 32  0 .. |  8  8  0  0 .. |     if it is asked for
//! ```

use super::lanes;
use super::segment::Segments;
use crate::OutOfMemory;
use crate::arena::Link;
use crate::bplus::{INNER_WIDTH, Summaries, array};
use alloc::vec::Vec;
use freehold_units::Align;

/// Classes of alignment: 1, 2, 4 and so on to 1024 granules, which is 4 MiB of pages.
pub(super) const CLASSES: usize = 11;

/// Rooms of up to so many granules are stored as they are, larger ones to so many bits after the first. A large block that
/// is cut a little is then as large as it was, and nobody above need be told.
const EXACT_GRANULES: u32 = 1 << EXACT_BITS;
const EXACT_BITS: u32 = 26;
const MANTISSA_BITS: u32 = 18;
/// What exponents are stored with, so that the least of those sizes comes out as it is.
const BIAS: u32 = (1 << (EXACT_BITS - MANTISSA_BITS)) - EXACT_BITS;

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

/// What rooms are counted in, and for which classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The alignment of each class; the first is the granule.
    aligns: [Align; CLASSES],
    granule_bits: u32,
    /// The classes that are kept up, a bit for each. The first always is.
    kept: u32,
}

impl Kept {
    /// For blocks that are made of granules.
    pub(super) fn new(granule: Align) -> Self {
        let mut aligns = [granule; CLASSES];
        for class in 1..CLASSES {
            // Where granule and class pass 2^63 the class is as the one before: no request is aligned to more.
            let twice = aligns[class - 1].bytes().checked_mul(2).and_then(Align::new);
            aligns[class] = twice.unwrap_or(aligns[class - 1]);
        }
        Self { aligns, granule_bits: granule.bytes().trailing_zeros(), kept: 1 }
    }

    /// The classes that are kept up, in rising order.
    #[inline]
    pub(super) fn classes(self) -> impl Iterator<Item = usize> {
        let mut rest = self.kept;
        core::iter::from_fn(move || {
            let class = rest.trailing_zeros() as usize;
            // Of nothing there are as many zeros as bits.
            rest &= rest.wrapping_sub(1);
            (class < CLASSES).then_some(class)
        })
    }

    /// Whether nothing but the size of blocks is kept up.
    #[inline]
    pub(super) fn only_sizes(&self) -> bool {
        self.kept == 1
    }

    #[inline]
    pub(super) fn keeps(&self, class: usize) -> bool {
        self.kept >> class & 1 == 1
    }

    /// The highest class that is kept up and not above this one: what has no room there has none here.
    #[inline]
    pub(super) fn nearest(&self, class: usize) -> usize {
        (self.kept & ((2 << class) - 1) | 1).ilog2() as usize
    }

    /// The class to ask for a request of that alignment: the largest that is not above it, kept or not.
    #[inline]
    pub(super) fn class_of(&self, align: Align) -> usize {
        let shift = align.bytes().trailing_zeros().saturating_sub(self.granule_bits);
        (shift as usize).min(CLASSES - 1)
    }

    pub(super) fn granule(&self) -> Align {
        self.aligns[0]
    }

    /// A size in half a word, so that rooms take few cache lines; it is given less one, so that 2^64 fits. Sizes keep
    /// their order, but above 2^26 granules, 256 GiB of pages, they may come out equal if they differ by less than
    /// one part in 2^18.
    #[inline]
    pub(super) fn short(&self, reach: u64) -> u32 {
        let reach = reach >> self.granule_bits;
        if reach < u64::from(EXACT_GRANULES) {
            return reach as u32 + 1;
        }
        let exponent = reach.ilog2();
        // The first of the bits that are left counts one exponent more.
        ((exponent + BIAS - 1) << MANTISSA_BITS) + (reach >> (exponent - MANTISSA_BITS)) as u32 + 1
    }

    /// The size, less one, that a short size stands for, if it stands for one size alone.
    #[inline]
    pub(super) fn long(&self, short: u32) -> Option<u64> {
        let exact = short > 0 && short <= EXACT_GRANULES;
        // 2^64 wraps to 0, and 0 to the last address.
        exact.then(|| (u64::from(short) << self.granule_bits).wrapping_sub(1))
    }

    /// The largest size, less one, with that short size, which is not 0.
    fn most(&self, short: u32) -> u64 {
        self.long(short).unwrap_or_else(|| {
            let rounded = short - 1;
            let exponent = (rounded >> MANTISSA_BITS) - BIAS;
            let mantissa = u128::from(rounded & ((1 << MANTISSA_BITS) - 1)) + (1 << MANTISSA_BITS);
            let granules = (mantissa + 1) << (exponent - MANTISSA_BITS);
            u64::try_from((granules << self.granule_bits) - 1).unwrap_or(u64::MAX)
        })
    }

    /// The room in one class of a block with that start and size. Of a block whose size is rounded it may be more
    /// than there is, never less.
    #[inline]
    pub(super) fn room_in(&self, first: u64, room: u32, class: usize) -> u32 {
        if class == 0 {
            // Blocks are made of granules, so this is the whole block.
            return room;
        }
        let skipped = self.aligns[class].up(first).map(|aligned| aligned - first);
        let rest = skipped.and_then(|skipped| self.most(room).checked_sub(skipped));
        rest.map_or(0, |reach| self.short(reach))
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
        self.kept.kept |= 1 << class;
        Ok(())
    }

    /// Has a class other than the first kept up no longer.
    pub(super) fn drop(&mut self, class: usize) {
        if class > 0 {
            self.kept.kept &= !(1 << class);
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
