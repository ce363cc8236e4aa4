//! Measuring: answers checked first, then work counted, then time, interleaved over engines.

pub mod bench;
mod check;
mod clock;
mod counted;
mod counts;
mod growth;
pub mod percpu;
pub(crate) mod picture;
mod replay;
mod timed;

pub use check::Checker;
pub use counted::{Bucket, Counted, Fragmentation, count_run};
pub use counts::Counts;
pub use growth::{GrowthPoint, growth};
pub use picture::Picture;
pub use replay::{EngineRun, Replay, measure};
pub use timed::{OpTimes, Timed};
