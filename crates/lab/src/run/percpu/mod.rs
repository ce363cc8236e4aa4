//! Measuring the percpu family: every placement checked before anything is timed, engines in turn.

mod bench;
mod churn;
mod fill;
mod holes;
mod mass_free;
mod pages;
mod watch;

pub use bench::Bench;
pub use churn::{ChurnRun, churn};
pub use fill::{FillRun, fill};
pub use holes::{DeletionRun, StaleHintRun, deletion, stale_hint};
pub use mass_free::{FIRST, MassFreeRun, mass_free};
pub use pages::{Pages, over_operations};
pub use watch::{ChunkSeen, LOOKS, Look, Watched, watch_churn, watch_deletion, watch_stale_hint};
