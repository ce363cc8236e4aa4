//! Address spaces of recorded processes: what their calls do, and to what.

mod files;
mod kind;
mod op;
mod proc_maps;
mod space;
#[cfg(test)]
mod tests;
mod tree_events;

pub use files::{Scene, from_file};
pub use kind::{Change, Class, Kind, Kinds, Shown};
pub use op::{Answer, Call, Caller, Fault, Op, contradictions};
pub use proc_maps::{Difference, Listed, compare, read_maps};
pub use space::{AddressSpace, AreaMap, Nodes};
pub use tree_events::tree_from_file;
