//! Sequences of operations that are built to hurt, and the growth of what they cost held against documented bounds.
//!
//! A [`Sequence`] runs at growing n. Three figures are held against a bound each: the mean over all operations since the
//! structure was empty, the worst of the measured operations, and the worst in their second half.

mod growth;
mod kva;
mod maple;
mod memory;
mod meter;
mod parts;
mod percpu;
mod pools;
mod rcu;
mod search;
mod sequence;

pub use growth::{Bound, TOLERANCE, exponent};
pub use meter::{Figures, Meter, Unit, work};
pub use search::{Found, climb};
pub use sequence::{Judged, Part, Sequence, judge_string, sequences};
