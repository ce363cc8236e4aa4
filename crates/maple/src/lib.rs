//! Maps non-overlapping ranges of `u64` to entries, and knows the gaps between them.
#![deny(unsafe_code)]
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

pub use entry::{Entry, NonNullEntry, Word};
pub use error::{AllocError, Broken, InsertError, OutOfMemory, Rejected};
pub use map::{Gaps, Iter, RangeMap, Request, Transaction};
#[doc(hidden)]
pub use node::{Full, Shape, Tiny};
pub use plan::{Facts, Heights, Plan, Planner, RemovalPlan, StoreType};
