//! Running: answers checked first, then work counted, then time, interleaved over engines; and the records of it.

pub mod bench;
mod calls;
pub(crate) mod clock;
pub mod cold;
mod counted;
mod demand;
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
mod zone;

pub use calls::{CallCounts, Calls};
pub use counted::{Bucket, Counted};
pub use demand::Demand;
pub(crate) use demand::{add_demand, add_sizes};
pub use options::Options;
pub use recorded::Recorded;
pub use replay::{EngineRun, Replay, measure};
pub use report::add_replay;
pub(crate) use report::{describe, key, tell};
pub use samples::{Cost, Spread, Sum};
pub(crate) use seen::of_family;
pub use seen::{Fragmentation, Replayable, StateLine, record_pages};
pub use sheet::{Line, Sheet, median};
pub use timed::{OpTimes, Timed};
pub use zone::{LOAD_PERCENT, Left, Way, Zone, ZoneRun, Zones};
