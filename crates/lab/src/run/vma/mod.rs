//! What is measured of address spaces.

mod calls;

pub(crate) use calls::name;
pub use calls::{CallCounts, Calls};
