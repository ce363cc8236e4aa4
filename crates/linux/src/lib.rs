//! Faithful models of the Linux kernel's allocation algorithms, for comparisons and for kernel developers.
//!
//! [`kva`] has the augmented red-black tree of free blocks of the 2019 rework of vmalloc, an address space that uses it,
//! and the lazy frees, purges and pools that the kernel has around it since. The tree has the kernel's search, and the
//! improvements that the talk wished for.
//!
//! [`maple`] has the maple tree's calls, cursor, error codes and planners, over a [`WordMap`](freehold_maple::WordMap).
//!
//! [`percpu`] has the placements of the kernel's per-CPU allocator, for a [`ChunkSet`](freehold_percpu::ChunkSet).
//!
//! These models have the kernel's complexity bounds. The worst-case guarantees of the other freehold crates do not hold
//! here.

#![forbid(unsafe_code)]
#![allow(clippy::expect_used, reason = "what only a broken invariant can reach stops, by its number")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
