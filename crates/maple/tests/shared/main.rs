//! Tests of the map that threads share, as one program, so that it is compiled once for all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../common/shared.rs"]
mod common;
mod drops;
#[path = "../../../units/tests/ends/mod.rs"]
mod ends;
#[path = "../common/fuse.rs"]
mod fuse;
mod iterators;
#[path = "../common/judge.rs"]
mod judge;
#[path = "../common/layouts.rs"]
mod layouts;
mod map;
mod moves;
mod reclaim;
mod refusals;
#[path = "../common/refused.rs"]
mod refused;
/// The one allocator of all tests that refuse memory.
#[path = "../../../kva/tests/out_of_memory/refusing.rs"]
mod refusing;
mod stalled;
mod threads;
mod transactions;
