//! Sequences of operations that are built to hurt, and the growth of what they cost held against documented bounds.
//!
//! A [`Sequence`] runs at growing n. Three figures are held against a bound each: the mean over all operations since the
//! structure was empty, the worst of the measured operations, and the worst in their second half.

#[cfg(feature = "program")]
mod growth;
#[cfg(feature = "program")]
mod kva;
#[cfg(feature = "program")]
mod maple;
#[cfg(feature = "program")]
mod memory;
#[cfg(feature = "program")]
mod meter;
#[cfg(feature = "program")]
mod parts;
#[cfg(feature = "program")]
mod percpu;
#[cfg(feature = "program")]
mod pools;
#[cfg(feature = "program")]
mod rcu;
#[cfg(feature = "program")]
mod search;
#[cfg(feature = "program")]
mod sequence;
mod strings;

#[cfg(feature = "program")]
pub use growth::{Bound, TOLERANCE, exponent};
#[cfg(feature = "program")]
pub use meter::{Figures, Meter, Unit, work};
#[cfg(feature = "program")]
pub use search::{Found, climb};
#[cfg(feature = "program")]
pub use sequence::{Judged, Part, Sequence, judge_string, sequences};
pub use strings::{Make, OP_BYTES, SUBJECTS, Strings, Subject, Suffered, play};
