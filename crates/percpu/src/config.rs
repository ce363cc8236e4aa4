//! The layout of a set of chunks.

use crate::ConfigError;
use crate::geometry::{BIT_BYTES, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};

/// The policy of populating and depopulating pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Population {
    /// A page is populated when an object first needs it. Balancing depopulates pages of chunks with many empty ones.
    #[default]
    OnDemand,
    /// A chunk has all its memory from the start, and is released as a whole (Linux without an MMU or with one CPU:
    /// `percpu-km`).
    Whole,
}

/// The layout of a set of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Bytes of a unit: whole pages, from [`MIN_UNIT_BYTES`] to [`MAX_UNIT_BYTES`].
    pub unit_bytes: u32,
    /// Number of CPUs, and so of units in each chunk; at least 1.
    pub cpus: u32,
    /// The policy of populating pages.
    pub population: Population,
}

impl Config {
    /// Units of `unit_bytes` for `cpus` CPUs, populated on demand. Cost: constant.
    #[must_use]
    pub const fn new(unit_bytes: u32, cpus: u32) -> Self {
        Self { unit_bytes, cpus, population: Population::OnDemand }
    }

    /// The configuration with another population policy. Cost: constant.
    #[must_use]
    pub const fn population(self, population: Population) -> Self {
        Self { population, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let unit_bytes = self.unit_bytes;
        if !(MIN_UNIT_BYTES..=MAX_UNIT_BYTES).contains(&unit_bytes) || !unit_bytes.is_multiple_of(PAGE_BYTES)
        {
            return Err(ConfigError::UnitBytes { unit_bytes });
        }
        if self.cpus == 0 { Err(ConfigError::NoCpus) } else { Ok(()) }
    }

    /// Bits of a unit. Cost: constant.
    pub fn bits(&self) -> u32 {
        self.unit_bytes / BIT_BYTES
    }

    /// Blocks, which are pages, of a unit. Cost: constant.
    pub fn blocks(&self) -> u32 {
        self.unit_bytes / PAGE_BYTES
    }
}
