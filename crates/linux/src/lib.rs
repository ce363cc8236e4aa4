//! The Linux kernel's own algorithms as they are: to compare with, and for kernel developers.
//!
//! [`kva`] has the augmented red-black tree of free blocks of the 2019 rework of vmalloc, with the kernel's search and the wishes of
//! the talk that presented it, and an address space that works by it.
//!
//! [`maple`] has the maple tree's calls, its cursor, its codes and its planners, over a [`WordMap`](freehold_maple::WordMap).
//!
//! [`percpu`] has the placements of the kernel's per-CPU allocator, for a [`ChunkSet`](freehold_percpu::ChunkSet).
//!
//! These keep the kernel's bounds, whatever they are: what the other crates of freehold promise under an adversary is not
//! promised here.

#![forbid(unsafe_code)]
#![allow(clippy::expect_used, reason = "what only a broken invariant can reach stops, by its number")]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(test)]
#[path = "../../units/tests/ends/mod.rs"]
mod ends;
mod error;
pub mod kva;
pub mod maple;
pub mod percpu;
#[cfg(doctest)]
mod type_rules;

pub use error::Error;

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
