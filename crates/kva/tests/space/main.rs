//! Tests of spaces from outside: one program, and numbers as values in most of them, so that each index is compiled once for all.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[macro_use]
mod over_indexes;
#[path = "../../../units/tests/ends/mod.rs"]
mod ends;
mod iterators;
mod moves;
mod owners;
mod placements;
mod refusals;
#[cfg(feature = "std")]
mod shared;
mod sub_spaces;
mod vmm_sequences;
mod whole_space;

use freehold_kva::{AddressSpace, FreeIndex};

/// The snapshot of a space of numbers.
fn snapshot<I: FreeIndex>(space: &AddressSpace<u64, I>) -> Vec<u8> {
    space.snapshot(|value, to| to.put(&value.to_le_bytes())).unwrap()
}

/// A space of numbers again.
fn restored<I: FreeIndex>(snapshot: &[u8], placement: I::Placement) -> AddressSpace<u64, I> {
    AddressSpace::restore(snapshot, placement, |value| value.try_into().map(u64::from_le_bytes)).unwrap()
}
