//! Measuring the percpu family: every placement checked before anything is timed, engines in turn.

mod check;
mod churn;
mod fill;
mod holes;
mod pages;

pub use check::Objects;
pub use churn::{ChurnRun, churn};
pub use fill::{FillRun, fill};
pub use holes::{DeletionRun, StaleHintRun, deletion, stale_hint};
pub use pages::{Pages, over_operations};
