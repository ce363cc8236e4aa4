//! Hands out non-overlapping ranges of an address space.
//!
//! [`AddressSpace`] is kept in a [`FreeIndex`]. By default that is the augmented red-black tree of the 2019 rework of
//! the Linux vmalloc allocator for what is free, and a B+tree by address for what is taken, with the caller's values;
//! with [`BTree`] it is one tree for both.
//!
//! ```text
//!          first                                                     last
//!  space     |####|......|########|g|..........|#####|.................|
//!            busy  free   busy guard    free     busy        free
//!                    |                    |                     |
//!  free index        +---------- red-black tree, each node -----+
//!                     knowing the largest block below it
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
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod arena;
mod bplus;
pub mod btree;
mod busy;
pub mod by_size;
mod error;
mod fit;
mod index;
pub mod rbtree;
mod request;
mod shortcuts;
mod space;
mod two_trees;

pub use btree::{BTree, Placement};
pub use by_size::BySize;
pub use error::{
    AdoptError, AllocError, Broken, FreeError, LayoutError, OutOfMemory, Rejected, ResizeError, ReturnError,
};
pub use fit::{Fit, Merge};
pub use index::FreeIndex;
pub use rbtree::RbTree;
pub use request::Request;
pub use shortcuts::Shortcuts;
pub use space::{AddressSpace, Region, Stats, snapshot};
