//! Tests of spaces from outside: one program, and numbers as values in most of them, so that a space is compiled once for all.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[macro_use]
mod each_placement;
#[path = "../../../units/tests/ends/mod.rs"]
mod ends;
mod iterators;
mod moves;
mod owners;
mod parts;
mod refusals;
#[cfg(feature = "std")]
mod shared;
#[cfg(feature = "std")]
mod shared_devices;
#[cfg(feature = "std")]
mod shared_drops;
mod sub_spaces;
mod vmm_sequences;
mod whole_space;

use freehold_kva::{AddressSpace, Placement};

/// Every placement.
const PLACEMENTS: [Placement; 3] = [Placement::Lowest, Placement::Highest, Placement::BestFit];

/// The image of a space of numbers.
fn image(space: &AddressSpace<u64>) -> Vec<u8> {
    space.to_bytes(|value, to| to.put(&value.to_le_bytes())).unwrap()
}

/// A space of numbers again.
fn restored(image: &[u8], placement: Placement) -> AddressSpace<u64> {
    AddressSpace::from_bytes(image, placement, |value| value.try_into().map(u64::from_le_bytes)).unwrap()
}
