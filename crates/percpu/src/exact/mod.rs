//! The default placement: exact hints, found late, and the tightest chunk first.
//!
//! ```text
//!   chunk    |........##|##....####|####......|..........|     blocks 0 to 3
//!   best      8 at 0     4 at 2     16 at 4    none: its run starts in block 2
//!   chunk's   16, in block 2                                   -> on the list for 16
//! ```
//!
//! A block knows the longest free run that *starts* in it, however far it goes on; a chunk knows the longest of
//! its blocks' runs. Both are exact but for what was just freed, so a request looks at one chunk: the first on the list
//! of the smallest longest run that will do. There it takes the start of the tightest of the blocks' runs that will do,
//! sixteen of which are in a cache line (`rooms.rs`). No bits are searched. Lists are one per length up to 256 bits, and 4
//! for every doubling beyond.
//!
//! Taking the chunk whose best is just enough keeps the long runs of others whole: with random sizes, under 2 % of
//! the memory is in holes, where first fit leaves 10 %.
//!
//! A free clears bits and counts; it looks at no neighbour and moves no hint. It notes where it was (`freed.rs`), and
//! its chunk is one of the unsettled ones (`unsettled.rs`). The next requests settle them (`settle.rs`): the runs around
//! a single object that was freed are joined; after several, the blocks that they were in are looked at anew, two for a
//! request. A chunk that becomes free as a whole is known to be so at once. So many frees one after the other cost no
//! search at all, no request after them waits for long, and if one object is freed before each request, its room is found
//! before that request is placed.
//!
//! Requests alike that follow one another are placed without a search, and the hints hear of them later (`front.rs`):
//! in one run, and then in what else their block has.
//!
//! Of a block, the second longest run is mostly known, too, and a bound for all others (`record.rs`). While what remains
//! of the longest run, or the second, is no shorter than that, it is known to be the longest; only then must the bits be
//! looked at (`runs.rs`), 64 at a time.
//!
//! A longest run may fit in length and not in alignment. Few such chunks are tried before one is taken that has
//! room at any alignment; all of them before a free chunk is. A chunk remembers what it refused until a block's best run
//! has room for it. Of runs of one length the best aligned is preferred; a shorter run of a block that would do where
//! its longest does not is not seen.

mod classes;
mod find;
mod freed;
mod front;
mod record;
mod rescan;
mod rooms;
mod runs;
mod settle;
#[cfg(test)]
mod tests;
mod unsettled;
mod update;
mod validate;

use crate::bitmap::{Bitmap, Bits as _, repeated};
use crate::chunk::Chunk;
use crate::chunks::Chunks;
use crate::error::check;
use crate::geometry::{BLOCK_BITS, Config, base_of};
use crate::placement::{Gave, Placement, Room, Spot, Strategy};
use crate::request::Want;
use crate::slots::Slots;
use crate::{Broken, OutOfMemory};
use alloc::vec::Vec;
use core::ops::Range;
use freed::Freed;
use freehold_units::Probe;
pub(crate) use front::Front;
use front::Placed;
use record::{Block, Run, Runs};
use rooms::Rooms;
use settle::Pass;
pub(crate) use unsettled::Unsettled;

/// A request that none is as large as.
const NOTHING: Want = Want { bits: u32::MAX, align: 1, atomic: false };

/// Runs of fewer bits are remembered by their length.
const RECENT: usize = 32;

/// The default placement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

/// What a chunk of the default placement knows of its free runs. There may be more than that until it is settled.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Hints {
    /// What frees change, and no more.
    freed: Freed,
    /// What is being looked at for former ones.
    pass: Pass,
    /// What was placed since, if the chunk is at the front.
    placed: Placed,
    /// What was looked for in vain, and still has no room in any block's best run.
    refused: Want,
    blocks: Vec<Block>,
    /// The blocks' best runs again, as searches read them.
    rooms: Rooms,
    /// Blocks that are free as a whole.
    free_blocks: Bitmap,
    /// The longest run of all.
    longest: u32,
    /// Of each short length, a block whose best run had that length when it was last heard of.
    recent: [u16; RECENT],
}

impl Placement for Exact {
    const NAME: &'static str = "exact";
}

impl Strategy for Exact {
    type Hints = Hints;

    const ISOLATES: bool = true;

    const ASIDE_BY_EACH_FREE: bool = false;

    const READIES_ASIDE: bool = false;

    /// One for each class.
    fn lists(config: &Config) -> u32 {
        classes::class(config.bits()) + 1
    }

    fn hints(config: &Config) -> Result<Hints, OutOfMemory> {
        Hints::free(config)
    }

    #[inline]
    fn slot(chunk: &Chunk<Hints>, slots: &Slots) -> u32 {
        if chunk.objects == 0 { slots.free() } else { chunk.hints.slot() }
    }

    fn slot_of_run(bits: u32) -> u32 {
        classes::class(bits)
    }

    #[inline]
    fn find(chunks: &mut Chunks<Hints>, want: &Want, probe: &mut impl Probe) -> Option<Spot> {
        find::find(chunks, want, probe)
    }

    #[inline]
    fn took(chunk: &mut Chunk<Hints>, object: &Range<u32>, probe: &mut impl Probe) -> bool {
        if chunk.hints.placed.add(object.start) {
            return chunk.objects == 1;
        }
        chunk.hints.took(&chunk.used, object, probe);
        true
    }

    #[inline]
    fn pause(chunks: &mut Chunks<Hints>, probe: &mut impl Probe) {
        if !chunks.front.is_forgotten() {
            front::close(chunks, probe);
        }
    }

    #[inline(always)]
    fn gave(chunk: &mut Chunk<Hints>, object: &Range<u32>, _: &mut impl Probe) -> Gave {
        if chunk.objects == 0 {
            chunk.hints.clear();
            return Gave::Moves;
        }
        if chunk.hints.freed.add(object, chunk.objects) { Gave::Unsettled } else { Gave::Done }
    }

    fn catch_up(chunks: &mut Chunks<Hints>) {
        Self::pause(chunks, &mut ());
        settle::settle_some(chunks, u32::MAX, &mut ());
    }

    fn room(chunk: &Chunk<Hints>) -> Room {
        let mut hints = chunk.hints.clone();
        hints.note_placed(&chunk.used, &mut ());
        hints.settle(&chunk.used, chunk.objects, u32::MAX, &mut ());
        let longest = (0..).zip(&hints.blocks).max_by_key(|(_, block)| block.runs.best.len());
        let start = longest.map_or(0, |(block, record)| base_of(block) + record.runs.best.start());
        Room {
            longest: start..start + hints.longest,
            first_free: chunk.used.next_clear(0..base_of(hints.count())),
        }
    }

    fn hint_bytes(hints: &Hints) -> usize {
        hints.blocks.capacity() * size_of::<Block>() + hints.rooms.bytes() + hints.free_blocks.bytes()
    }

    fn validate(chunk: &Chunk<Hints>, waits: bool) -> Result<(), Broken> {
        check(waits || chunk.hints.is_settled(), "P9", "a chunk to be settled is on the stack", 0)?;
        validate::validate(chunk)
    }
}

impl Hints {
    /// A chunk without objects.
    fn free(config: &Config) -> Result<Self, OutOfMemory> {
        let count = config.blocks();
        let mut hints = Self {
            freed: Freed::NOTHING,
            pass: Pass::NONE,
            placed: Placed::NOWHERE,
            refused: NOTHING,
            blocks: repeated(Block::FREE, count)?,
            rooms: Rooms::new(count)?,
            free_blocks: Bitmap::new(count)?,
            longest: 0,
            recent: [0; RECENT],
        };
        hints.clear();
        Ok(hints)
    }

    /// All is free: one run, which starts in the first block.
    fn clear(&mut self) {
        let (count, bits) = (self.count(), base_of(self.count()));
        (self.freed, self.pass) = (Freed::NOTHING, Pass::NONE);
        self.refused = NOTHING;
        self.blocks.fill(Block::FREE);
        self.rooms.clear();
        self.free_blocks.set_range(0..count);
        self.put_runs(0, Runs { best: Run::new(0, bits), ..Runs::NONE });
    }

    /// The list that the chunk belongs on, if there are objects in it.
    #[inline]
    fn slot(&self) -> u32 {
        classes::class(self.longest)
    }

    /// Whether all is known exactly.
    #[inline]
    fn is_settled(&self) -> bool {
        self.freed.is_nothing() && self.pass.is_over()
    }

    fn count(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Length of the free run that ends where the block starts.
    #[inline]
    fn free_before(&self, block: u32) -> u32 {
        if block == 0 || self.blocks[block as usize - 1].right == 0 {
            return 0;
        }
        let whole = self.free_blocks.after_last_clear(0..block);
        let edge = if whole == 0 { 0 } else { u32::from(self.blocks[whole as usize - 1].right) };
        (block - whole) * BLOCK_BITS + edge
    }

    /// Length of the free run that starts where the block ends.
    #[inline]
    fn free_after(&self, block: u32) -> u32 {
        let (next, count) = (block + 1, self.count());
        if next == count || self.blocks[next as usize].left == 0 {
            return 0;
        }
        let partial = self.free_blocks.next_clear(next..count);
        let edge = self.blocks.get(partial as usize).map_or(0, |block| u32::from(block.left));
        (partial - next) * BLOCK_BITS + edge
    }
}
