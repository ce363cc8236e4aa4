//! What freehold is compared with: the predecessors of its engines, naive models that are right because they
//! are simple, what answers are held against, and what a user might pick instead.

#![forbid(unsafe_code)]

pub mod concurrent;
pub mod counters;
pub mod kva;
pub mod maple;
pub mod memory;
pub mod percpu;

pub use freehold_trace::RivalWork;
