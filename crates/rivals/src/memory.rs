//! Memory that a program might use instead: three allocators, none of which is this program's own, and the stacks of corosensei.

pub use corosensei::stack::{DefaultStack, Stack};
#[cfg(feature = "c")]
pub use mimalloc::MiMalloc;
pub use std::alloc::System as Glibc;
#[cfg(feature = "c")]
pub use tikv_jemallocator::Jemalloc;
