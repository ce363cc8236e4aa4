//! What a user of each client writes to have its memory from `freehold-vmalloc`, or to count by `freehold-metrics`, and nothing else.
#![allow(unsafe_code, reason = "clients' traits of memory are unsafe, as they must be told the truth")]

pub mod axum;
pub mod cranelift;
pub mod hashbrown;
pub mod redb;
pub mod vm_device;
pub mod wasmtime;
