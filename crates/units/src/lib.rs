//! The types that all engines share: [`Span`], [`Align`], [`Bytes`], the counting of work by a [`Probe`], the parts of
//! errors, the [`pool`] of a tree's nodes, and ids of items in [`chunks`].
//!
//! Addresses are `u64`, and the whole space `0..=u64::MAX` is usable, both ends included. No arithmetic wraps: a result
//! that cannot be represented is `None` or an error. Only [`pool`] allocates memory.

#![forbid(unsafe_code)]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod align;
mod bytes;
pub mod chunks;
#[cfg(test)]
#[path = "../tests/ends/mod.rs"]
mod ends;
mod error;
mod free_sizes;
pub mod pool;
mod probe;
#[cfg(feature = "serde")]
mod serde;
mod span;
#[cfg(doctest)]
mod type_rules;

pub use align::{Align, NotPowerOfTwo, ParseAlignError};
pub use bytes::{Bytes, ParseBytesError, TooManyBytes};
pub use error::{Broken, Hex, OutOfMemory, Rejected, check};
pub use free_sizes::FreeSizes;
pub use probe::{Probe, Tally, Work};
pub use span::{EmptyRange, EndsAtTheTop, ParseSpanError, Span};

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
