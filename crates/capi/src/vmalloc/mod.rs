//! Memory over reserved addresses.

mod slots;
mod stacks;
mod vm;
