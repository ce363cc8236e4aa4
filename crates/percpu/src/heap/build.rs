//! How a heap is made: its capacity, its mode, its index.

use super::add_mode::{AddMode, Adder};
use super::core_set::CoreSet;
use super::magazine::Magazines;
use super::sync::Mutex;
use super::units::{UNIT_BYTES, Units};
use super::{HeapError, Index, PerCpuHeap};
use freehold_sys::{Reservation, machine, rseq, topology};
use std::sync::Arc;

/// Addresses for each CPU, unless a program says otherwise. Addresses cost nothing until they are used.
pub const DEFAULT_CAPACITY_BYTES: u64 = if cfg!(miri) { MIN_CAPACITY_BYTES } else { 1 << 30 };
/// A chunk.
pub(super) const MIN_CAPACITY_BYTES: u64 = UNIT_BYTES as u64;
/// Places are offsets of 32 bits.
pub(super) const MAX_CAPACITY_BYTES: u64 = 1 << 32;
/// Of what a process may still map, one part in so many is reserved by default.
const SHARE: u64 = 16;

/// Describes a heap.
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
    /// The best mode, by `cpu_id`, with the default capacity. Cost: constant.
    pub fn new() -> Self {
        Self { capacity_bytes: None, mode: None, index: Index::CpuId, cpus: topology::possible_cpus() }
    }

    /// Addresses for each CPU in bytes, a power of two from 256 KiB to 4 GiB: the most that all objects can take. Without
    /// this, [`DEFAULT_CAPACITY_BYTES`], or the largest smaller one of which all units are a sixteenth of what the process may still map
    /// and write to (`RLIMIT_AS`, `RLIMIT_DATA`, `vm.overcommit_memory` 2), and for which the system has addresses;
    /// [`HeapStats::capacity_bytes`](super::HeapStats::capacity_bytes) says which. Cost: constant.
    pub fn capacity(self, bytes: u64) -> Self {
        Self { capacity_bytes: Some(bytes), ..self }
    }

    /// The mode, which must exist here. Without this, the best that does. Cost: constant.
    pub fn add_mode(self, mode: AddMode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// The index of the first two modes. `CpuId`, the default, is faster and puts memory on the CPU's own node; `MmCid` takes
    /// memory for no more CPUs than threads ran at once, which counts where a program may wander over many CPUs.
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
        let memory = Arc::new(memory);
        let units = Units::new(Arc::clone(&memory), capacity_bytes, self.cpus);
        let adder = self.adder(units.stride_bytes())?;
        Ok(PerCpuHeap {
            adder,
            magazines: Magazines::new(self.cpus)?,
            core: Mutex::new(CoreSet::new(&units, capacity_bytes)?),
            units,
        })
    }

    /// The addresses, and how many bytes of them each CPU has.
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
