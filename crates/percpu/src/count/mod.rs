//! Counters, gauges and histograms in per-CPU memory: an add touches the CPU's own slot only.
//!
//! | | An add | A read |
//! |---|---|---|
//! | [`Counter`] | one slot | the slots of all CPUs, exact |
//! | [`ApproxCounter`] | one slot; once a batch, a shared one | one load, short by a stated bound; or exact |
//! | [`Gauge`], [`ApproxGauge`] | a counter of what went up, or of what went down | the difference |
//! | [`Histogram`] | two slots | all buckets |
//! | [`Value`] | an atomic that all CPUs share | one load |
//!
//! A static one has its memory from the global heap when it is first used; one that is made at run time gives its memory
//! back when it is dropped.
//!
//! Exact means: every add that happened before the read is in it, once, and none that begins after it (P13). Adds on
//! their way may be in it or not.

mod approx;
mod counter;
mod gauge;
mod histogram;
#[cfg(test)]
mod tests;
mod value;

pub use approx::ApproxCounter;
pub use counter::{Counter, LengthsDiffer, snapshot};
pub use gauge::{ApproxGauge, Gauge};
pub use histogram::{BUCKETS, Histogram, HistogramSnapshot};
pub use value::Value;
