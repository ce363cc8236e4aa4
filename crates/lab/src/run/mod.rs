//! Running: answers checked first, then work counted, then time, interleaved over engines; and the records of it.

pub mod bench;
mod clock;
mod counted;
mod demand;
mod glitch;
mod growth;
pub mod instructions;
pub mod maple;
pub mod percpu;
mod replay;
mod report;
mod sampled;
pub mod seen;
mod sheet;
pub mod stress;
mod timed;
mod turns;
pub mod vma;
mod zone;

pub use clock::{Interruptions, interruptions};
pub use counted::{Bucket, Counted, count_run};
pub use demand::Demand;
pub(crate) use demand::{add_demand, add_sizes};
pub use glitch::{Budget, Cost, Glitches, ns_per_work};
pub use growth::{GrowthPoint, growth};
pub use replay::{EngineRun, FloorRun, Replay, measure};
pub use report::add_replay;
pub(crate) use report::{describe, key};
pub use sampled::{Sample, Sampled, SampledRun, Sampling, Spread, Stretch, Sum, Total};
pub use seen::{Replayable, Seen, State, StateLine, Watch, record_pages};
pub use sheet::{Line, Sheet};
pub use timed::{OpTimes, Timed};
pub use turns::median;
pub use zone::{FULL_PERCENT, Left, Way, Zone, ZoneRun, Zones};
