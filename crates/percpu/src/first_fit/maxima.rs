//! A table of rows of bounds, with levels above: each row of a level is the maximum of 16 rows below it.
//!
//! ```text
//!   level 1   |  highest of rows 0 to 15  |  of rows 16 to 31  | ...
//!   level 0   | row 0 | row 1 | .. | row 15 | row 16 | ..
//! ```
//!
//! A search for a row with one high enough bound goes up if a group has none, and down if it has one. It takes at most
//! 32 steps for each level, whatever the number of rows.
//!
//! Invariant P15: each row above level 0 is the maximum of its group, bound by bound.

use crate::OutOfMemory;
use crate::memory::reserve_one;
use alloc::vec::Vec;

/// Number of rows below one row of the level above.
const FANOUT: usize = 16;

/// Rows of `BOUNDS` bounds by position.
#[derive(Clone, Debug)]
pub(super) struct Maxima<const BOUNDS: usize> {
    /// The levels, level 0 first. A level of more than 16 rows has one above it.
    levels: Vec<Vec<[i16; BOUNDS]>>,
}

impl<const BOUNDS: usize> Maxima<BOUNDS> {
    pub(super) const fn new() -> Self {
        Self { levels: Vec::new() }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.levels.first().map_or(0, Vec::len)
    }

    /// Reserves memory for one more row.
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        reserve_one(&mut self.levels)?;
        if self.levels.last().is_none_or(|top| top.len() >= FANOUT) {
            let mut top = Vec::new();
            reserve_one(&mut top)?;
            top.extend(self.levels.last().map(|below| highest(below)));
            self.levels.push(top);
        }
        self.levels.iter_mut().try_for_each(reserve_one)
    }

    /// Adds rows of zeros up to a position. The caller has reserved them.
    pub(super) fn reach(&mut self, at: usize) {
        let mut rows = self.len().max(at + 1);
        for level in &mut self.levels {
            level.resize(rows, [0; BOUNDS]);
            rows = rows.div_ceil(FANOUT);
        }
    }

    /// The row at a position.
    #[inline]
    pub(super) fn row(&self, at: usize) -> &[i16; BOUNDS] {
        &self.levels[0][at]
    }

    /// Raises a row to at least `to`, bound by bound.
    #[inline(never)]
    pub(super) fn raise(&mut self, at: usize, to: [i16; BOUNDS]) {
        self.set(at, higher(self.row(at), &to));
    }

    /// Lowers the bounds of a row from number `first` on to at most `to`.
    pub(super) fn lower(&mut self, at: usize, first: usize, to: i16) {
        let mut row = *self.row(at);
        row[first..].iter_mut().for_each(|bound| *bound = (*bound).min(to));
        self.set(at, row);
    }

    /// Replaces a row. A group is read again only if the row had its maximum in a bound that sinks.
    pub(super) fn set(&mut self, mut at: usize, mut row: [i16; BOUNDS]) {
        for level in 0..self.levels.len() {
            let before = core::mem::replace(&mut self.levels[level][at], row);
            let (rows, above) = (&self.levels[level], self.levels.get(level + 1));
            at /= FANOUT;
            let Some(most) = above.filter(|_| before != row).map(|above| above[at]) else { return };
            let sinks = (0..BOUNDS).any(|bound| row[bound] < before[bound] && before[bound] == most[bound]);
            row = match sinks {
                true => highest(&rows[at * FANOUT..rows.len().min((at + 1) * FANOUT)]),
                false => higher(&most, &row),
            };
        }
    }

    /// The first position from `from` on whose row has `least` or more as bound number `bound`.
    #[inline]
    pub(super) fn next(&self, bound: usize, from: usize, least: i16) -> Option<usize> {
        let (mut level, mut at) = (0, from);
        loop {
            let rows = self.levels.get(level)?;
            let group = rows.get(at..rows.len().min((at / FANOUT + 1) * FANOUT)).unwrap_or_default();
            match group.iter().position(|row| row[bound] >= least) {
                Some(step) if level == 0 => return Some(at + step),
                Some(step) => (level, at) = (level - 1, (at + step) * FANOUT),
                None => (level, at) = (level + 1, at / FANOUT + 1),
            }
        }
    }

    /// Whether P15 holds on the way up from a position.
    pub(super) fn is_right_above(&self, mut at: usize) -> bool {
        self.levels.windows(2).all(|levels| {
            at /= FANOUT;
            let group = levels[0].chunks(FANOUT).nth(at).unwrap_or_default();
            levels[1].get(at) == Some(&highest(group))
        })
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.capacity() * size_of::<[i16; BOUNDS]>()).sum()
    }
}

/// The maximum of two rows, bound by bound.
#[inline]
fn higher<const BOUNDS: usize>(one: &[i16; BOUNDS], other: &[i16; BOUNDS]) -> [i16; BOUNDS] {
    core::array::from_fn(|bound| one[bound].max(other[bound]))
}

/// The maximum of several rows, bound by bound.
fn highest<const BOUNDS: usize>(rows: &[[i16; BOUNDS]]) -> [i16; BOUNDS] {
    rows.iter().fold([0; BOUNDS], |highest, row| higher(&highest, row))
}
