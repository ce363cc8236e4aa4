//! What an engine of the percpu family is made for.

use freehold::percpu::Config;

/// Chunks, and how they are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The chunks.
    pub config: Config,
    /// Whether work left for later is done at once.
    pub balances: bool,
}
