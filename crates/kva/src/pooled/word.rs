//! A slab's state word: free-slot bitmap, owned and purging flags, and a generation against ABA.
//!
//! ```text
//!   63            34  33       32      31            0
//!   | generation    | purging | owned | free          |
//! ```
//!
//! One compare-and-swap changes the whole word, so a decision based on one generation of a slab never takes effect on
//! another.

use std::num::NonZeroU64;

/// The value of a slab's atomic word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// The name of a slab: its record's number and its generation. A caller that keeps it with a block's address saves the
/// free a look at the page map: [`PooledSpace::free_slot`](super::PooledSpace::free_slot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlabRef(NonZeroU64);

const GENERATION_SHIFT: u32 = 34;
const PURGING: u64 = 1 << 33;
const OWNED: u64 = 1 << 32;

/// The last generation. A record that has reached it is not used again.
pub(super) const LAST_GENERATION: u32 = (1 << 30) - 1;

impl Word {
    /// The word of a live, owned slab.
    #[inline]
    pub(super) fn live(generation: u32, free: u32) -> Self {
        debug_assert!(generation % 2 == 1 && generation <= LAST_GENERATION);
        Self(u64::from(generation) << GENERATION_SHIFT | OWNED | u64::from(free))
    }

    /// The word of a record without a slab.
    pub(super) fn retired(generation: u32) -> Self {
        debug_assert!(generation.is_multiple_of(2) && generation <= LAST_GENERATION);
        Self(u64::from(generation) << GENERATION_SHIFT)
    }

    /// Whether the word has that generation and no purge holds slots, the common case.
    #[inline]
    pub(super) fn is_fast(self, generation: u32) -> bool {
        self.0 >> 33 == u64::from(generation) << 1
    }

    /// The generation; odd while the record has a slab.
    #[inline]
    pub(super) fn generation(self) -> u32 {
        (self.0 >> GENERATION_SHIFT) as u32
    }

    pub(super) fn is_live(self) -> bool {
        self.generation() % 2 == 1
    }

    /// The slots that nobody holds.
    #[inline]
    pub(super) fn free(self) -> u32 {
        self.0 as u32
    }

    /// Whether a purge holds slots: those in the record's `claimed`.
    #[inline]
    pub(super) fn is_purging(self) -> bool {
        self.0 & PURGING != 0
    }

    /// Whether the slab is a shard's current one, in a list, or with a thread that puts it there.
    #[inline]
    pub(super) fn is_owned(self) -> bool {
        self.0 & OWNED != 0
    }

    #[inline]
    pub(super) fn with_free(self, free: u32) -> Self {
        Self(self.0 & !u64::from(u32::MAX) | u64::from(free))
    }

    pub(super) fn purging(self, purging: bool) -> Self {
        Self(if purging { self.0 | PURGING } else { self.0 & !PURGING })
    }

    pub(super) fn owned(self, owned: bool) -> Self {
        Self(if owned { self.0 | OWNED } else { self.0 & !OWNED })
    }
}

impl SlabRef {
    pub(super) fn new(generation: u32, id: u32) -> Self {
        let bits = NonZeroU64::new(u64::from(generation) << 32 | u64::from(id));
        Self(bits.expect("S4: no slab has generation 0"))
    }

    /// Decodes the contents of an atomic word, where 0 is `None`.
    #[inline]
    pub(super) fn from_bits(bits: u64) -> Option<Self> {
        NonZeroU64::new(bits).map(Self)
    }

    /// Encodes a name for an atomic word, where 0 is `None`.
    #[inline]
    pub(super) fn to_bits(name: Option<Self>) -> u64 {
        name.map_or(0, |name| name.0.get())
    }

    #[inline]
    pub(super) fn generation(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    #[inline]
    pub(super) fn id(self) -> u32 {
        self.0.get() as u32
    }
}
