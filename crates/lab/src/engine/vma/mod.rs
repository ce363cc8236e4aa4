//! Address spaces of processes at work: maps of areas, behind one trait and in one list.

mod driver;
mod list;
mod maps;
mod planned;
mod session;
mod sorted;

pub use driver::{Footprint, Spaces};
pub use list::{ENGINES, EngineEntry, Make};
pub use planned::{AskAs, PlannedRanges};
pub use session::Session;
pub use sorted::SortedAreas;
