//! Shards: for each CPU and class, the current slab and a list of other slabs with free slots.

use super::class::{CLASSES, Class};
use super::list::List;
use super::word::SlabRef;
use crate::OutOfMemory;
use crate::atomic::{AtomicU64, Ordering, drawn_cpu};
use freehold_sys::rseq::{self, Index, Sequence};
use freehold_sys::{thread_slot, topology};
use std::boxed::Box;
use std::vec::Vec;

/// The most shards. CPUs beyond that many share them.
const MAX_SHARDS: u32 = 64;

/// The slabs of one class in a shard.
#[derive(Debug)]
pub(super) struct Pool {
    /// The name of the current slab, which the shard owns and takes slots from; 0 for none.
    current: AtomicU64,
    /// Other slabs with free slots.
    pub(super) list: List,
}

impl Pool {
    /// Acquire: pairs with the Release of `exchange`.
    #[inline]
    pub(super) fn current(&self) -> Option<SlabRef> {
        SlabRef::from_bits(self.current.load(Ordering::Acquire))
    }

    /// Replaces the current slab by one that the caller owns, or by none. The caller then owns the returned slab.
    pub(super) fn exchange(&self, name: Option<SlabRef>) -> Option<SlabRef> {
        SlabRef::from_bits(self.current.swap(SlabRef::to_bits(name), Ordering::AcqRel))
    }
}

/// The pools of one CPU, on cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Shard {
    pools: [Pool; CLASSES],
    /// Allocations that the current slab could not serve.
    pub(super) refills: AtomicU64,
    /// Repeated exchanges of words.
    pub(super) retries: AtomicU64,
}

impl Shard {
    fn new() -> Self {
        let pool = || Pool { current: AtomicU64::new(0), list: List::new() };
        Self {
            pools: std::array::from_fn(|_| pool()),
            refills: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(super) fn pool(&self, class: Class) -> &Pool {
        &self.pools[class.number()]
    }
}

/// All shards, and how a thread finds its own.
#[derive(Debug)]
pub(super) struct Shards {
    shards: Box<[Shard]>,
    /// Source of the current CPU's number. Disabled if the kernel or the C library does not provide it.
    sequence: Sequence,
}

impl Shards {
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        let cpus = if cfg!(shuttle) { 2 } else { topology::possible_cpus() };
        let count = cpus.clamp(1, MAX_SHARDS).next_power_of_two() as usize;
        let mut shards = Vec::new();
        shards.try_reserve_exact(count)?;
        shards.resize_with(count, Shard::new);
        let found = rseq::detect().ok().and_then(|found| Sequence::new(found, Index::CpuId, cpus, 0));
        Ok(Self { shards: shards.into_boxed_slice(), sequence: found.unwrap_or(Sequence::absent()) })
    }

    /// The number of this thread's shard: its CPU's, or one that stays with the thread. It is only a hint: any shard is
    /// correct.
    #[inline]
    fn number(&self) -> usize {
        let number = drawn_cpu().or_else(|| self.sequence.index()).unwrap_or_else(thread_slot::number);
        // The count is a power of two.
        number as usize & (self.shards.len() - 1)
    }

    #[inline]
    pub(super) fn here(&self) -> &Shard {
        &self.shards[self.number()]
    }

    /// All shards, this thread's first.
    pub(super) fn here_first(&self) -> impl Iterator<Item = &Shard> {
        let (before, from) = self.shards.split_at(self.number());
        from.iter().chain(before)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.shards)
    }
}
