//! The engines of the maple family: trees with the kernel's calls, and plain maps of ranges, in one list.

mod linux;
mod list;
mod planned;
mod range_map;
mod shared;
mod two;

pub use linux::LinuxTree;
pub use list::{ENGINES, EngineEntry, MakeMap, MakeTrees, TreeFacts, find_benched, find_maps, trees};
pub use planned::{Ask, AskAs, Direct, Note, PLANNERS, PlannedRanges, StoredRanges, TYPES, planner_name};
pub use range_map::{AnyMapRanges, WordMapRanges};
pub use shared::SharedTree;
pub use two::{Map, Two};
