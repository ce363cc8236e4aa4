//! The words that every engine speaks: [`Span`], [`Align`], [`Bytes`] and [`Probe`].
//!
//! Addresses are `u64` and the whole space `0..=u64::MAX` is usable, both ends included. Nothing here
//! allocates, panics or wraps: what cannot be represented is `None` or an error.

#![forbid(unsafe_code)]
#![no_std]

#[cfg(test)]
extern crate std;

mod align;
mod bytes;
mod probe;
mod span;

pub use align::Align;
pub use bytes::{Bytes, ParseBytesError};
pub use probe::{Probe, Tally, Work};
pub use span::{ParseSpanError, Span};
