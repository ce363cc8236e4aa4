//! Hands out non-overlapping ranges of an address space.
//!
//! [`AddressSpace`] keeps its regions, each with the caller's value, in one B+tree; the gaps between them are free.
//! Nodes keep upper bounds of the gaps below them, which guide the search of a [`Placement`]. (The crate
//! `freehold-linux` has the red-black tree of the Linux vmalloc allocator.)
//!
//! ```text
//!          first                                                     last
//!  space     |####|......|########|g|..........|#####|.................|
//!            busy  free   busy guard    free     busy        free
//!  B+tree    +-----------+---------------------+-----------------------+   entries: a region and the gap behind it
//! ```
//!
//! ```
//! use freehold_kva::{AddressSpace, Placement, Request};
//! use freehold_units::{Align, Span};
//!
//! let bus = Span::new(0xc000_0000, 0xffff_ffff).unwrap();
//! let mut space: AddressSpace<&str> = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
//!
//! let disk = space.alloc(&Request::new(0x4000).align(Align::new(0x4000).unwrap()), "disk")?;
//! assert_eq!(disk.first(), 0xc000_0000);
//! assert_eq!(*space.region_at(disk.first() + 0x123).unwrap().value(), "disk");
//!
//! let (span, owner) = space.free(disk.first())?;
//! assert_eq!((span, owner), (disk, "disk"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: U. Rezki, "Reworking of KVA allocator in Linux kernel", Linux Plumbers Conference 2019.

#![forbid(unsafe_code)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "what only a broken invariant can reach stops, by its number"
)]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

const _: () = assert!(usize::BITS >= 64, "freehold-kva needs a 64-bit target");

#[cfg(feature = "std")]
mod atomic;
mod bplus;
#[cfg(test)]
#[path = "../../units/tests/ends/mod.rs"]
mod ends;
mod error;
mod fit;
mod placement;
#[cfg(feature = "std")]
pub mod pooled;
mod regions;
mod request;
#[cfg(feature = "std")]
pub mod shared;
#[cfg(all(test, shuttle))]
mod shuttle_judge;
mod sizes;
mod space;
#[cfg(doctest)]
mod type_rules;

#[cfg(feature = "std")]
pub use error::SharedError;
pub use error::{
    AdoptError, AllocError, FreeError, FreeRangeError, LayoutError, MergeError, MoveError, Rejected,
    ResizeError, ReturnError, SplitError,
};
pub use fit::{Fit, Merge};
pub use freehold_units::{Broken, FreeSizes, OutOfMemory};
pub use placement::Placement;
#[cfg(feature = "std")]
pub use pooled::PooledSpace;
pub use request::{CheckedRequest, Request};
#[cfg(feature = "std")]
pub use shared::SharedSpace;
pub use space::{
    AddressSpace, FreedRegions, IntoRegions, Pending, PendingMove, Region, Regions, Stats, image,
};

#[doc = include_str!("../docs/from_vm_allocator.md")]
pub mod from_vm_allocator {}
