//! Rivals of the percpu family, and what any allocator of it must do.

mod area_chunk;
mod area_map;
mod checker;
mod floor;
mod rooms;

pub use area_map::{AreaMap, MapSize};
pub use checker::Checker;
pub use floor::Floor;
pub use rooms::Units;

use freehold_units::Align;

/// Bytes of a page.
const PAGE_BYTES: u64 = Align::PAGE.bytes();
