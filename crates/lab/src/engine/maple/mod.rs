//! The engines of the maple family: trees with the kernel's calls, and plain maps of ranges, in one list.

mod linux;
mod list;
mod map;
mod range_map;
mod shared;
mod steps;
mod trees;

pub use linux::LinuxTree;
pub use list::{ENGINES, EngineEntry, MakeMap, MakeTrees, TreeFacts, find_maps, trees};
pub use map::Map;
pub(crate) use range_map::no_memory;
pub use range_map::{AnyMapRanges, WordMapRanges};
pub use shared::SharedTree;
pub use steps::{GapRequest, MixStep, Steps};
pub use trees::Trees;
