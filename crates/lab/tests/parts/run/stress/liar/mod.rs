//! Broken engines, to see whether that is noticed.

mod kva;
mod maple;
mod percpu;

pub(crate) use kva::liar;
pub(crate) use maple::{Liar as MapleLiar, maple_liar};
pub(crate) use percpu::percpu_liar;

/// The allocation or free at which they lie.
const LIE: u32 = 1000;

/// Says a little more than where it placed, which is aligned all the same, or than what it holds.
pub(crate) const SHIFTED: u8 = 0;
/// Refuses what fits.
pub(crate) const REFUSES: u8 = 1;
/// Says it freed, and did not.
pub(crate) const LEAKS: u8 = 2;
/// Says a few bytes more than where it placed.
pub(crate) const MISALIGNED: u8 = 3;
/// Says where it placed the object before.
pub(crate) const TWICE: u8 = 4;
/// Finds its invariants broken from then on.
pub(crate) const INVALID: u8 = 5;
/// Says a place behind the last.
pub(crate) const OUTSIDE: u8 = 6;
/// Stores, and inserts, another value than it was given.
pub(crate) const OTHER_VALUE: u8 = 7;
