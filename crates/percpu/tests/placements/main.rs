//! The default placement keeps to what every placement does, under refused memory, too.
//!
//! A memory request that cannot be answered by an error ends the process.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[cfg(feature = "std")]
mod heap;
mod laws;
/// The one allocator of all tests that refuse memory.
#[path = "../../../kva/tests/out_of_memory/refusing.rs"]
mod refusing;

use freehold_percpu::{FirstFit, Population};
use proptest::prelude::*;
use refusing::{NONE_REFUSED, watched};

laws::for_placements!(FirstFit);
