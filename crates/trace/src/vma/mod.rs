//! The family of process address spaces: recorded system calls and what the kernel did besides, `*.vma.csv`, as operations on
//! spaces that are kept in any map of ranges.
//!
//! ```text
//!   events, mt -> recording: Op -> driver (Spaces) -> space -> AreaMap          listed   /proc/PID/maps, to hold areas against
//! ```

mod driver;
mod events;
mod kind;
mod listed;
mod op;
mod recording;
mod rows;
mod space;
#[cfg(test)]
mod tests;
mod trees;

pub use driver::{Footprint, Session, Spaces};
pub use events::{Action, Backing, Errno, Event, Events, Mapping, MappingSource, Outcome};
pub use kind::{Change, Kind, Kinds, Shown};
pub use listed::{Difference, Listed, compare, read_maps};
pub use op::{Answer, Call, Caller, Fault, Op, contradictions};
pub use recording::Recording;
pub use space::{AddressSpace, AreaMap, Nodes};
pub use trees::tree_call;
