//! How a set of chunks is laid out.

use crate::ConfigError;
use crate::geometry::{BIT_BYTES, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};

/// When pages get memory, and when they give it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Population {
    /// A page gets memory when an object first needs it. Balancing takes it back from chunks with many empty pages.
    #[default]
    OnDemand,
    /// A chunk has all its memory from the start, and gives it back as a whole (Linux without an MMU or with one
    /// CPU: `percpu-km`).
    Whole,
}

/// How a set of chunks is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Bytes of a chunk for each CPU: whole pages, from [`MIN_UNIT_BYTES`] to [`MAX_UNIT_BYTES`].
    pub unit_bytes: u32,
    /// CPUs that each chunk has a unit for, at least 1.
    pub cpus: u32,
    /// When pages get memory.
    pub population: Population,
}

impl Config {
    /// Units of `unit_bytes` for `cpus` CPUs, populated on demand. Cost: constant.
    #[must_use]
    pub const fn new(unit_bytes: u32, cpus: u32) -> Self {
        Self { unit_bytes, cpus, population: Population::OnDemand }
    }

    /// The same, with another way to populate pages. Cost: constant.
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
