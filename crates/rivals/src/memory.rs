//! Memory that a program might use instead: three allocators, none of which is this program's own, and the stacks of corosensei.

pub use corosensei::stack::{DefaultStack, Stack};
pub use mimalloc::MiMalloc;
pub use std::alloc::System as Glibc;
pub use tikv_jemallocator::Jemalloc;
