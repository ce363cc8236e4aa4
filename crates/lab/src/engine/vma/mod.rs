//! Address spaces of processes at work: what calls do to them, and maps of areas, behind one trait and in one list.

mod driver;
mod kind;
mod list;
mod maps;
mod op;
mod session;
mod space;

pub use crate::engine::maple::{AskAs, PlannedRanges};
pub use driver::{Footprint, Spaces};
pub use kind::{Change, Class, Kind, Kinds, Shown};
pub use list::{ENGINES, EngineEntry, Make, SpacesFacts};
pub use op::{Answer, Call, Caller, Fault, Op, contradictions};
pub use session::Session;
pub use space::{AddressSpace, AreaMap, Nodes};

/// What engines are made for.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// What areas are when they come.
    pub kinds: Kinds,
}
