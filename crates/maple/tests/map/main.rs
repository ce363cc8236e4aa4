//! Tests of maps with one owner, as one program, so that the maps are compiled once for all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod closures;
#[path = "../common/mod.rs"]
mod common;
mod edges;
#[path = "../../../units/tests/ends/mod.rs"]
mod ends;
mod exhaustive;
mod facts;
mod forgotten;
#[path = "../common/fuse.rs"]
mod fuse;
mod iterators;
mod keys;
mod large;
#[path = "../common/layouts.rs"]
mod layouts;
mod model;
mod panics;
mod range_map;
mod range_set;
#[cfg(feature = "serde")]
mod serde;
mod transactions;
mod versions;
