//! Recorded programs: their calls on address spaces, and their trees.

mod files;
mod proc_maps;
mod tree_events;

pub use files::from_file;
pub use proc_maps::{Difference, Listed, compare, read_maps};
pub use tree_events::{tree_call, tree_from_file};
