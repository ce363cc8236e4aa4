//! Hands out small objects that exist once per CPU.
//!
//! A [`ChunkSet`] has chunks, and a chunk has one unit per possible CPU. An object is one offset that is valid in all
//! units of its chunk. A bitmap per chunk, with one bit for 4 bytes, records the used bytes; hints speed up the search
//! in it.
//!
//! ```text
//!   chunk 0   unit of CPU 0        unit of CPU 1        unit of CPU 2
//!             |aa.bbbb..|......|   |aa.bbbb..|......|   |aa.bbbb..|......|
//!              ^  ^                 ^  ^                 ^  ^
//!              a  b of CPU 0        a  b of CPU 1        a  b of CPU 2
//! ```
//!
//! The [`Placement`] chooses an object's place: [`FirstFit`], the default, or another one ([`placement`]).
//!
//! ```
//! use freehold_percpu::{ChunkSet, Config, FreeError, Request};
//!
//! let mut set: ChunkSet = ChunkSet::new(Config::new(256 << 10, 4))?;
//! let counter = set.alloc(&Request::new(8).align(8))?;
//! let table = set.alloc(&Request::new(100))?;
//! assert_eq!(set.taken_bytes(table), Ok(100));
//!
//! assert_eq!(set.free(counter), Ok(8));
//! assert_eq!(set.free(counter), Err(FreeError::AlreadyFree { offset: counter }));
//! assert_eq!(set.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: D. Zhou, "percpu: replace area map allocator with bitmap allocator", Linux 4.14, 2017.

// With `std`, the pointer layer of the heap has unsafe code, in files that allow it explicitly.
#![cfg_attr(not(feature = "std"), forbid(unsafe_code))]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod config;
#[cfg(feature = "std")]
mod count;
#[cfg(test)]
#[path = "../../units/tests/ends/mod.rs"]
mod ends;
mod error;
pub mod first_fit;
mod geometry;
#[cfg(feature = "std")]
pub mod heap;
mod memory;
mod names;
mod object_map;
mod pages;
pub mod placement;
#[cfg(feature = "std")]
pub mod registry;
mod request;
mod set;
#[cfg(doctest)]
mod type_rules;

pub use config::{Config, Population};
#[cfg(feature = "std")]
pub use count::{
    ApproxCounter, ApproxGauge, BUCKETS, Counter, Gauge, Histogram, HistogramSnapshot, LengthsDiffer, Timer,
    Value, snapshot,
};
pub use error::{AllocError, ConfigError, FreeError};
pub use first_fit::FirstFit;
pub use freehold_units::{Broken, OutOfMemory};
pub use geometry::{BIT_BYTES, BLOCK_BITS, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};
pub use names::{ChunkId, Offset};
pub use placement::Placement;
pub use request::Request;
pub use set::{Backing, ChunkSet, ChunkView, Stats};

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
