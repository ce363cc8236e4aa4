//! Allocation of chosen blocks: a free slot that a predicate accepts, or an extent that was freed and not purged.

use super::class::Class;
use super::list::List;
use super::slab::Slab;
use super::word::SlabRef;
use super::{Memory, PooledSpace};
use freehold_sys::fork::Section;
use freehold_units::Span;

/// Slabs that a thread sorts: those to sort, those without ready slots, those with. The thread owns them. Dropped, they
/// are put into its shard's lists, also if `is_ready` panics.
struct Sorted<'a> {
    space: &'a PooledSpace,
    lists: [List; 3],
}

impl Drop for Sorted<'_> {
    fn drop(&mut self) {
        // The shard's list is last in, first out.
        for list in &self.lists {
            list.take_all(&self.space.records).for_each(|id| self.space.put_aside(id));
        }
    }
}

impl PooledSpace {
    /// Takes a free slot for `size_bytes` that `is_ready` accepts, from any slab. This is for a caller that could not
    /// make another slot usable because the system refused. Afterwards slabs with such slots come first in the lists,
    /// and slabs without them last.
    ///
    /// `is_ready` runs in a [section](freehold_sys::fork), so it must not wait for a thread that may fork.
    ///
    /// Cost: a look at every record, and `is_ready` for each free slot of the class at most twice.
    pub fn alloc_ready(&self, size_bytes: u64, mut is_ready: impl FnMut(Span) -> bool) -> Option<Memory> {
        let class = self.class_of(size_bytes).ok()??;
        let _section = Section::enter();
        self.sort_lists(class, &mut is_ready);
        self.with_free_slots(class).find_map(|(name, slab)| {
            let (span, is_resident) =
                slab.claim_ready(name.generation(), self.tracks_residency, &mut is_ready)?;
            Some(Memory { span, is_resident, slab: Some(name) })
        })
    }

    /// Puts slabs with ready slots before those without. No slab is current afterwards, so the next request takes one
    /// from the list.
    fn sort_lists(&self, class: Class, is_ready: &mut impl FnMut(Span) -> bool) {
        for shard in self.shards.here_first() {
            let pool = shard.pool(class);
            let current = pool.exchange(None).map(SlabRef::id);
            let sorted = Sorted { space: self, lists: [List::new(), List::new(), List::new()] };
            let [unsorted, others, ready] = &sorted.lists;
            for id in pool.list.take_all(&self.records).chain(current) {
                unsorted.push(&self.records, id);
            }
            while let Some(id) = unsorted.ids(&self.records).next() {
                let slab = self.records.at(id);
                let (free, layout) = (slab.word().free(), slab.layout());
                let has = (0..u32::BITS).any(|slot| free >> slot & 1 != 0 && is_ready(layout.slot(slot)));
                let to = if has { ready } else { others };
                unsorted.pop(&self.records);
                to.push(&self.records, id);
            }
        }
    }

    /// The slab whose slot contains `address`, held or not; `None` for an extent. It equals the block's
    /// [`Memory::slab`].
    ///
    /// Cost: the page map.
    #[must_use]
    pub fn slab_ref(&self, address: u64) -> Option<SlabRef> {
        let name = self.map.name_at(address)?;
        self.records.at(name.id()).layout().class.is_some().then_some(name)
    }

    /// The name of the extent that starts at `first`, for [`PooledSpace::alloc_extent_again`] after its free.
    ///
    /// Cost: the page map.
    #[must_use]
    pub fn extent_name(&self, first: u64) -> Option<SlabRef> {
        let name = self.map.name_at(first)?;
        self.records.at(name.id()).layout().class.is_none().then_some(name)
    }

    /// Whether [`PooledSpace::alloc_extent_again`] would succeed now. While other threads work, the answer is a hint.
    ///
    /// Cost: constant; it writes nothing.
    #[must_use]
    pub fn is_extent_ready(&self, name: SlabRef) -> bool {
        self.extent(name).is_some_and(|slab| {
            slab.word().is_fast(name.generation()) && slab.word().free() & slab.resident() != 0
        })
    }

    /// Takes an extent that was freed and has not been purged since. `None` if it is held, purged or gone, or the name is
    /// a slab's.
    ///
    /// Cost: one exchange of an atomic word.
    #[must_use]
    pub fn alloc_extent_again(&self, name: SlabRef) -> Option<Memory> {
        let slab = self.extent(name)?;
        // Only a resident one: a decommitted extent is about to be retired.
        let (span, is_resident) = slab.try_claim(name.generation(), true)?;
        Some(Memory { span, is_resident, slab: None })
    }

    /// The record of a name, if it was that of an extent last. Any name is allowed.
    fn extent(&self, name: SlabRef) -> Option<&Slab> {
        self.records.get(name.id()).filter(|slab| slab.layout().class.is_none())
    }
}
