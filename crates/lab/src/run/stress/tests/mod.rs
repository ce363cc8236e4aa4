//! The stress of each family, on engines that are right and on some that are not.

mod kva;
mod percpu;
mod tree;
