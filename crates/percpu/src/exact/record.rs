//! What is remembered of a block, and of a chunk's blocks.

use crate::request::Want;

/// A free run of a block: where it starts in the block, and its length in bits, which may pass the block's end.
/// Length 0 is no run. One word: the length above ten bits of start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run(u32);

const START_BITS: u32 = crate::BLOCK_BITS.ilog2();

const _: () = assert!(crate::MAX_UNIT_BYTES / crate::BIT_BYTES <= u32::MAX >> START_BITS);

impl Run {
    pub(super) const NONE: Self = Self(0);

    #[inline]
    pub(super) const fn new(start: u32, len: u32) -> Self {
        Self(if len == 0 { 0 } else { len << START_BITS | start })
    }

    /// In bits of the block.
    #[inline]
    pub(super) const fn start(self) -> u32 {
        self.0 & ((1 << START_BITS) - 1)
    }

    #[inline]
    pub(super) const fn len(self) -> u32 {
        self.0 >> START_BITS
    }

    #[inline]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// No room.
    pub(super) const TOO_TIGHT: u32 = u32::MAX;

    /// The less, the tighter a request fits: by length, then by start.
    #[inline]
    pub(super) const fn tightness(self, want: &Want) -> u32 {
        let skipped = self.start().wrapping_neg() & (want.align - 1);
        if self.len() >= want.bits + skipped { self.0 } else { Self::TOO_TIGHT }
    }

    /// Whether it is to be preferred: longer, or as long and better aligned.
    #[inline]
    pub(super) fn beats(self, other: Self) -> bool {
        self.len() > other.len() || (self.len() == other.len() && evenness(self) > evenness(other))
    }
}

/// How well a run's start is aligned, as far as objects ask for it: up to 64 bytes.
fn evenness(run: Run) -> u32 {
    (run.start() | 16).trailing_zeros()
}

/// A block's edges, and a bound for the runs that start in it beside the best one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Length of the free run at the left edge, within the block.
    pub(super) left: u16,
    /// Length of the free run at the right edge, within the block.
    pub(super) right: u16,
    /// The bits that were used when all this was right. Fewer are, if something was freed since.
    pub(super) used: u16,
    /// No run that starts in the block, but for the best one, is longer.
    pub(super) rest: u32,
}

impl Block {
    /// Nothing in it is used, and no run but the best starts in it.
    pub(super) const FREE: Self =
        Self { left: crate::BLOCK_BITS as u16, right: crate::BLOCK_BITS as u16, used: 0, rest: 0 };
}

/// What was freed in a chunk since its records were right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freed {
    /// Nothing.
    Nothing,
    /// One object.
    One { start: u32, end: u32 },
    /// Several, in the blocks of which fewer bits are used than their records say.
    Many,
}

/// The longest run of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Longest {
    pub(super) len: u32,
    /// The block that it starts in.
    pub(super) block: u32,
    /// No other block's best run is longer.
    pub(super) rest: u32,
}
