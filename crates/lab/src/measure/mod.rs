//! Measuring: answers checked first, then work counted, then time, interleaved over engines.

pub mod bench;
mod check;
mod clock;
mod counted;
mod counts;
mod demand;
mod figures;
mod fragmentation;
mod glitch;
mod growth;
pub mod instructions;
pub mod maple;
pub mod percpu;
pub(crate) mod picture;
mod replay;
mod sampled;
pub mod stress;
mod timed;
pub mod vma;
mod zone;

pub use check::Checker;
pub use clock::{Interruptions, interruptions};
pub use counted::{Bucket, Counted, count_run};
pub use counts::Counts;
pub use demand::{Demand, WINDOWS_NS};
pub use figures::median;
pub use fragmentation::Fragmentation;
pub use glitch::{Budget, Cost, Glitches, ns_per_work};
pub use growth::{GrowthPoint, growth};
pub use picture::Picture;
pub use replay::{EngineRun, FloorRun, Replay, measure};
pub use sampled::{Piece, Sample, Sampled, SampledRun, Sampling, Source, Spread, Stretch, Sum, Total};
pub use timed::{OpTimes, Timed};
pub use zone::{FULL_PERCENT, Left, Way, Zone, ZoneRun, Zones};
