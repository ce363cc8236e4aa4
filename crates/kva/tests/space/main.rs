//! Tests of spaces from outside: one program, so that each index is compiled once for all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[macro_use]
mod over_indexes;
mod moves;
mod owners;
mod placements;
mod refusals;
#[cfg(feature = "std")]
mod shared;
mod sub_spaces;
mod vmm_sequences;
mod whole_space;
