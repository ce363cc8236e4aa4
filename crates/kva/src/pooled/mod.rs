//! An address space for many threads: a slot of a slab costs one atomic exchange, and any address is found without a
//! lock.
//!
//! ```text
//!   shard of CPU 0      current slab of each class, lists of others          alloc: one exchange clears a bit
//!   shard of CPU 1      ...
//!                            |
//!   records             | generation, free bits | resident bits | base |  ...    up to 32 slots of one size in each slab
//!                            |
//!   page map            address -> the record that has it                    free: one exchange sets the bit
//!                            |
//!   core, under a lock  AddressSpace: slabs and extents are its regions      asked once for a slab, or for a large block
//! ```
//!
//! A request of up to 256 granules gets a slot. A larger request, or one with an alignment or a window, gets an extent,
//! a region of the core. A free slot stays with its slab. A slab returns to the core once all its slots are free and
//! the core is out of space or [`PooledSpace::trim`] is called.
//!
//! A space [for memory](PooledSpace::for_memory) has pages behind its addresses. There a freed slot stays resident, and
//! is handed out again as it is, until a purge. [`PooledSpace::take_resident`] hands free resident slots to a caller
//! that returns their pages to the system, which needs no lock. A holder that decommitted its block's pages frees it
//! as decommitted ([`PooledSpace::free_decommitted`]). A holder that finds all of its block's pages resident can record
//! that ([`PooledSpace::set_populated`]), so that later holders need not ask the system.
//!
//! # Invariants
//! - S1: a cell of the page map names at most one live slab or extent.
//! - S2: a set free bit means that nobody holds the slot.
//! - S3: a free slot that is not resident has no resident pages.
//! - S4: one exchange of its word retires a slab. No operation acts on that generation afterwards.
//! - S5: an owned slab is a shard's current slab or in one list. A thread owns others only in a
//!   [section](freehold_sys::fork), so that a child of `fork` lacks none. No lock is held over a system call for
//!   memory, or a `Drop`.
//!
//! # Cost
//! An allocation and a free are one exchange each. The core's lock is taken for each slab, for each extent, and to find
//! the reason of a failed free. A record takes 64 bytes, the page map 8 for each 16 granules in use.
//!
//! Source: the talk's wish to split the allocator's locks; the pools of Linux 6.9 are per CPU as well.

mod alloc;
mod aside;
mod cells;
mod class;
mod core;
mod free;
mod list;
mod map;
mod populated;
mod purge;
mod ready;
mod records;
mod shard;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod slab;
mod stats;
#[cfg(test)]
#[cfg(not(loom))]
mod tests;
mod validate;
mod word;

use crate::LayoutError;
use crate::atomic::{AtomicU32, AtomicU64, Mutex};
use freehold_units::{Align, Span};
use std::fmt;

pub use purge::Batch;
pub use stats::Stats;
pub use word::SlabRef;

/// A block and the state of the memory behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// The addresses of the block.
    pub span: Span,
    /// Whether the block may have resident pages, which still have its last holder's contents.
    pub is_resident: bool,
    /// The slab that the block is a slot of. `None` for an extent, whose addresses are not handed out again before a
    /// purge.
    pub slab: Option<SlabRef>,
}

/// Granules in a cell of the page map. Slabs and extents start and end on cell boundaries.
const CELL_GRANULES: u64 = 16;

/// Hands out ranges of a space to many threads. See the [module](self).
///
/// ```
/// use freehold_kva::PooledSpace;
/// use freehold_units::{Align, Span};
///
/// let terabyte = Span::from_size(0x10_0000_0000, 1 << 40).unwrap();
/// let space = PooledSpace::new(terabyte, Align::PAGE)?;
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             let block = space.alloc(0x1_0000).unwrap();
///             assert_eq!(space.locate(block.last()), Some(block));
///             assert_eq!(space.free(block.first()), Ok(block));
///             assert!(space.free(block.first()).is_err());
///         });
///     }
/// });
/// space.trim();
/// assert_eq!(space.stats().unused_bytes, 1 << 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PooledSpace {
    span: Span,
    granule: Align,
    /// log2 of a granule's bytes.
    shift: u32,
    cell: Align,
    /// Whether free slots stay resident until they are purged.
    tracks_residency: bool,
    /// Number of free slots at which a slab without an owner is put into a list. It is lower while the core has no
    /// space.
    list_at: AtomicU32,
    map: map::PageMap,
    records: records::Records,
    shards: shard::Shards,
    core: Mutex<core::Core>,
    lock_waits: AtomicU64,
    /// The record at which the next purge starts. Locked while a purge claims blocks.
    purge: Mutex<u32>,
}

impl PooledSpace {
    /// A space of addresses without memory. The granule may be any from 1, where the addresses are ids, for example, to
    /// 2^59.
    ///
    /// The space hands out cells of 16 granules. Where `span` does not start or end on a multiple of a cell, up to 15
    /// granules at that end stay unused: [`PooledSpace::span`] returns the addresses that are handed out.
    ///
    /// Cost: constant, except for one shard for each CPU and the top level of the page map, which grows with the span.
    ///
    /// # Errors
    /// [`LayoutError::NotGranular`] unless `span` consists of whole granules; [`LayoutError::TooSmall`] unless it has a
    /// cell, which must have fewer than 2^64 bytes; [`LayoutError::TooLarge`] for more than 2^36 granules, 2^48 bytes of
    /// pages; [`LayoutError::OutOfMemory`].
    ///
    /// ```
    /// use freehold_kva::PooledSpace;
    /// use freehold_units::{Align, Span};
    /// let ids = PooledSpace::new(Span::try_from(1..1 << 32)?, Align::ONE)?;
    /// assert_eq!(ids.span(), Span::try_from(16..1 << 32)?);
    /// let id = ids.alloc(1)?.first();
    /// assert!((16..1 << 32).contains(&id));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(span: Span, granule: Align) -> Result<Self, LayoutError> {
        Self::with(span, granule, false)
    }

    /// A space of addresses with memory behind them. A freed block stays resident until [`PooledSpace::give_back`]
    /// reports that its pages are gone. Until then an extent's addresses are not reused, and a slab with resident slots
    /// stays a slab. So on [`NoSpace`](crate::AllocError::NoSpace) a caller purges everything and tries again.
    ///
    /// Cost: as [`PooledSpace::new`].
    ///
    /// # Errors
    /// As [`PooledSpace::new`].
    pub fn for_memory(span: Span, granule: Align) -> Result<Self, LayoutError> {
        Self::with(span, granule, true)
    }

    fn with(span: Span, granule: Align, tracks_residency: bool) -> Result<Self, LayoutError> {
        let most_bytes = u128::from(map::MAX_TOPS * map::CELLS * CELL_GRANULES) * u128::from(granule.bytes());
        let cell = granule.bytes().checked_mul(CELL_GRANULES).and_then(Align::new);
        let cell =
            cell.ok_or(LayoutError::TooSmall { span, least_bytes: u128::from(granule.bytes()) << 4 })?;
        let cell_shift = cell.bytes().trailing_zeros();
        let span = whole_cells(span, granule, cell)?;
        let core = core::Core::new(span, cell)?;
        if span.size_bytes() > most_bytes {
            return Err(LayoutError::TooLarge { span, most_bytes });
        }
        Ok(Self {
            span,
            granule,
            shift: granule.bytes().trailing_zeros(),
            cell,
            tracks_residency,
            list_at: AtomicU32::new(class::LIST_AT),
            map: map::PageMap::new(span, cell_shift)?,
            records: records::Records::new(),
            shards: shard::Shards::new()?,
            core: Mutex::new(core),
            lock_waits: AtomicU64::new(0),
            purge: Mutex::new(0),
        })
    }

    /// The addresses that the space hands out: the whole cells of the span that it was made for. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The unit: every size and address is a multiple of it. Cost: constant.
    #[must_use]
    pub fn granule(&self) -> Align {
        self.granule
    }
}

/// The cells that lie entirely in a span.
fn whole_cells(span: Span, granule: Align, cell: Align) -> Result<Span, LayoutError> {
    // An end of 2^64 wraps to 0, which every granule divides.
    let end = span.last().wrapping_add(1);
    if !granule.divides(span.first()) || !granule.divides(end) {
        return Err(LayoutError::NotGranular { span, granule });
    }
    let last = cell.down(end).checked_sub(1).or((end == 0).then_some(u64::MAX));
    let cells = cell.up(span.first()).zip(last).and_then(|(first, last)| Span::new(first, last));
    cells.ok_or(LayoutError::TooSmall { span, least_bytes: cell.bytes().into() })
}

impl fmt::Debug for PooledSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PooledSpace");
        shown.field("span", &self.span).field("granule", &self.granule).finish_non_exhaustive()
    }
}
