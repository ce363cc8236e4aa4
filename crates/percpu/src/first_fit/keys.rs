//! The keys: the sizes and alignments asked for last, each with a cursor, the word below which no page with objects has a
//! place for it (P8).
//!
//! A cursor is a position: words are numbered over all chunks, each of which has the same power of two of numbers.

use crate::geometry::align_up;
use crate::object_map::WORD;
use crate::request::CheckedRequest;
use core::ops::Range;

/// The number of keys: more than any recorded workload has sizes.
const KEYS: usize = 24;

/// A position beyond every word.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A size and an alignment in bits, and the cursor: the first word that may have a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) bits: u32,
    pub(super) align: u32,
    pub(super) from: u32,
}

/// The size of a key that is not in use: no run is as long.
const UNUSED: u32 = u32::MAX;

/// The keys by ascending size, so that a short free run is compared only with keys that it can serve.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    keys: [Key; KEYS],
    /// The next key to evict; they take turns.
    victim: usize,
}

impl Keys {
    pub(super) const fn new() -> Self {
        Self { keys: [Key { bits: UNUSED, align: 1, from: 0 }; KEYS], victim: 0 }
    }

    /// The key of a request.
    #[inline]
    pub(super) fn of(&mut self, request: &CheckedRequest) -> usize {
        let same = |key: &Key| key.bits == request.bits && key.align == request.align;
        match self.keys.iter().position(same) {
            Some(key) => key,
            None => self.add(request),
        }
    }

    /// Adds a key; evicts another if all are in use. Its cursor starts at the highest of keys with at most its size and
    /// alignment: where those have no place, it has none.
    #[cold]
    fn add(&mut self, request: &CheckedRequest) -> usize {
        let &CheckedRequest { bits, align, .. } = request;
        let is_easier = |key: &&Key| key.bits <= bits && key.align <= align;
        let from = self.keys.iter().filter(is_easier).map(|key| key.from).max().unwrap_or(0);
        if self.keys[KEYS - 1].bits != UNUSED {
            self.keys.copy_within(self.victim + 1.., self.victim);
            self.victim = (self.victim + 1) % KEYS;
        }
        let at = self.keys[..KEYS - 1].partition_point(|key| key.bits < bits);
        self.keys.copy_within(at..KEYS - 1, at + 1);
        self.keys[at] = Key { bits, align, from };
        at
    }

    /// The cursor of a key.
    #[inline]
    pub(super) fn cursor(&mut self, key: usize) -> &mut u32 {
        &mut self.keys[key].from
    }

    /// Lowers cursors for a free run of the chunk whose first word is at `base`: each key's to its first place in the run.
    #[inline]
    pub(super) fn lower(&mut self, base: u32, run: &Range<u32>) {
        let (bits, first) = (run.end - run.start, base + run.start / WORD);
        for key in &mut self.keys {
            if key.bits > bits {
                return;
            }
            if key.from > first {
                let place = align_up(run.start, key.align);
                let fits = place + key.bits <= run.end;
                key.from = if fits { key.from.min(base + place / WORD) } else { key.from };
            }
        }
    }

    /// Every key in use.
    pub(super) fn all(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter().take_while(|key| key.bits != UNUSED)
    }
}
