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
//! A static metric takes its memory from the global heap on first use. A metric that is made at run time frees its
//! memory when it is dropped.
//!
//! An exact read includes every add that happened before it, once, and no add that begins after it (P13). It may
//! include concurrent adds or not.

mod approx;
mod buckets;
mod counter;
mod gauge;
mod histogram;
mod snapshot;
#[cfg(test)]
mod tests;
mod timer;
mod value;

pub use approx::ApproxCounter;
pub use buckets::BUCKETS;
pub(crate) use buckets::bucket_of;
pub use counter::{Counter, LengthsDiffer, snapshot};
pub use gauge::{ApproxGauge, Gauge};
pub use histogram::Histogram;
pub use snapshot::HistogramSnapshot;
pub use timer::Timer;
pub use value::Value;
