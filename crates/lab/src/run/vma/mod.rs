//! What is measured of address spaces.

mod calls;

pub use calls::{CallCounts, Calls};
