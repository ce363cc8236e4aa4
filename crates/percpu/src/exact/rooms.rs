//! The blocks' best runs as searches read them: sixteen blocks in a cache line.
//!
//! ```text
//!   line   | lengths of 16 runs | their starts |      16 bits each
//! ```
//!
//! Searches go through all lanes of a line without a branch, so that a compiler takes eight at a time. Lengths of
//! [`LONG`] and more are all the same: none that is asked for comes near.

use super::record::{Longest, Run};
use crate::OutOfMemory;
use crate::bitmap::repeated;
use crate::geometry::{BIT_BYTES, BLOCK_BITS, MIN_UNIT_BYTES};
use crate::request::Want;
use alloc::vec::Vec;
use core::array;
use core::ops::Range;

const LANES: usize = 16;

type Lanes = [i16; LANES];

/// Runs of so many bits or more are not told apart.
const LONG: i16 = i16::MAX - 1;
/// More than any length.
const TOO_TIGHT: i16 = i16::MAX;

const _: () = assert!(MIN_UNIT_BYTES / BIT_BYTES + BLOCK_BITS < LONG as u32, "room for the largest object");

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    lens: Lanes,
    starts: Lanes,
}

const _: () = assert!(size_of::<Line>() == 64);

/// The best run of every block.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    lines: Vec<Line>,
}

impl Rooms {
    /// So many blocks, in which no run starts.
    pub(super) fn new(blocks: u32) -> Result<Self, OutOfMemory> {
        let none = Line { lens: [0; LANES], starts: [0; LANES] };
        Ok(Self { lines: repeated(none, blocks.div_ceil(LANES as u32))? })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
    }

    /// No run starts in any block.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line { lens: [0; LANES], starts: [0; LANES] });
    }

    /// A block's best run.
    #[inline]
    pub(super) fn set(&mut self, block: u32, run: Run) {
        let (line, lane) = (&mut self.lines[block as usize / LANES], block as usize % LANES);
        line.lens[lane] = capped(run.len());
        line.starts[lane] = run.start() as i16;
    }

    /// A block's best run, if it is not long.
    #[inline]
    pub(super) fn get(&self, block: u32) -> (i16, i16) {
        let (line, lane) = (&self.lines[block as usize / LANES], block as usize % LANES);
        (line.lens[lane], line.starts[lane])
    }

    /// The lines that hold those blocks.
    #[inline]
    fn lines_of(blocks: &Range<u32>) -> Range<usize> {
        blocks.start as usize / LANES..(blocks.end as usize).div_ceil(LANES)
    }

    /// The block whose run is the shortest that has room. No run starts outside `blocks`.
    #[inline]
    pub(super) fn tightest(&self, blocks: &Range<u32>, want: &Want) -> Option<u32> {
        let (lines, fit) = (Self::lines_of(blocks), Fit::new(want));
        let tighter = |least: Lanes, line: &Line| {
            array::from_fn(|lane| least[lane].min(fit.room(line.lens[lane], line.starts[lane])))
        };
        let lanes = self.lines[lines.clone()].iter().fold([TOO_TIGHT; LANES], tighter);
        let least = lanes.iter().fold(TOO_TIGHT, |least, &room| least.min(room));
        if least == TOO_TIGHT {
            return None;
        }
        let lane = lane_of(&lanes, least);
        let at = lines.clone().find(|&line| {
            let line = &self.lines[line];
            fit.room(line.lens[lane], line.starts[lane]) == least
        });
        at.map(|line| block_at(line, lane))
    }

    /// The longest run and the length of the longest other, unless it is too long to be told here. No run starts
    /// outside `blocks`.
    #[inline]
    pub(super) fn longest(&self, blocks: &Range<u32>) -> Option<Longest> {
        let lines = Self::lines_of(blocks);
        let longer = |most: Lanes, line: &Line| array::from_fn(|lane| most[lane].max(line.lens[lane]));
        let lanes = self.lines[lines.clone()].iter().fold([0; LANES], longer);
        let len = longest_of(&lanes);
        if len == LONG {
            return None;
        }
        let lane = lane_of(&lanes, len);
        let beside = array::from_fn(|other| if other == lane { 0 } else { lanes[other] });
        let (mut found, mut rest) = (None, longest_of(&beside));
        for line in lines {
            let other = self.lines[line].lens[lane];
            if found.is_none() && other == len {
                found = Some(line);
            } else {
                rest = rest.max(other);
            }
        }
        Some(Longest { len: len as u32, block: block_at(found?, lane), rest: rest as u32 })
    }
}

fn block_at(line: usize, lane: usize) -> u32 {
    (line * LANES + lane) as u32
}

/// The first lane that has a value, which one has.
#[inline]
fn lane_of(lanes: &Lanes, value: i16) -> usize {
    let at = |lane: usize| u32::from(lanes[lane] == value) << lane;
    (0..LANES).fold(0, |found, lane| found | at(lane)).trailing_zeros() as usize % LANES
}

#[inline]
fn longest_of(lanes: &Lanes) -> i16 {
    lanes.iter().fold(0, |most, &len| most.max(len))
}

/// A request as it is held against runs.
#[derive(Clone, Copy)]
struct Fit {
    bits: i16,
    /// The bits below its alignment.
    below: i16,
}

impl Fit {
    fn new(want: &Want) -> Self {
        Self { bits: want.bits as i16, below: want.align as i16 - 1 }
    }

    /// A run's length, if the request has room in it; else more than any.
    #[inline(always)]
    fn room(self, len: i16, start: i16) -> i16 {
        let skipped = start.wrapping_neg() & self.below;
        if len >= self.bits + skipped { len } else { TOO_TIGHT }
    }
}

/// A length, or that of long ones.
pub(super) fn capped(len: u32) -> i16 {
    len.min(LONG as u32) as i16
}
