//! The figures of a heap, and a check of all its invariants.

use super::PerCpuHeap;
use super::units::UNIT_BYTES;
use freehold_sys::SysError;
use freehold_units::Broken;
use std::collections::BTreeSet;
use std::vec::Vec;

/// Counts of one moment. Bytes of objects are those of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapStats {
    /// Objects that are live, in magazines or set aside.
    pub placed: u64,
    /// Of these, those in magazines, and those set aside by [`PerCpuHeap::prepare`].
    pub kept: u64,
    /// Bytes of all chunks.
    pub chunk_bytes: u64,
    /// Of `chunk_bytes`, bytes without an object.
    pub free_bytes: u64,
    /// Bytes that the heap's maps and lists take.
    pub metadata_bytes: u64,
    /// Number of times that the heap's own lock was taken for objects.
    pub lock_visits: u64,
    /// The most bytes that chunks can take.
    pub capacity_bytes: u64,
}

impl PerCpuHeap {
    /// Counts of this moment. Takes every lock of the heap, one after the other.
    ///
    /// Cost: a step for each place in magazines and the stock, and, under the heap's lock, for each chunk.
    #[must_use]
    pub fn stats(&self) -> HeapStats {
        let kept = self.kept().len() as u64;
        let core = self.lock();
        let stats = core.stats();
        HeapStats {
            placed: stats.objects,
            kept,
            chunk_bytes: u64::from(stats.chunks) * u64::from(UNIT_BYTES),
            free_bytes: stats.free_bytes,
            metadata_bytes: stats.metadata_bytes as u64,
            lock_visits: core.visits,
            capacity_bytes: self.units.capacity_bytes(),
        }
    }

    /// Bytes of memory behind each unit: those of CPUs, then the overflow unit, then that of batches.
    ///
    /// Cost: system calls that pass every page of the heap's capacity in each unit, under the heap's lock.
    ///
    /// # Errors
    /// The system does not report which pages have memory.
    pub fn resident_bytes(&self) -> Result<Vec<u64>, SysError> {
        let core = self.lock();
        let unit_bytes =
            |unit| core.reservation().resident_bytes(self.units.range(unit, 0..self.units.stride_bytes()));
        (0..self.units.count()).map(unit_bytes).collect()
    }

    /// The places of magazines and of the stock.
    fn kept(&self) -> Vec<u32> {
        let mut kept = self.magazines.kept();
        kept.extend(self.stock.kept());
        kept
    }

    /// Checks the set of chunks, and that each place is in at most one magazine or in the stock (P12). No other thread may use the heap
    /// meanwhile.
    ///
    /// Cost: linear in the bits of all chunks.
    ///
    /// # Errors
    /// The first invariant that fails.
    pub fn validate(&self) -> Result<(), Broken> {
        let kept = self.kept();
        let once: BTreeSet<u32> = kept.iter().copied().collect();
        freehold_units::check(
            once.len() == kept.len(),
            "P12",
            "magazines and the stock keep a place once",
            0,
        )?;
        let core = self.lock();
        for place in once {
            freehold_units::check(core.is_live(place), "P12", "a kept place is not free", u64::from(place))?;
        }
        core.validate()
    }
}
