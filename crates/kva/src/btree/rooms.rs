//! The columns of the tree: where blocks end, and what room each child has per class of alignment.

use crate::bplus::{Columns, INNER_WIDTH, LEAF_WIDTH, Summaries, array};
use freehold_units::{Align, Span};

/// Classes of alignment: 1, 2, 4 and so on to 1024 granules, which is 4 MiB of pages.
pub(super) const CLASSES: usize = 11;

/// Rooms of fewer granules are stored as they are, larger ones to 25 bits after the first.
const EXACT_GRANULES: u64 = 1 << 31;
const MANTISSA_BITS: u32 = 25;

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

/// What rooms are counted in, and for how many classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The alignment of each class; the first is the granule.
    aligns: [Align; CLASSES],
    /// The first so many classes are kept up; 1 until a request is aligned to more.
    pub(super) classes: usize,
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
        Self { aligns, classes: 1 }
    }

    /// The class to ask for a request of that alignment: the largest that is not above it, kept or not.
    #[inline]
    pub(super) fn class_of(&self, align: Align) -> usize {
        let shift = align.bytes().trailing_zeros().saturating_sub(self.aligns[0].bytes().trailing_zeros());
        (shift as usize).min(CLASSES - 1)
    }

    /// A size in half a word, so that a node's rooms take few cache lines. Sizes keep their order, but sizes from
    /// 2^31 granules on, 8 TiB of pages, may come out equal if they differ by less than one part in 2^25.
    #[inline]
    pub(super) fn short(&self, size_bytes: u64) -> u32 {
        let granules = size_bytes >> self.aligns[0].bytes().trailing_zeros();
        if granules < EXACT_GRANULES {
            return granules as u32;
        }
        let exponent = granules.ilog2();
        let mantissa = (granules >> (exponent - MANTISSA_BITS)) as u32 - (1 << MANTISSA_BITS);
        (1 << 31) + ((exponent - 31) << MANTISSA_BITS) + mantissa
    }

    /// The bytes that a short size stands for, if it stands for one size alone.
    pub(super) fn long(&self, short: u32) -> Option<u64> {
        let exact = u64::from(short) < EXACT_GRANULES;
        exact.then_some(u64::from(short) << self.aligns[0].bytes().trailing_zeros())
    }

    /// The room of one block in one class.
    #[inline]
    pub(super) fn room_in(&self, block: Span, class: usize) -> u32 {
        if class == 0 {
            // Blocks are made of granules, so this is the whole block.
            return self.short(block.size_saturating());
        }
        let aligned = self.aligns[class].up(block.first()).and_then(|first| Span::new(first, block.last()));
        aligned.map_or(0, |room| self.short(room.size_saturating()))
    }
}

/// Last addresses of the blocks in a leaf; the first ones are its keys.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub(super) lasts: [u64; LEAF_WIDTH],
}

impl Ends {
    /// The largest room of one class in a leaf.
    #[inline]
    pub(super) fn room_in_class(&self, kept: &Kept, firsts: &[u64], class: usize) -> u32 {
        if class == 0 {
            return kept.short(self.largest(firsts));
        }
        let blocks = firsts.iter().zip(&self.lasts).filter_map(|(&first, &last)| Span::new(first, last));
        blocks.fold(0, |most, block| most.max(kept.room_in(block, class)))
    }

    /// The size of the largest block in a leaf.
    #[inline]
    pub(super) fn largest(&self, firsts: &[u64]) -> u64 {
        let blocks = firsts.iter().zip(&self.lasts);
        blocks.fold(0, |most, (first, last)| most.max((last - first).saturating_add(1)))
    }
}

impl Columns for Ends {
    type Key = u64;
    type Item = u64;

    fn empty() -> Self {
        Self { lasts: [0; LEAF_WIDTH] }
    }

    #[inline]
    fn insert(&mut self, len: usize, at: usize, item: u64) {
        array::insert(&mut self.lasts, len, at, item);
    }

    #[inline]
    fn remove(&mut self, len: usize, at: usize) -> u64 {
        array::remove(&mut self.lasts, len, at)
    }

    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize) {
        array::move_tail(&self.lasts, len, keep, &mut right.lasts, right_len);
    }

    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize) {
        array::move_head(&mut self.lasts, len, count, &mut right.lasts, right_len);
    }
}

impl Rooms {
    /// The first child from `child` on, of `len`, with that room or more.
    #[inline]
    pub(super) fn first_with(&self, class: usize, len: usize, child: usize, short: u32) -> Option<usize> {
        let rooms = self.classes[class][..len].get(child..)?;
        Some(child + array::first_with(rooms, |room| room >= short)?)
    }

    /// The last child before `until` with that room or more.
    #[inline]
    pub(super) fn last_with(&self, class: usize, until: usize, short: u32) -> Option<usize> {
        self.classes[class][..until].iter().rposition(|&room| room >= short)
    }
}

/// The rooms of an inner node's children, one array per class, so that a search reads only its own.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    pub(super) classes: [[u32; INNER_WIDTH]; CLASSES],
}

impl Columns for Rooms {
    type Key = u64;
    type Item = Room;

    fn empty() -> Self {
        Self { classes: [[0; INNER_WIDTH]; CLASSES] }
    }

    fn insert(&mut self, len: usize, at: usize, item: Room) {
        for (rooms, room) in self.classes.iter_mut().zip(item.0) {
            array::insert(rooms, len, at, room);
        }
    }

    fn remove(&mut self, len: usize, at: usize) -> Room {
        let mut removed = Room::default();
        for (room, rooms) in removed.0.iter_mut().zip(&mut self.classes) {
            *room = array::remove(rooms, len, at);
        }
        removed
    }

    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize) {
        for (rooms, right) in self.classes.iter().zip(&mut right.classes) {
            array::move_tail(rooms, len, keep, right, right_len);
        }
    }

    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize) {
        for (rooms, right) in self.classes.iter_mut().zip(&mut right.classes) {
            array::move_head(rooms, len, count, right, right_len);
        }
    }
}

impl Summaries<Ends> for Rooms {
    type One = Room;
    type Context = Kept;

    fn of_leaf(kept: Kept, keys: &[u64], ends: &Ends) -> Room {
        let mut room = Room::default();
        for (class, room) in room.0.iter_mut().enumerate().take(kept.classes) {
            *room = ends.room_in_class(&kept, keys, class);
        }
        room
    }

    #[inline]
    fn get(&self, kept: Kept, at: usize) -> Room {
        let mut room = Room::default();
        for (room, rooms) in room.0.iter_mut().zip(&self.classes).take(kept.classes) {
            *room = rooms[at];
        }
        room
    }

    #[inline]
    fn set(&mut self, kept: Kept, at: usize, one: Room) {
        for (rooms, room) in self.classes.iter_mut().zip(one.0).take(kept.classes) {
            rooms[at] = room;
        }
    }

    fn total(&self, kept: Kept, len: usize) -> Room {
        let mut total = Room::default();
        for (total, rooms) in total.0.iter_mut().zip(&self.classes).take(kept.classes) {
            *total = rooms[..len].iter().copied().max().unwrap_or(0);
        }
        total
    }
}
