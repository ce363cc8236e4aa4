//! Images: a space as bytes, to be rebuilt in another process, on another machine, by another version.
//!
//! [`AddressSpace::to_bytes`](crate::AddressSpace::to_bytes) writes one and
//! [`AddressSpace::from_bytes`](crate::AddressSpace::from_bytes) reads it. It does not include the placement. Restored free
//! blocks and regions are exactly the original ones; the caller encodes and decodes values. Equal spaces give equal
//! bytes. (A snapshot is something else: a view of one moment for readers, as of a shared space. In C, where names last,
//! `fh_space_snapshot` writes an image.)
//!
//! # Format, versions 1 to 3
//!
//! Little-endian. Runs describe the space from address 0 upwards:
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
//!   placeholder  4  granules - 1, and in granules where the region starts that moves there, and where it will
//! ```
//!
//! Numbers are below 2^64 and in minimal LEB128: seven bits to a byte, the lowest first, with the top bit set in all
//! bytes but the last. A region's run covers its guard. An alignment is stored as its log2 minus that of the granule.
//!
//! No two holes and no two free runs are adjacent, and the last run is not a hole. So every space has exactly one
//! encoding. The format cannot express regions that overlap, lie outside the space or do not consist of granules. It
//! has no counts of regions either, so reading takes memory and time in proportion to the number of bytes, whatever
//! they contain.
//!
//! The checksum detects damage, not malice. Forged bytes give an error or a consistent space; only the caller can know
//! whether it is the right one.
//!
//! # Versions
//!
//! Every addition that an older reader would not understand raises the version. So an unknown version is refused
//! ([`RestoreError::Version`]) and nothing is ever skipped. Readers read every version since 1. Writers use the lowest
//! version that can express the space, so that a guest can be moved back to an older host. The caller versions the
//! bytes of values. Programs that predate version 2 wrote version 1 without alignments: its regions are restored with
//! the granule's.

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
/// Versions: without alignments, with alignments, and with pending moves.
const PLAIN: u32 = 1;
const ALIGNED: u32 = 2;
const MOVING: u32 = 3;
const HEADER_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 4;

/// The first byte of a run.
mod kind {
    pub(super) const HOLE: u8 = 0;
    pub(super) const FREE: u8 = 1;
    pub(super) const REGION: u8 = 2;
    pub(super) const CARVED: u8 = 3;
    pub(super) const PLACEHOLDER: u8 = 4;
}
