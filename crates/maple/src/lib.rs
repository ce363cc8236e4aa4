//! Maps non-overlapping ranges of `u64` to values, and knows the gaps between them: Linux's maple tree, for user space.
//!
//! ```text
//!                        |          |   longest gap below: 0x2fff   |         inner nodes, 16 children
//!                       /           |                                \
//!   | gap | A  | A' |  gap  | B |      | C | gap | D |  gap ...  |  ...       leaves, 256 bytes each
//! ```
//!
//! A [`WordMap`] is a B-tree. Its slots cover all indexes; each slot is an entry or a gap. A range is one entry however long
//! it is. Both its ends are included, so the whole space `0..=u64::MAX` works. A store over a range replaces the entries there,
//! and cuts those that reach beyond. Gaps merge with their neighbours. Equal entries stay apart until
//! [`merge_adjacent`](WordMap::merge_adjacent).
//!
//! | To | there is |
//! |---|---|
//! | look up | [`get`](WordMap::get), [`entry_at`](WordMap::entry_at), [`slot_at`](WordMap::slot_at), [`first`](WordMap::first), [`last`](WordMap::last) |
//! | go through | [`iter`](WordMap::iter), [`range`](WordMap::range), [`gaps`](WordMap::gaps), [`cursor`](WordMap::cursor) |
//! | change | [`store`](WordMap::store), [`insert`](WordMap::insert), [`erase`](WordMap::erase), [`remove_range`](WordMap::remove_range), [`entry`](WordMap::entry), [`cursor_mut`](WordMap::cursor_mut), [`retain`](WordMap::retain) |
//! | find room | [`lowest_gap`](WordMap::lowest_gap), [`highest_gap`](WordMap::highest_gap), [`alloc_lowest`](WordMap::alloc_lowest), [`alloc_highest`](WordMap::alloc_highest), [`alloc_cyclic`](WordMap::alloc_cyclic) |
//! | change without failing | [`plan_store`](WordMap::plan_store), [`transaction`](WordMap::transaction) |
//! | make, copy and part | [`from_sorted`](WordMap::from_sorted), [`try_clone`](WordMap::try_clone), [`split_at`](WordMap::split_at), feature `serde` |
//!
//! What is stored is a word: an integer, a `&'static`, an `Arc` ([`StoredValue`]).
//!
//! ```
//! use freehold_maple::{WordMap, Request};
//! use freehold_units::Span;
//! use std::sync::Arc;
//!
//! // A process's address space: which file is mapped where.
//! let mut space = WordMap::new();
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
pub mod range_map;
mod tree;

pub use entry::{NonNullValue, Plain, PlainValue, StoredValue, Word};
pub use error::{AllocError, InsertError, SortedError, StoreError};
pub use freehold_units::{Broken, OutOfMemory, Rejected};
pub use map::{Gaps, Removed, Request, WordMap};
#[doc(hidden)]
pub use node::Nodes;
pub use plan::{Plan, RemovalPlan};
pub use range_map::RangeMap;

/// The map of words: what its iterators, cursors and entries are called.
pub mod word_map {
    pub use crate::map::{
        Cursor, CursorMut, Entry, IntoIter, Iter, OccupiedEntry, Transaction, VacantEntry, WordMap,
    };
}
