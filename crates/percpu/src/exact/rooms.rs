//! The blocks' best runs as searches read them: sixteen blocks in a cache line.
//!
//! ```text
//!   line   | lengths of 16 runs | their starts |      16 bits each
//! ```
//!
//! Of each line the longest run is known, so that a search passes over most. It goes through all lanes of a line
//! without a branch, so that a compiler takes eight at a time. Lengths of [`LONG`] and more are all the same: none that
//! is asked for comes near.

use super::record::{Block, Run};
use crate::OutOfMemory;
use crate::bitmap::repeated;
use crate::geometry::{BIT_BYTES, BLOCK_BITS, MIN_UNIT_BYTES};
use crate::request::Want;
use alloc::vec::Vec;
use core::array;

const LANES: usize = 16;

type Lanes = [i16; LANES];

/// Runs of so many bits or more are not told apart.
const LONG: i16 = i16::MAX - 1;

const _: () = assert!(MIN_UNIT_BYTES / BIT_BYTES + BLOCK_BITS < LONG as u32, "room for the largest object");

/// A bit for each lane.
static BIT_OF: Lanes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, i16::MIN];

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    lens: Lanes,
    starts: Lanes,
}

const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    const NONE: Self = Self { lens: [0; LANES], starts: [0; LANES] };

    /// The lanes whose runs have so many bits, but fewer than `most`.
    #[inline(always)]
    fn between(&self, bits: i16, most: i16) -> impl Iterator<Item = usize> {
        let fits = |len: i16| -i16::from(len >= bits) & -i16::from(len < most);
        let lanes: [i16; LANES] = array::from_fn(|lane| fits(self.lens[lane]) & BIT_OF[lane]);
        let half: [i16; LANES / 2] = array::from_fn(|lane| lanes[lane] | lanes[lane + LANES / 2]);
        let mut marked = half.iter().fold(0, |all, lane| all | lane) as u16;
        core::iter::from_fn(move || {
            let lane = marked.trailing_zeros() as usize;
            marked &= marked.wrapping_sub(1);
            (lane < LANES).then_some(lane)
        })
    }

    /// The length of the longest run.
    #[inline(always)]
    fn longest(&self) -> i16 {
        let half: [i16; LANES / 2] = array::from_fn(|lane| self.lens[lane].max(self.lens[lane + LANES / 2]));
        half.iter().fold(0, |most, &len| most.max(len))
    }
}

/// The best run of every block.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    lines: Vec<Line>,
    /// The longest run of each line.
    longest: Vec<i16>,
}

impl Rooms {
    /// So many blocks, in which no run starts.
    pub(super) fn new(blocks: u32) -> Result<Self, OutOfMemory> {
        let lines = blocks.div_ceil(LANES as u32);
        Ok(Self { lines: repeated(Line::NONE, lines)?, longest: repeated(0, lines)? })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>() + self.longest.capacity() * size_of::<i16>()
    }

    /// No run starts in any block.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line::NONE);
        self.longest.fill(0);
    }

    /// A block's best run.
    #[inline]
    pub(super) fn set(&mut self, block: u32, run: Run) {
        let (at, lane) = (block as usize / LANES, block as usize % LANES);
        let line = &mut self.lines[at];
        line.lens[lane] = capped(run.len());
        line.starts[lane] = run.start() as i16;
        self.longest[at] = line.longest();
    }

    /// The longest run. Of those that are too long to be told apart here, nothing is known but that.
    #[inline]
    pub(super) fn longest(&self) -> Option<u32> {
        let len = self.longest.iter().fold(0, |most, &len| most.max(len));
        (len < LONG).then_some(len as u32)
    }

    /// The longest run, if one is too long to be told apart here.
    #[inline(never)]
    pub(super) fn longest_of(&self, blocks: &[Block]) -> u32 {
        let lines =
            (0..).zip(self.lines.iter().zip(&self.longest)).filter(|(_, (_, longest))| **longest == LONG);
        let mut most = 0;
        for (at, (line, _)) in lines {
            for lane in line.between(LONG, i16::MAX) {
                let block = blocks.get(at * LANES + lane);
                most = block.map_or(0, |block| block.runs.best.len()).max(most);
            }
        }
        most
    }

    /// The block whose run is the shortest that has room, and how many blocks were compared.
    #[inline]
    pub(super) fn tightest(&self, want: &Want) -> (Option<u32>, u32) {
        let (bits, below) = (want.bits as i16, want.align as i16 - 1);
        let (mut least, mut block, mut compared) = (i16::MAX, None, 0);
        for (at, (line, &longest)) in self.lines.iter().zip(&self.longest).enumerate() {
            if longest < bits {
                continue;
            }
            compared += LANES as u32;
            for lane in line.between(bits, least) {
                let (len, skipped) = (line.lens[lane], line.starts[lane].wrapping_neg() & below);
                if len < least && len >= bits + skipped {
                    (least, block) = (len, Some((at * LANES + lane) as u32));
                }
            }
            if least == bits {
                break;
            }
        }
        (block, compared)
    }

    /// Checks a block's best run, and that it is not missing in its line.
    pub(super) fn agrees(&self, block: u32, run: Run) -> bool {
        let (at, lane) = (block as usize / LANES, block as usize % LANES);
        let line = &self.lines[at];
        (line.lens[lane], line.starts[lane]) == (capped(run.len()), run.start() as i16)
            && self.longest[at] == line.longest()
    }
}

/// A length, or that of long ones.
fn capped(len: u32) -> i16 {
    len.min(LONG as u32) as i16
}
