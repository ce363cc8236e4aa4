//! Address-range allocators.

mod btreemap_first_fit;
mod gap_list;
mod memory;
mod naive;

pub use btreemap_first_fit::BTreeMapFirstFit;
pub use gap_list::GapList;
pub use naive::{Naive, lowest_fit};
