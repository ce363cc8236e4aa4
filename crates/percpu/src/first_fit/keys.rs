//! The keys: sizes and alignments of requests, each with a cursor. No page with objects below the cursor's word has a
//! place for the key (P8).
//!
//! A cursor is a position. The words of all chunks are numbered, and each chunk has the same power of two of numbers.
//!
//! A request without a key adds one. If all keys are in use, it evicts the key at `victim` and advances `victim`, so
//! eviction is round-robin. Recency of use does not matter: a key that is needed again is added again, and its cursor
//! starts at those of easier keys.

use crate::geometry::align_up;
use crate::object_map::WORD;
use crate::request::BitRequest;
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

/// The size of an unused key: no run is so long.
const UNUSED: u32 = u32::MAX;

/// The keys by ascending size: a short free run is compared only with keys of at most its length.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    keys: [Key; KEYS],
    /// The place in the table whose key is evicted next.
    victim: usize,
}

impl Keys {
    pub(super) const fn new() -> Self {
        let unused = Key { bits: UNUSED, align: 1, from: 0 };
        Self { keys: [unused; KEYS], victim: 0 }
    }

    /// The key of a request.
    #[inline]
    pub(super) fn of(&mut self, request: &BitRequest) -> usize {
        let same = |key: &Key| key.bits == request.bits && key.align == request.align;
        match self.keys.iter().position(same) {
            Some(key) => key,
            None => self.add(request),
        }
    }

    /// Adds a key; evicts another if all are in use. Its cursor starts at the highest cursor of the easier keys, those
    /// with at most its size and alignment: if an easier key has no place, this one has none either.
    #[cold]
    fn add(&mut self, request: &BitRequest) -> usize {
        let &BitRequest { bits, align, .. } = request;
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

    /// Lowers cursors for a new free run, each to the key's first place in the run. `base` is the position of the first
    /// word of the run's chunk.
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
