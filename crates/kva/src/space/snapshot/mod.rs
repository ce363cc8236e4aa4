//! Snapshots: a space as bytes, to be rebuilt in another process, on another machine, by another version.
//!
//! [`AddressSpace::snapshot`](crate::AddressSpace::snapshot) writes one,
//! [`AddressSpace::restore`](crate::AddressSpace::restore) reads it; the placement
//! is no part of it. Free blocks and regions are exactly as they were; values are what the caller makes
//! of them. Equal spaces give equal bytes.
//!
//! # Format, versions 1 to 3
//!
//! Little-endian. What is in the space is told from address 0 upwards, run after run:
//!
//! ```text
//!   addresses    0           |####|.......|#######|g|          |.......|
//!                    hole     busy  free    busy      hole       free
//!   runs         hole 12      4 0 v  7      7 1 v     hole 10    7          then nothing: the rest is no part of it
//!
//!   offset  bytes
//!        0      8   "fh-space"
//!        8      4   version: 3 if a region is moving, else 2 if one is aligned to more than the granule, else 1
//!       12      4   granule: its logarithm to base 2, 0 to 63
//!       16      8   bytes of the whole, from the first of "fh-space" to the last of the checksum
//!       24      n   runs
//!   24 + n      4   CRC-32 of all before it, as in zip and PNG
//!
//!   run       byte  numbers that follow
//!   hole         0  granules - 1
//!   free         1  granules - 1
//!   region       2  granules - 1, granules of guard, from version 2 on the alignment, bytes of value; then these bytes
//!   carved       3  the same, for a region that a sub-space hands out
//!   hold         4  granules - 1, and in granules where the region starts that moves there, and where it will
//! ```
//!
//! Numbers are below 2^64 and written seven bits to a byte, the lowest first, with the top bit set in all but the
//! last byte, and no more bytes than it takes (LEB128). A region's run covers its guard. An alignment is its logarithm
//! less the granule's.
//!
//! No two holes and no two free runs follow each other, and the last run is no hole. So every space has one
//! encoding. Regions that overlap, lie outside the space or are not made of granules cannot be written down at all,
//! nor can a number of regions that are not there: whatever the bytes say, reading them takes memory and time in
//! proportion to their number.
//!
//! The checksum finds damage, not malice. Bytes made to deceive restore as an error or as a space that is
//! consistent in itself; whether it is the right one only the caller can know.
//!
//! # Versions
//!
//! The version is raised by whatever an older reader would not understand, so an unknown one is refused
//! ([`RestoreError::Version`]) and nothing is ever skipped. Readers keep reading every version since 1. Writers
//! use the lowest version that can express the space, so that a guest can be moved back to an older host.
//! What a value's bytes mean is the caller's to version. Version 1 of a program that did not know version 2 does not hold
//! alignments: its regions come back with the granule's.

mod checksum;
mod error;
mod read;
mod restore;
#[cfg(test)]
mod tests;
mod write;

pub use error::RestoreError;
pub use write::Writer;

const MAGIC: [u8; 8] = *b"fh-space";
/// Without alignments, with them, and with pending moves.
const PLAIN: u32 = 1;
const ALIGNED: u32 = 2;
const MOVING: u32 = 3;
const HEADER_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 4;

/// What a run begins with.
mod kind {
    pub(super) const HOLE: u8 = 0;
    pub(super) const FREE: u8 = 1;
    pub(super) const REGION: u8 = 2;
    pub(super) const CARVED: u8 = 3;
    pub(super) const HOLD: u8 = 4;
}
