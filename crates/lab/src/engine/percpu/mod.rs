//! The engines of the percpu family: ours and its predecessor, behind one trait and in one list.

mod chunk_set;
mod floor;
mod list;
mod session;

pub use chunk_set::{ChunkSetEngine, Limited};
pub use floor::Floor;
pub use list::{ENGINES, EngineEntry, FLOOR, Make, PercpuFacts};
pub use session::{Scene, Session};
