//! Rivals of the percpu family.

mod area_chunk;
mod area_map;

pub use area_map::{AreaMap, MapSize};
