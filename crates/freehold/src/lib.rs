//! Address space in user space, managed the way the Linux kernel does.
//!
//! | Engine | What it does |
//! |---|---|
//! | [`kva`] | hands out non-overlapping address ranges: size, alignment, window, lowest address first |
//! | [`maple`] | maps non-overlapping ranges to values, and finds gaps between them |
//! | [`percpu`] | hands out small objects that exist once per CPU, at one offset in every CPU's unit |
//! | [`maple`] | maps ranges to values: look-up, stores over ranges, search for gaps |
//!
//! [`prelude`] has what most programs need; [`units`] the words that the engines share.
//!
//! ```
//! use freehold::prelude::*;
//!
//! let bus = "0xc0000000..=0xffffffff".parse::<Span>()?;
//! let mut space: AddressSpace<&str> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
//! let nic = space.alloc(&Request::new(0x2000), "nic")?;
//! assert_eq!(*space.region_at(nic.last()).unwrap().value(), "nic");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![no_std]

pub use freehold_kva as kva;
pub use freehold_maple as maple;
pub use freehold_percpu as percpu;
pub use freehold_units as units;

/// What most programs need.
pub mod prelude {
    pub use crate::kva::{AddressSpace, Placement, Request};
    pub use crate::units::{Align, Bytes, Span};
}

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
