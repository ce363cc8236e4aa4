//! A set of chunks with one owner: hands out objects that exist once per CPU.

mod alloc;
mod backing;
mod balance;
mod free;
mod isolate;
mod populate;
mod run;
mod stats;
#[cfg(test)]
mod tests;
mod trim;
mod validate;

use crate::config::Config;
use crate::first_fit::FirstFit;
use crate::geometry::BIT_BYTES;
use crate::placement::ChunkLists;
use crate::placement::Chunks;
use crate::placement::Placement;
use crate::{ConfigError, FreeError, Offset};

pub use backing::Backing;
pub use stats::{ChunkView, Stats};

/// Hands out objects that exist once per CPU, at the same offset in every unit of a chunk.
///
/// `P` chooses the places of objects. `B` supplies the memory; with `()` there is none, and the set only hands out
/// offsets.
///
/// # Invariants
/// - P1: each chunk is on one list.
/// - P2: objects are disjoint, and the map has their starts and ends.
/// - P5: an object's pages have memory.
/// - P6: the counts of free bits, objects and pages are exact.
///
/// # Cost
/// The cost of the placement, plus a constant, plus the population of a page when it is first used.
#[derive(Clone, Debug)]
pub struct ChunkSet<P: Placement = FirstFit, B: Backing = ()> {
    config: Config,
    pub(crate) chunks: Chunks<P>,
    backing: B,
    /// Number of live objects.
    objects: u64,
    /// Number of populated pages of a unit, over all chunks.
    populated_pages: u64,
    /// Whether a request that could not wait was refused since the last balancing.
    atomic_failed: bool,
    /// Whether [`ChunkSet::balance`] has work to do.
    balance_wanted: bool,
}

impl<P: Placement> ChunkSet<P> {
    /// A set without chunks and without memory behind them. Cost: constant.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::with_backing(config, ())
    }
}

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// A set without chunks, whose memory comes from `backing`. Cost: constant.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn with_backing(config: Config, backing: B) -> Result<Self, ConfigError> {
        config.check()?;
        let chunks = Chunks::new(ChunkLists::new(P::list_count(&config))?, config.bits());
        Ok(Self {
            config,
            chunks,
            backing,
            objects: 0,
            populated_pages: 0,
            atomic_failed: false,
            balance_wanted: false,
        })
    }

    /// The layout of the set. Cost: constant.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The source of the set's memory. Cost: constant.
    #[must_use]
    pub fn backing(&self) -> &B {
        &self.backing
    }

    /// The number of live objects. Cost: constant.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.objects
    }

    /// Whether the set has no objects. Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects == 0
    }

    /// Whether [`ChunkSet::balance`] has work to do. Cost: constant.
    #[must_use]
    pub fn wants_balance(&self) -> bool {
        self.balance_wanted
    }

    /// Bytes that the object at `offset` takes in each unit. Cost: a step for every 256 bytes of the object.
    ///
    /// # Errors
    /// No object starts at `offset`, for the reasons of [`ChunkSet::free`].
    pub fn taken_bytes(&self, offset: Offset) -> Result<u32, FreeError> {
        let object = self.chunks.find(offset.chunk)?.object_at(offset)?;
        Ok((object.end - object.start) * BIT_BYTES)
    }
}
