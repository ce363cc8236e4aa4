//! Maps of ranges.

mod map;
mod map_open;
mod snapshot;
mod transaction;
mod tree;
