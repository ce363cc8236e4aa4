//! Statistics of address spaces.

use crate::error::{Failure, check_size};
use freehold::kva::Stats;

/// What a space holds.
#[repr(C)]
pub struct fh_space_stats {
    /// sizeof(fh_space_stats), set by the caller.
    pub size: usize,
    /// Regions.
    pub regions: u64,
    /// Free blocks.
    pub free_blocks: u64,
    /// Bytes in regions, guards and new places of regions that move; UINT64_MAX for more.
    pub busy_bytes: u64,
    /// Free bytes; UINT64_MAX for more.
    pub free_bytes: u64,
    /// Bytes of the largest free block; UINT64_MAX for more.
    pub largest_free_bytes: u64,
    /// Bytes of memory that the space itself takes.
    pub index_bytes: u64,
}

impl fh_space_stats {
    pub(super) fn write(&mut self, stats: &Stats) -> Result<(), Failure> {
        check_size::<Self>(self.size)?;
        let up_to_most = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        *self = Self {
            size: self.size,
            regions: stats.regions as u64,
            free_blocks: stats.free_blocks as u64,
            busy_bytes: up_to_most(stats.busy_bytes),
            free_bytes: up_to_most(stats.free_bytes),
            largest_free_bytes: stats.largest_free_bytes,
            index_bytes: (stats.free_index_bytes + stats.busy_index_bytes) as u64,
        };
        Ok(())
    }
}
