//! The sizes and alignments that were asked for last, each with a cursor: the word below which no page with objects has
//! a place for it (P8).
//!
//! A word is known by its position among those of all chunks, each of which has a power of two of them.

use crate::object_map::WORD;
use crate::request::CheckedRequest;
use core::ops::Range;

/// Keys that are compared and lowered together.
const LANES: usize = 4;
/// The most keys.
const KEYS: usize = 16;

/// Beyond every position.
pub(super) const NOWHERE: i32 = i32::MAX;

/// More bits than any run has.
const UNUSED: i32 = 1 << 28;

/// Some keys, column by column.
#[derive(Clone, Copy, Debug)]
struct Group {
    bits: [i32; LANES],
    /// Alignment - 1.
    slack: [i32; LANES],
    from: [i32; LANES],
}

/// The keys. Groups are used up one after the other, so that few keys cost little.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// The size and alignment of each key.
    shapes: [u32; KEYS],
    groups: [Group; KEYS / LANES],
    /// Groups in use.
    used: usize,
    /// The key that gives way to the next new one.
    oldest: usize,
}

impl Keys {
    pub(super) fn new() -> Self {
        let group = Group { bits: [UNUSED; LANES], slack: [0; LANES], from: [0; LANES] };
        Self { shapes: [0; KEYS], groups: [group; KEYS / LANES], used: 0, oldest: 0 }
    }

    /// The key of a request. A new one takes the oldest one's place, and the highest cursor of those that ask for no more:
    /// where fewer bits at more places have none, it has none.
    #[inline]
    pub(super) fn of(&mut self, request: &CheckedRequest) -> usize {
        let shape = request.bits << 16 | request.align;
        match self.shapes.iter().position(|&known| known == shape) {
            Some(key) => key,
            None => self.add(request, shape),
        }
    }

    #[cold]
    fn add(&mut self, request: &CheckedRequest, shape: u32) -> usize {
        let (bits, slack) = (request.bits as i32, request.align as i32 - 1);
        let from = self.all().filter(|&(fewer, looser, _)| fewer <= bits && looser <= slack);
        let from = from.map(|(.., from)| from).max().unwrap_or(0);
        let key = self.oldest;
        self.oldest = (key + 1) % KEYS;
        self.used = self.used.max(key / LANES + 1);
        let (group, lane) = (&mut self.groups[key / LANES], key % LANES);
        (group.bits[lane], group.slack[lane], group.from[lane]) = (bits, slack, from);
        self.shapes[key] = shape;
        key
    }

    /// The position below which the key has no place.
    #[inline]
    pub(super) fn from(&self, key: usize) -> i32 {
        self.groups[key / LANES].from[key % LANES]
    }

    /// The key has no place below a position.
    #[inline]
    pub(super) fn raise(&mut self, key: usize, to: i32) {
        self.groups[key / LANES].from[key % LANES] = to;
    }

    /// Lowers every key to its first place in a free run of the chunk whose first word is at `base`.
    #[inline]
    pub(super) fn lower(&mut self, base: i32, run: &Range<u32>) {
        let (start, end) = (run.start as i32, run.end as i32);
        for group in self.groups.iter_mut().take(self.used) {
            for lane in 0..LANES {
                let place = (start + group.slack[lane]) & !group.slack[lane];
                let position = base + (place >> WORD.ilog2());
                let lower = place + group.bits[lane] <= end && position < group.from[lane];
                group.from[lane] = if lower { position } else { group.from[lane] };
            }
        }
    }

    /// Every key: its bits, its alignment - 1 and its cursor.
    pub(super) fn all(&self) -> impl Iterator<Item = (i32, i32, i32)> {
        let lane = |group: &Group, lane: usize| (group.bits[lane], group.slack[lane], group.from[lane]);
        let all = self.groups.iter().flat_map(move |group| [0, 1, 2, 3].map(|at| lane(group, at)));
        all.filter(|&(bits, ..)| bits != UNUSED)
    }
}
