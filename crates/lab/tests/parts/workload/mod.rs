//! Workloads and cases.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod memory;
mod order;
mod percpu_cases;
mod proc_maps;
mod spaces;
mod suite;
mod tree_events;
