//! The stress of each family, on engines that are right and on some that are not.

mod kva;
pub(crate) mod liar;
mod percpu;
mod told;
mod tree;
