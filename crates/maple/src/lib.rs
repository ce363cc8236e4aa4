//! Maps non-overlapping ranges of `u64` to values, and knows the gaps between them: Linux's maple tree, for user space.
//!
//! ```text
//!                        |          |   longest gap below: 0x2fff   |         inner nodes, 16 children
//!                       /           |                                \
//!   | gap | A  | A' |  gap  | B |      | C | gap | D |  gap ...  |  ...       leaves, 256 bytes each
//! ```
//!
//! A [`RangeMap`] is a B-tree. Its slots cover all indexes; each slot is an entry or a gap. A range is one entry however long
//! it is. Both its ends are included, so the whole space `0..=u64::MAX` works. A store over a range replaces the entries there,
//! and cuts those that reach beyond. Gaps merge with their neighbours. Equal entries stay apart until
//! [`merge_adjacent`](RangeMap::merge_adjacent).
//!
//! | To | there is |
//! |---|---|
//! | look up | [`get`](RangeMap::get), [`entry_at`](RangeMap::entry_at), [`slot_at`](RangeMap::slot_at), [`first`](RangeMap::first), [`last`](RangeMap::last) |
//! | go through | [`iter`](RangeMap::iter), [`range`](RangeMap::range), [`gaps`](RangeMap::gaps), [`cursor`](RangeMap::cursor) |
//! | change | [`store`](RangeMap::store), [`insert`](RangeMap::insert), [`erase`](RangeMap::erase), [`remove_range`](RangeMap::remove_range), [`entry`](RangeMap::entry), [`cursor_mut`](RangeMap::cursor_mut), [`retain`](RangeMap::retain) |
//! | find room | [`lowest_gap`](RangeMap::lowest_gap), [`highest_gap`](RangeMap::highest_gap), [`alloc_lowest`](RangeMap::alloc_lowest), [`alloc_highest`](RangeMap::alloc_highest), [`alloc_cyclic`](RangeMap::alloc_cyclic) |
//! | change without failing | [`plan_store`](RangeMap::plan_store), [`transaction`](RangeMap::transaction) |
//! | make, copy and part | [`from_sorted`](RangeMap::from_sorted), [`try_clone`](RangeMap::try_clone), [`split_at`](RangeMap::split_at), feature `serde` |
//!
//! What is stored is a word: an integer, a `&'static`, an `Arc` ([`StoredValue`]).
//!
//! ```
//! use freehold_maple::{RangeMap, Request};
//! use freehold_units::Span;
//! use std::sync::Arc;
//!
//! // A process's address space: which file is mapped where.
//! let mut space = RangeMap::new();
//! let libc = Arc::new("libc.so.6");
//! space.insert(Span::new(0x1000, 0x8fff).unwrap(), Arc::clone(&libc)).unwrap();
//!
//! // An munmap in the middle: one entry becomes two, and the file is held twice.
//! space.remove_range(Span::new(0x3000, 0x4fff).unwrap())?;
//! assert_eq!(space.len(), 2);
//! assert_eq!((space.get(0x3000), space.get(0x5000)), (None, Some(&"libc.so.6")));
//! assert_eq!(Arc::strong_count(&libc), 3);
//!
//! // A hole that is large enough, from the top.
//! let below = Span::new(0, 0x8fff).unwrap();
//! let stack = space.alloc_highest(&Request::new(0x2000).window(below), Arc::new("stack")).unwrap();
//! assert_eq!(stack, Span::new(0x3000, 0x4fff).unwrap());
//! # Ok::<(), freehold_maple::OutOfMemory>(())
//! ```
//!
//! # Memory, and what fails
//! Only an operation that needs another node can fail for lack of memory. It says so and has changed nothing. Erasing,
//! replacing and merging never take memory, nor does the commit of a [`Plan`] or a [`Transaction`]. Nothing that a
//! caller passes panics.
//!
//! # Values that panic
//! If a value's drop panics, the operation is done and the map is valid; the other removed values are dropped while it
//! unwinds. If a value's split panics ([`StoredValue::split`]: a store inside its range, a copy), nothing
//! has changed; a value on its way into the map and values that were copied are leaked.
#![deny(unsafe_code)]
#![allow(clippy::expect_used, reason = "only a broken invariant stops there, and is named")]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod entry;
mod error;
pub mod linux;
mod map;
mod node;
mod plan;
mod tree;

pub use entry::{NonNullValue, Plain, PlainValue, StoredValue, Word};
pub use error::{AllocError, InsertError, SortedError};
pub use freehold_units::{Broken, OutOfMemory, Rejected};
pub use map::{
    Cursor, CursorMut, Entry, Gaps, IntoIter, Iter, OccupiedEntry, RangeMap, Request, Transaction,
    VacantEntry,
};
#[doc(hidden)]
pub use node::Nodes;
pub use plan::{Plan, RemovalPlan};
