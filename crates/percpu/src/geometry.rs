//! The parts of a chunk: units, blocks (which are pages), and bits.
//!
//! ```text
//!   chunk   | unit of CPU 0 | unit of CPU 1 | ...      every unit has the same layout:
//!   unit    | block | block | ... | block |            one offset is valid in all of them
//!   block   1024 bits = 4096 bytes = one page
//!   bit     4 bytes, the smallest object
//! ```

use freehold_units::Align;

/// Bytes for each bit of an allocation map.
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

/// The block that holds a bit. Cost: constant.
#[inline]
pub const fn block_of(bit: u32) -> u32 {
    bit / BLOCK_BITS
}

/// The position of a bit in its block. Cost: constant.
#[inline]
pub const fn in_block(bit: u32) -> u32 {
    bit % BLOCK_BITS
}

/// The first bit of a block. Cost: constant.
#[inline]
pub const fn base_of(block: u32) -> u32 {
    block * BLOCK_BITS
}

/// The lowest multiple of `align`, a power of two, at or above `bit`. An alignment is at most a page, so a bit is
/// aligned within its block exactly if it is aligned within its chunk. Cost: constant.
#[inline]
pub const fn align_up(bit: u32, align: u32) -> u32 {
    (bit + (align - 1)) & !(align - 1)
}
