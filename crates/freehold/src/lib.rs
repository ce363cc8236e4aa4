//! Address space in user space, managed the way the Linux kernel does.
//!
//! | Module | What it does | Feature |
//! |---|---|---|
//! | [`kva`] | hands out address ranges that do not overlap: size, alignment, window; lowest, highest or best fit | |
//! | [`maple`] | maps ranges to values, and finds the gaps between them; stores that cannot fail | |
//! | [`percpu`] | hands out small objects that exist once per CPU, at one offset in every CPU's unit | |
//! | [`units`] | the types that these share: spans, alignments, errors | |
//! | `kva::SharedSpace`, `kva::PooledSpace`, `maple::MapleTree` | the same for many threads; look-ups take no lock | `std` |
//! | `percpu::PerCpuHeap`, counters, `observe` | objects and counters for each CPU; the statistics of all of this on a page of metrics | `std` |
//! | `rcu` | keeps what readers may still see | `std` |
//! | `vmalloc` | memory over reserved addresses: blocks, slots, stacks, vectors | `std` |
//! | `metrics` | a recorder for the facade of that name | `metrics` |
//!
//! [`prelude`] has what most programs need. With the feature `serde`, spans, alignments, spaces, maps and sets can be serialized.
//!
//! ```
//! use freehold::prelude::*;
//!
//! let bus = Span::try_from(0xc000_0000..=0xffff_ffff)?;
//! let mut space = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
//! let nic = space.alloc(&Request::new(0x2000), "nic")?;
//! assert_eq!(*space.region_at(nic.last()).unwrap().value(), "nic");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "std")]
pub mod observe;

pub use freehold_kva as kva;
pub use freehold_maple as maple;
#[cfg(feature = "metrics")]
pub use freehold_metrics as metrics;
pub use freehold_percpu as percpu;
#[cfg(feature = "std")]
pub use freehold_rcu as rcu;
pub use freehold_units as units;
#[cfg(feature = "std")]
pub use freehold_vmalloc as vmalloc;

/// What most programs need. [`Request`](kva::Request) and [`Placement`](kva::Placement) are those of `kva`; what has the same
/// name elsewhere is reached through its module: `percpu::Request`, `maple::Request`.
///
/// ```
/// use freehold::prelude::*;
///
/// let mut ids = AddressSpace::new((0..1000).try_into()?, Align::ONE, Placement::Lowest)?;
/// let mut counters: ChunkSet = ChunkSet::new(percpu::Config::new(64 << 10, 4))?;
///
/// let id = ids.alloc(&Request::new(1), "first")?;
/// let counter = counters.alloc(&percpu::Request::new(8).align(8))?;
/// assert_eq!((id.first(), counter.offset_bytes), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod prelude {
    pub use crate::kva::{AddressSpace, Placement, Request};
    pub use crate::maple::{Key, KeySpan, RangeMap, RangeSet};
    pub use crate::percpu::ChunkSet;
    pub use crate::units::{Align, Bytes, Span};
    pub use crate::{kva, maple, percpu};
    #[cfg(feature = "std")]
    pub use crate::{
        kva::{PooledSpace, SharedSpace},
        maple::MapleTree,
        percpu::{Counter, Gauge, Histogram},
        vmalloc::VirtualMemory,
    };
}

/// The README's example must compile and run, here and that of the repository. They and the book's need `std`.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/readme.md")]
pub struct Readme;

/// The book's programs must, too.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../docs/start.md")]
pub struct Start;

/// The book's recipes must, too.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../docs/recipes.md")]
pub struct Recipes;
