//! The builder of a heap: its capacity, its mode, its index.

use super::add_mode::{AddMode, Adder};
use super::core_set::CoreSet;
use super::magazine::Magazines;
use super::stock::Stock;
use super::sync::Mutex;
use super::units::{UNIT_BYTES, UnitMemory, Units};
use super::{HeapError, Index, PerCpuHeap};
use freehold_sys::{Reservation, machine, rseq, topology};

/// The default size of the addresses for each CPU. Addresses cost nothing until they are used.
pub const DEFAULT_CAPACITY_BYTES: u64 = if cfg!(miri) { MIN_CAPACITY_BYTES } else { 1 << 30 };
/// The size of one chunk.
pub(super) const MIN_CAPACITY_BYTES: u64 = UNIT_BYTES as u64;
/// The limit of places, which are 32-bit offsets.
pub(super) const MAX_CAPACITY_BYTES: u64 = 1 << 32;
/// By default a heap reserves at most one part in this many of what the process may still map.
const SHARE: u64 = 16;

/// The builder of a heap.
#[derive(Clone, Copy, Debug)]
#[must_use = "a description makes no heap"]
pub struct Builder {
    capacity_bytes: Option<u64>,
    mode: Option<AddMode>,
    index: Index,
    cpus: u32,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A heap with the best mode, indexed by `cpu_id`, with the default capacity. Cost: constant.
    pub fn new() -> Self {
        Self { capacity_bytes: None, mode: None, index: Index::CpuId, cpus: topology::possible_cpus() }
    }

    /// Sets the addresses for each CPU in bytes, a power of two from 256 KiB to 4 GiB. They limit the size of all
    /// objects together. The default is [`DEFAULT_CAPACITY_BYTES`], reduced until two conditions hold: all units
    /// together take at most a sixteenth of what the process may still map and write to (`RLIMIT_AS`, `RLIMIT_DATA`,
    /// `vm.overcommit_memory` 2), and the system has the addresses.
    /// [`HeapStats::capacity_bytes`](super::HeapStats::capacity_bytes) returns the result. Cost: constant.
    pub fn capacity(self, bytes: u64) -> Self {
        Self { capacity_bytes: Some(bytes), ..self }
    }

    /// Sets the mode, which this machine must support. The default is the best supported one. Cost: constant.
    pub fn add_mode(self, mode: AddMode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// Sets the index of the first two modes. `CpuId`, the default, is faster and puts memory on the CPU's own node.
    /// `MmCid` takes memory for no more CPUs than threads ran at once, which matters if a program moves over many CPUs.
    ///
    /// Cost: constant.
    pub fn index(self, index: Index) -> Self {
        Self { index, ..self }
    }

    /// Makes the heap. Cost: a few system calls, and a step for each CPU up to 64.
    ///
    /// # Errors
    /// See [`HeapError`].
    pub fn build(self) -> Result<PerCpuHeap, HeapError> {
        let (memory, capacity_bytes) = self.reserve()?;
        let units = Units::new(&memory, capacity_bytes, self.cpus);
        let adder = self.adder(units.stride_bytes())?;
        Ok(PerCpuHeap {
            adder,
            magazines: Magazines::new(self.cpus)?,
            stock: Stock::new(),
            core: Mutex::new(CoreSet::new(UnitMemory::new(memory, units, capacity_bytes), units.count())?),
            units,
        })
    }

    /// Reserves the addresses. Returns them and the capacity of each CPU in bytes.
    fn reserve(&self) -> Result<(Reservation, u64), HeapError> {
        let mut capacity_bytes = self.capacity_bytes.unwrap_or(DEFAULT_CAPACITY_BYTES);
        let valid = MIN_CAPACITY_BYTES..=MAX_CAPACITY_BYTES;
        if !capacity_bytes.is_power_of_two() || !valid.contains(&capacity_bytes) {
            return Err(HeapError::Capacity { capacity_bytes });
        }
        let reserved = |capacity_bytes| Units::reserved_bytes(capacity_bytes, self.cpus);
        let may_shrink =
            |capacity_bytes| self.capacity_bytes.is_none() && capacity_bytes > MIN_CAPACITY_BYTES;
        if let Some(most) = may_shrink(capacity_bytes).then(machine::reservable_bytes).flatten() {
            while may_shrink(capacity_bytes) && reserved(capacity_bytes) as u64 > most / SHARE {
                capacity_bytes /= 2;
            }
        }
        loop {
            match Reservation::new(reserved(capacity_bytes)) {
                Ok(memory) => return Ok((memory, capacity_bytes)),
                Err(_) if may_shrink(capacity_bytes) => capacity_bytes /= 2,
                Err(error) => {
                    let reserve_bytes = reserved(capacity_bytes) as u64;
                    return Err(HeapError::Reserve { reserve_bytes, capacity_bytes, error });
                }
            }
        }
    }

    fn adder(&self, stride_bytes: usize) -> Result<Adder, HeapError> {
        let on = |mode, sequence| Ok(Adder::new(mode, sequence, self.cpus, stride_bytes));
        if self.mode == Some(AddMode::Sticky) {
            return on(AddMode::Sticky, rseq::Sequence::absent());
        }
        let found = match rseq::detect() {
            Ok(found) => found,
            Err(_) if self.mode.is_none() => return on(AddMode::Sticky, rseq::Sequence::absent()),
            Err(absent) => return Err(HeapError::AddMode { absent }),
        };
        let sequence = rseq::Sequence::new(found, self.index, self.cpus, stride_bytes);
        let sequence = sequence.ok_or(HeapError::Index { index: self.index })?;
        on(self.mode.unwrap_or(AddMode::Sequence), sequence)
    }
}
