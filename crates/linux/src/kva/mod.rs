//! vmalloc after the 2019 rework: an augmented red-black tree of free blocks, and a space of areas that uses it; and the
//! running kernel's [lazy frees, purges and pools](lazy) around that tree.
//!
//! ```
//! use freehold_kva::Request;
//! use freehold_linux::kva::{KernelSpace, Placement};
//! use freehold_units::{Align, Span};
//!
//! let vmalloc = Span::new(0x10_0000, 0xffff_ffff).unwrap();
//! let mut space: KernelSpace<&str> = KernelSpace::new(vmalloc, Align::PAGE, Placement::Linux)?;
//! let area = space.alloc(&Request::new(0x4000).guard(0x1000), "stack")?;
//! assert_eq!(space.area_at(area.first() + 0x123).unwrap().1, &"stack");
//! assert_eq!(space.tree().len(), 1);
//! space.free(area.first())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: U. Rezki, "Reworking of KVA allocator in Linux kernel", Linux Plumbers Conference 2019.

mod busy;
mod congruent;
pub mod lazy;
pub mod rbtree;
mod space;

pub use lazy::LazySpace;
pub use rbtree::{Placement, RbTree};
pub use space::{IndexBytes, KernelSpace};
