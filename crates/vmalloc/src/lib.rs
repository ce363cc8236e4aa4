//! Memory over reserved addresses: blocks, slots and stacks that are zero, guarded and resident. Millions of them take
//! tens of mappings, and their memory shrinks when idle.
//!
//! Unmapping memory is cheap; faulting it in again is not. So freed memory stays resident, up to a threshold and for a
//! while. Any thread can get it again for two atomic operations. All of it lies in one reservation, so decommitting
//! pages and making guards needs no mapping for each.
//!
//! | For | Use |
//! |---|---|
//! | blocks of any size: buffers, arenas | [`VirtualMemory::alloc`] |
//! | many of one size, each guarded and zero: requests, sandboxes; or not zero: a page cache | [`VirtualMemory::slots`] |
//! | stacks of coroutines | [`StackPool`] |
//! | an array that grows and never moves | [`VmVec`] |
//! | code of a compiler, within reach of the functions that it calls | [`code`], [`near`] |
//!
//! ```
//! use freehold_vmalloc::{RetainPolicy, VirtualMemory, Zero};
//! use std::time::Duration;
//!
//! let vm = VirtualMemory::builder()
//!     .reserve(1 << 30)
//!     .retain(RetainPolicy::bytes(256 << 20).decay(Duration::from_secs(1)))
//!     .build()?;
//! let mut block = vm.alloc(64 << 10, Zero::Yes)?;
//! block[100] = 1;
//! assert_eq!(vm.locate(block.address() + 100).map(|span| span.first()), Some(block.address()));
//! drop(block);
//! // Warm: the same pages, and zero again.
//! assert_eq!(vm.alloc(64 << 10, Zero::Yes)?[100], 0);
//! vm.release_idle()?;
//! assert_eq!(vm.stats().residency.resident_bytes, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Handles borrow the [`VirtualMemory`]. A program that passes them around keeps it in a `static`, or uses the owned
//! handles.
//!
//! Features: with `allocator-api2`, a [`VirtualMemory`] is an allocator for `hashbrown` and other collections that take
//! one. With `corosensei`, a [`Stack`] is one of its stacks.
//!
//! # Forks
//! A child has its own copy of everything: zero where it was zero, with the same guards. It may use all of it, whatever
//! other threads were doing at the time of the fork. A block that one of them was handing out or freeing leaks in the
//! child, where it may count as resident for ever, which `validate` reports (S6). The thread of [`RetainPolicy::decay`] exists only in the parent: in the child, idle memory stays until it is
//! released.
//!
//! Source: the lazily freed areas of the talk on vmalloc (2019), and what its batched purges showed.

#![allow(clippy::expect_used, reason = "what only a broken invariant can reach stops, by its number")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bits;
mod block;
mod builder;
#[allow(unsafe_code, reason = "who may write to code and who may run it")]
pub mod code;
mod decay;
mod error;
#[cfg(any(feature = "allocator-api2", feature = "corosensei"))]
#[allow(unsafe_code, reason = "the traits are unsafe, as they must be told the truth")]
mod foreign;
mod lock;
#[allow(unsafe_code, reason = "the mapping layer: who may use which pages is decided here")]
mod mapping;
mod memory;
pub mod near;
#[allow(unsafe_code, reason = "handles that own what they borrow from, or are taken apart")]
mod owned;
#[allow(unsafe_code, reason = "handles are taken apart and put together")]
mod raw;
mod residency;
mod retain;
mod scrub;
mod slots;
mod stack;
mod stats;
#[cfg(doctest)]
mod type_rules;
#[allow(unsafe_code, reason = "elements in memory of its own")]
mod vec;
#[allow(unsafe_code, reason = "the mapping layer: what the space hands out becomes pages")]
mod zone;

pub use block::Block;
pub use builder::{Builder, Commit};
pub use error::{AllocError, BuildError, PoolError};
pub use freehold_kva as kva;
pub use freehold_sys::{Guard, Reservation, SysError, page_bytes};
pub use memory::VirtualMemory;
pub use owned::{OwnedBlock, OwnedSlot, OwnedSlots, OwnedStack, OwnedStacks};
pub use retain::RetainPolicy;
pub use scrub::Zero;
pub use slots::{Slot, SlotLayout, Slots};
pub use stack::{Stack, StackLayout, StackPool};
pub use stats::{LendingStats, MappingStats, ResidencyStats, ScrubStats, Stats, ZoneStats};
pub use vec::{IntoIter, VmVec};

#[doc = include_str!("../docs/from_wasmtime_pool.md")]
pub mod from_wasmtime_pool {}

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
