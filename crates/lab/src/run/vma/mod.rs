//! What is measured of address spaces.

mod calls;
mod film;

pub use calls::{CallCounts, Calls};
pub use film::{Filming, Sample};
