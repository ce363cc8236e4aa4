//! The placements of Linux: hints for each block and chunk, and chunks listed by their largest free area.
//!
//! ```text
//!   block  |####..##.......#####...#......|
//!   first_free ^    ^            ^  ^
//!          scan_hint contig_hint    right_free      left_free is 0: the first bit is used
//! ```
//!
//! A block's record has its longest free run (`contig_hint`) and the longest known run before that (`scan_hint`). It
//! also has the runs that touch the block's edges and a lower bound of its first free bit. A chunk has such a record of
//! itself, computed from those of its blocks. Hints let a search skip blocks and chunks where nothing fits. They are
//! never too high; the chunk's may be too low (P3).
//!
//! Cost of a request: linear in the chunks and in the bits of those that are searched, as in the kernel.
//!
//! Source: D. Zhou, "percpu: replace area map allocator with bitmap allocator", 2017, its follow-ups of 2019
//! (scan hints) and 2021 (depopulation), and the kernel's behaviour as recorded in the vectors.

mod block_md;
mod chunk_md;
mod class;
mod find;
mod search;
mod update;
mod validate;

use alloc::vec::Vec;
use block_md::BlockMd;
use core::fmt::Debug;
use core::marker::PhantomData;
use freehold_percpu::placement::{BitRequest, Change, Chunks, Location, Placement, Room};
use freehold_percpu::{BIT_BYTES, BLOCK_BITS, Config};
use freehold_units::{Broken, OutOfMemory, Probe};

/// The placement of Linux 6.12 as shipped, including its stale chunk hint ([`Shipped`]).
pub type Linux = Kernel<Shipped>;
/// The placement of Linux 6.12 with the stale chunk hint corrected ([`Repaired`]).
pub type LinuxFixed = Kernel<Repaired>;
/// The placement as posted in 2017 ([`Posted2017`]). Not verified: there are no recorded answers of such a kernel.
pub type Linux2017 = Kernel<Posted2017>;

/// A placement of the kernel's family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernel<R>(PhantomData<R>);

/// The differences between the kernel's placements. The defaults are those of [`Repaired`].
pub trait Rules: Clone + Debug {
    /// Whether a free within a block other than the first fails to raise the chunk's `contig_hint`. The kernel compares
    /// an end within the block with a start within the chunk. Holes then stay unused until a whole block becomes free.
    const STALE_CHUNK_HINT: bool = false;
    /// Whether there are scan hints, and skipped runs are remembered in them.
    const SCAN_HINT: bool = true;
    /// Whether chunks are listed by all their free bytes instead of their largest free area.
    const SLOTS_BY_FREE_BYTES: bool = false;
    /// Whether a chunk with little free space in which a search failed is put on the list of full ones.
    const DEMOTES: bool = true;
    /// Whether chunks with many empty pages are set aside and emptied.
    const ISOLATES: bool = true;
}

/// Linux 6.12.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped;

impl Rules for Shipped {
    const STALE_CHUNK_HINT: bool = true;
}

/// Linux 6.12 with the end of a freed run made relative to the chunk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repaired;

impl Rules for Repaired {}

/// The posting of 2017, merged for 4.14.
#[derive(Clone, Copy, Debug, Default)]
pub struct Posted2017;

impl Rules for Posted2017 {
    const SCAN_HINT: bool = false;
    const SLOTS_BY_FREE_BYTES: bool = true;
    const DEMOTES: bool = false;
    const ISOLATES: bool = false;
}

/// The hints of a chunk.
#[derive(Clone, Debug)]
pub struct Hints {
    /// The chunk's own record, in bits of the chunk. Its edge runs are never read.
    chunk: BlockMd,
    /// A record for each block, in bits of the block.
    blocks: Vec<BlockMd>,
}

impl<R: Rules> Placement for Kernel<R> {
    type Hints = Hints;

    type Index = ();

    const ISOLATES: bool = R::ISOLATES;

    /// As the kernel does: each balancing populates more pages of such a chunk, up to all.
    const READIES_ASIDE: bool = true;

    fn list_count(config: &Config) -> u32 {
        class::list_count(config.bits())
    }

    fn hints(config: &Config) -> Result<Hints, OutOfMemory> {
        let count = config.blocks() as usize;
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count)?;
        blocks.resize(count, BlockMd::free(BLOCK_BITS));
        Ok(Hints { chunk: BlockMd::free(config.bits()), blocks })
    }

    fn index(_: u32) {}

    #[inline]
    fn slot(chunks: &Chunks<Self>, chunk: u32) -> u32 {
        class::list_of::<R>(chunks.at(chunk), &chunks.lists)
    }

    fn first_list_with_pages() -> u32 {
        class::list_of_bytes(BLOCK_BITS * BIT_BYTES)
    }

    fn find(chunks: &mut Chunks<Self>, request: &BitRequest, probe: &mut impl Probe) -> Option<Location> {
        search::find::<R>(chunks, request, probe)
    }

    #[inline]
    fn update_hint_alloc(chunks: &mut Chunks<Self>, taken: &Change, probe: &mut impl Probe) {
        update::update_hint_alloc::<R>(chunks.at_mut(taken.chunk), &taken.object, probe);
        chunks.relocate(taken.chunk);
    }

    #[inline]
    fn update_hint_free(chunks: &mut Chunks<Self>, freed: &Change, probe: &mut impl Probe) {
        update::update_hint_free::<R>(chunks.at_mut(freed.chunk), &freed.object, probe);
        chunks.relocate(freed.chunk);
    }

    fn room(chunks: &Chunks<Self>, chunk: u32) -> Room {
        let BlockMd { contig_hint, contig_hint_start, first_free, .. } = chunks.at(chunk).hints.chunk;
        Room { longest: contig_hint, start: (contig_hint > 0).then_some(contig_hint_start), first_free }
    }

    fn hint_bytes(hints: &Hints) -> usize {
        hints.blocks.capacity() * size_of::<BlockMd>()
    }

    fn validate(chunks: &Chunks<Self>, chunk: u32) -> Result<(), Broken> {
        validate::validate::<R>(chunks.at(chunk))
    }
}
