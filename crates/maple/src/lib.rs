//! Maps from non-overlapping ranges of `u64` to values, with searches for gaps between them: Linux's maple tree, for
//! user space.
//!
//! ```text
//!                        |          |   longest gap below: 0x2fff   |         inner nodes, 16 children
//!                       /           |                                \
//!   | gap | A  | A' |  gap  | B |      | C | gap | D |  gap ...  |  ...       leaves, 256 bytes each
//! ```
//!
//! Two maps have the same tree of ranges:
//!
//! - [`RangeMap`] holds values of any type: it is the map for most programs, and its documentation says where each
//!   method of `BTreeMap` and of the crate `rangemap` is found.
//! - [`WordMap`] holds values of one word: integers, a `&'static`, an `Arc`, small `Copy` types ([`StoredValue`]). Its
//!   values are in the tree itself. It also has plans and cursors, and needs no clone where an entry is
//!   cut.
//!
//! [`RangeSet`] is a set of ranges, which are merged where they touch. Both it and `RangeMap` take keys of other types than
//! `u64`: see [`Key`].
//!
//! With the feature `std` there is `MapleTree`, a map of words that threads share: readers never wait, one writer at a
//! time stores.
//!
//! Slots cover all indexes; each slot is an entry or a gap. A range is one entry however long it is. Both its ends are
//! included, so the whole space `0..=u64::MAX` works. A store over a range replaces the entries there, and cuts those
//! that reach beyond. Gaps merge with their neighbours. Equal entries stay apart until they are merged on request.
//!
//! | To | there is, of `WordMap` | of `RangeMap` |
//! |---|---|---|
//! | look up | [`get`](WordMap::get), [`entry_at`](WordMap::entry_at), [`slot_at`](WordMap::slot_at), [`first`](WordMap::first) | the same, [`get_mut`](RangeMap::get_mut), [`contains`](RangeMap::contains) |
//! | go through | [`iter`](WordMap::iter), [`range`](WordMap::range), [`gaps`](WordMap::gaps), [`cursor`](WordMap::cursor) | [`iter`](RangeMap::iter), [`range`](RangeMap::range), [`gaps`](RangeMap::gaps), [`iter_mut`](RangeMap::iter_mut), [`range_mut`](RangeMap::range_mut) |
//! | store | [`store`](WordMap::store), [`insert`](WordMap::insert), [`store_merging`](WordMap::store_merging), [`store_with`](WordMap::store_with), [`replace_range`](WordMap::replace_range) | the same, [`update_range`](RangeMap::update_range), [`update_slots`](RangeMap::update_slots) |
//! | remove | [`erase`](WordMap::erase), [`remove_range`](WordMap::remove_range), [`take_range`](WordMap::take_range), [`retain`](WordMap::retain) | the same, [`pop_first`](RangeMap::pop_first) |
//! | find room | [`lowest_gap`](WordMap::lowest_gap), [`alloc_lowest`](WordMap::alloc_lowest), [`alloc_cyclic`](WordMap::alloc_cyclic) | [`lowest_gap`](RangeMap::lowest_gap), [`alloc_lowest`](RangeMap::alloc_lowest) |
//! | change without failing | [`plan_store`](WordMap::plan_store), [`transaction`](WordMap::transaction) | [`transaction`](RangeMap::transaction) |
//! | make, copy and part | [`from_sorted`](WordMap::from_sorted), [`try_clone`](WordMap::try_clone), [`split_at`](WordMap::split_at), feature `serde` | the same, [`union_with`](RangeMap::union_with), [`intersection_with`](RangeMap::intersection_with) |
//!
//! ```
//! use freehold_maple::{RangeMap, Request};
//!
//! // A process's address space: which file is mapped where.
//! let mut space = RangeMap::new();
//! space.insert(0x1000..0x9000, String::from("libc.so.6"))?;
//!
//! // An munmap in the middle: one entry becomes two.
//! space.remove_range(0x3000..0x5000)?;
//! assert_eq!(space.len(), 2);
//! assert_eq!((space.get(0x3000), space.get(0x5000).map(String::as_str)), (None, Some("libc.so.6")));
//!
//! // A hole that is large enough, from the top.
//! let below = Request::new(0x2000).window((0..0x9000).try_into()?);
//! let stack = space.alloc_highest(&below, String::from("stack"))?;
//! assert_eq!(stack, (0x3000..0x5000).try_into()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory, and what fails
//! Only an operation that needs another node can fail for lack of memory. It returns an error and has changed nothing.
//!
//! Erasing, replacing and merging never take memory, nor does the commit of a [`Plan`] or a
//! [transaction](WordMap::transaction). Removing within a transaction, or from a shared map, does: it copies the nodes
//! that it changes. No argument makes an operation panic.
//!
//! # Values that panic
//! - If a value's drop panics, the operation is done and the map is valid; the other removed values are dropped during
//!   the unwind.
//! - If a value's clone or split ([`StoredValue::split`]) panics, nothing has changed. A `WordMap` leaks a value on its
//!   way into the map, and values that were split.
#![deny(unsafe_code)]
#![warn(missing_debug_implementations)]
#![allow(clippy::expect_used, reason = "only a broken invariant stops there, and is named")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
/// The name that the helpers of integration tests use.
#[cfg(all(test, shuttle))]
extern crate self as freehold_maple;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod debug;
mod drop_all;
mod entry;
mod error;
mod facts;
mod iterators;
mod key;
mod map;
mod node;
mod plan;
pub mod range_map;
pub mod range_set;
#[cfg(feature = "std")]
mod shared;
mod tree;
#[cfg(doctest)]
mod type_rules;
mod value_arena;

pub use entry::{NonNullValue, Plain, PlainValue, StoredValue, Word};
pub use error::{AllocError, InsertError, SortedError, StoreError};
pub use facts::{Facts, Heights, StoreType};
pub use freehold_units::{Broken, OutOfMemory, Rejected};
pub use key::{Key, KeySpan, SpanOf};
pub use map::{Gaps, GapsWithin, Removed, Request, WordMap};
#[doc(hidden)]
pub use node::Nodes;
pub use plan::{Plan, RemovalPlan};
pub use range_map::RangeMap;
pub use range_set::RangeSet;
#[cfg(feature = "std")]
pub use shared::MapleTree;

#[doc = include_str!("../docs/from_rangemap.md")]
pub mod from_rangemap {}

#[cfg(feature = "std")]
#[doc = include_str!("../docs/from_rwlock_btreemap.md")]
pub mod from_rwlock_btreemap {}

/// The shared map, with its readers and iterators.
#[cfg(feature = "std")]
pub mod maple_tree {
    pub use crate::error::WriteError;
    pub use crate::shared::{
        Builder, Entries, Gaps, MapleTree, OwnedReading, ReadGuard, Reading, Reclaim, Reclaimed, Snapshot,
        SnapshotGuard, Transaction,
    };
    pub use freehold_rcu::{BacklogStats, Domain, Stalled, SysError, use_fences};
}

/// The map of words, with its iterators, cursors and entries.
pub mod word_map {
    pub use crate::map::{
        Cursor, CursorMut, Entry, IntoIter, Iter, OccupiedEntry, Transaction, VacantEntry, WordMap,
    };
}
