//! Running: answers checked first, then work counted, then time, interleaved over engines; and the records of it.

pub mod bench;
pub(crate) mod clock;
mod counted;
mod demand;
mod glitch;
pub mod instructions;
pub mod maple;
mod options;
pub mod percpu;
pub mod plan;
mod recorded;
mod replay;
mod report;
mod samples;
pub mod seen;
mod sheet;
pub mod stress;
mod timed;
pub mod vma;
mod zone;

pub use clock::{Interruptions, interruptions};
pub use counted::{Bucket, Counted};
pub use demand::Demand;
pub(crate) use demand::{add_demand, add_sizes};
pub use glitch::{Budget, Cost, Glitches, ns_per_work};
pub use options::Options;
pub use recorded::Recorded;
pub use replay::{EngineRun, Replay, measure};
pub use report::add_replay;
pub(crate) use report::{describe, key, tell};
pub use samples::{Spread, Sum};
pub(crate) use seen::of_family;
pub use seen::{Fragmentation, Replayable, StateLine, record_pages};
pub use sheet::{Line, Sheet, median};
pub use timed::{OpTimes, Timed};
pub use zone::{FULL_PERCENT, Left, Way, Zone, ZoneRun, Zones};
