//! The figures of a pooled space.

use super::PooledSpace;
use crate::atomic::Ordering;

/// Figures of a pooled space and of the work of its threads. While other threads work, the figures are of slightly
/// different moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Slabs, of up to 32 slots each.
    pub slabs: u64,
    /// Extents, including those that wait for a purge.
    pub extents: u64,
    /// Blocks that are held.
    pub blocks: u64,
    /// Bytes of held blocks.
    pub held_bytes: u64,
    /// Bytes of free slots, and of extents that wait for a purge.
    pub ready_bytes: u64,
    /// Of these, bytes that may have resident pages.
    pub resident_bytes: u64,
    /// Bytes that purges hold.
    pub purging_bytes: u64,
    /// Bytes that belong to no slab and no extent, and are not set aside.
    pub unused_bytes: u128,
    /// Bytes of memory for records, page map, shards and the core's index.
    pub index_bytes: usize,
    /// Number of times that the core's lock was taken.
    pub core_locks: u64,
    /// Number of these times that a thread waited for the lock.
    pub core_lock_waits: u64,
    /// Allocations that a shard's current slab could not serve.
    pub refills: u64,
    /// Exchanges of a slab's word that were repeated because another thread changed the word first.
    pub retries: u64,
}

impl PooledSpace {
    /// The figures of the space. Cost: a look at every record, and the core's lock.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let core = self.lock();
        let space = core.space.stats();
        let mut stats = Stats {
            unused_bytes: space.free_bytes,
            index_bytes: space.busy_index_bytes
                + self.records.bytes()
                + self.map.bytes()
                + self.shards.bytes(),
            core_locks: core.locks,
            core_lock_waits: self.lock_waits.load(Ordering::Relaxed),
            ..Stats::default()
        };
        for shard in self.shards.here_first() {
            stats.refills += shard.refills.load(Ordering::Relaxed);
            stats.retries += shard.retries.load(Ordering::Relaxed);
        }
        // The lock keeps records from being reused.
        for (_, slab) in self.records.all().filter(|(_, slab)| slab.word().is_live()) {
            let (word, layout) = (slab.word(), slab.layout());
            let claimed = if word.is_purging() { slab.claimed() } else { 0 };
            let bytes = |slots: u32| layout.slot_bytes.saturating_mul(slots.count_ones().into());
            let held = layout.all() & !(word.free() | claimed);
            *if layout.class.is_some() { &mut stats.slabs } else { &mut stats.extents } += 1;
            stats.blocks += u64::from(held.count_ones());
            stats.held_bytes = stats.held_bytes.saturating_add(bytes(held));
            stats.ready_bytes = stats.ready_bytes.saturating_add(bytes(word.free()));
            stats.resident_bytes = stats.resident_bytes.saturating_add(bytes(word.free() & slab.resident()));
            stats.purging_bytes = stats.purging_bytes.saturating_add(bytes(claimed));
        }
        stats
    }
}
