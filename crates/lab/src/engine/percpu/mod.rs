//! The engines of the percpu family: ours and its predecessor, behind one trait and in one list.

mod chunk_set;
mod list;

pub use chunk_set::{ChunkSetEngine, Limited};
pub use list::{ENGINES, EngineEntry, FLOOR, Make, PercpuFacts};

use freehold::percpu::Config;

/// Chunks, and how they are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The chunks.
    pub config: Config,
    /// Whether work left for later is done at once.
    pub balances: bool,
}
