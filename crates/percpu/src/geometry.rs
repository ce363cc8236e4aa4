//! What a chunk is made of: units, blocks, which are pages, and bits.
//!
//! ```text
//!   chunk   | unit of CPU 0 | unit of CPU 1 | ...      every unit has the same layout:
//!   unit    | block | block | ... | block |            one offset is valid in all of them
//!   block   1024 bits = 4096 bytes = one page
//!   bit     4 bytes, the smallest object
//! ```

use crate::ConfigError;
use freehold_units::Align;

/// Bytes that one bit of an allocation map stands for.
pub const BIT_BYTES: u32 = 4;
/// Bits of a block.
pub const BLOCK_BITS: u32 = 1024;
/// Bytes of a block, which is a page.
pub const PAGE_BYTES: u32 = BIT_BYTES * BLOCK_BITS;
/// The smallest unit in bytes, and the largest object.
pub const MIN_UNIT_BYTES: u32 = 32 << 10;
/// The largest unit in bytes.
pub const MAX_UNIT_BYTES: u32 = 8 << 20;

const _: () = assert!(PAGE_BYTES as u64 == Align::PAGE.bytes());
const _: () = assert!(MIN_UNIT_BYTES.is_multiple_of(PAGE_BYTES) && MAX_UNIT_BYTES.is_multiple_of(PAGE_BYTES));

/// When pages get memory, and when they give it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Population {
    /// A page gets memory when an object first needs it. Balancing takes it back from chunks with many empty pages.
    #[default]
    OnDemand,
    /// A chunk has all its memory from the start, and gives it back as a whole (Linux without an MMU or with one
    /// CPU: `percpu-km`).
    Whole,
}

/// How a set of chunks is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Bytes of a chunk for each CPU: whole pages, from [`MIN_UNIT_BYTES`] to [`MAX_UNIT_BYTES`].
    pub unit_bytes: u32,
    /// CPUs that each chunk has a unit for, at least 1.
    pub cpus: u32,
    /// When pages get memory.
    pub population: Population,
}

impl Config {
    /// Units of `unit_bytes` for `cpus` CPUs, populated on demand. Cost: constant.
    #[must_use]
    pub const fn new(unit_bytes: u32, cpus: u32) -> Self {
        Self { unit_bytes, cpus, population: Population::OnDemand }
    }

    /// The same, with another way to populate pages. Cost: constant.
    #[must_use]
    pub const fn population(self, population: Population) -> Self {
        Self { population, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let unit_bytes = self.unit_bytes;
        if !(MIN_UNIT_BYTES..=MAX_UNIT_BYTES).contains(&unit_bytes) || !unit_bytes.is_multiple_of(PAGE_BYTES)
        {
            return Err(ConfigError::UnitBytes { unit_bytes });
        }
        if self.cpus == 0 { Err(ConfigError::NoCpus) } else { Ok(()) }
    }

    /// Bits of a unit.
    pub fn bits(&self) -> u32 {
        self.unit_bytes / BIT_BYTES
    }

    /// Blocks, which are pages, of a unit.
    pub fn blocks(&self) -> u32 {
        self.unit_bytes / PAGE_BYTES
    }
}

/// The block that holds a bit.
#[inline]
pub const fn block_of(bit: u32) -> u32 {
    bit / BLOCK_BITS
}

/// Where a bit is in its block.
#[inline]
pub const fn in_block(bit: u32) -> u32 {
    bit % BLOCK_BITS
}

/// The first bit of a block.
#[inline]
pub const fn base_of(block: u32) -> u32 {
    block * BLOCK_BITS
}

/// The lowest multiple of `align`, a power of two, at or above `bit`. Alignments are a page at most, so a bit
/// is aligned within its block exactly if it is aligned within its chunk.
#[inline]
pub const fn align_up(bit: u32, align: u32) -> u32 {
    (bit + (align - 1)) & !(align - 1)
}
