//! Checks the whole space from scratch.

use super::PooledSpace;
use super::class::Class;
use super::core::ASIDE;
use super::core::Core;
use super::slab::Slab;
use super::word::SlabRef;
use crate::atomic::Ordering;
use freehold_units::{Broken, Span, check};

/// What has named a record. Records are marked, so that a validation needs no list of them.
#[repr(u32)]
pub(super) enum Mark {
    Nobody,
    /// A shard, or a list of one.
    Shard,
    /// The numbers that the core can use again.
    Unused,
}

impl Slab {
    /// Marks the record; false if it has a mark.
    fn set_mark(&self, mark: Mark) -> bool {
        // Relaxed, here and below: the core's lock orders validations.
        self.mark.swap(mark as u32, Ordering::Relaxed) == Mark::Nobody as u32
    }

    fn has_mark(&self, mark: Mark) -> bool {
        self.mark.load(Ordering::Relaxed) == mark as u32
    }
}

impl PooledSpace {
    /// Checks every invariant of the space, and those of its core. Other threads must not use the space meanwhile: an
    /// operation in progress may be reported as broken. Cost: linear in the records and in the addresses that are
    /// taken.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        let core = self.lock();
        core.space.validate()?;
        for (_, slab) in self.records.all() {
            slab.mark.store(Mark::Nobody as u32, Ordering::Relaxed);
        }
        self.check_owners()?;
        for region in core.space.regions().filter(|region| *region.value() != ASIDE) {
            self.check_region(region.span(), *region.value())?;
        }
        for (address, name) in self.map.named() {
            let region = core.space.region_at(address);
            let same = region.is_some_and(|region| *region.value() == name.id());
            check(same, "S1", "a cell names what the core has there", address)?;
        }
        self.check_ids(&core)
    }

    /// Checks the region of a slab or an extent.
    fn check_region(&self, region: Span, id: u32) -> Result<(), Broken> {
        let base = region.first();
        let slab = self.records.at(id);
        let (word, layout) = (slab.word(), slab.layout());
        check(
            word.is_live() && layout.base == base,
            "S1",
            "a region of the core is that of a live record",
            base,
        )?;
        let ends = match layout.class {
            Some(class) => {
                let whole = u128::from(layout.slot_bytes) * u128::from(class.slots()) == region.size_bytes();
                whole && layout.slot_bytes == self.slot_bytes(class)
            }
            None => region.covers(layout.slot(0)) && self.granule.divides(layout.slot_bytes),
        };
        check(ends, "S1", "slots are of the class's size and fill the region", base)?;
        let name = SlabRef::new(word.generation(), id);
        check(self.map.all_have(region, name), "S1", "the cells of a region name its record", base)?;
        check_slots(slab, self.tracks_residency)?;
        let own = layout.class.is_none() || word.is_owned() == slab.has_mark(Mark::Shard);
        check(own, "S5", "an owned slab is a shard's current one or in a list", base)
    }

    /// Marks the slabs of shards and lists; checks that each occurs once.
    fn check_owners(&self) -> Result<(), Broken> {
        for shard in self.shards.here_first() {
            for class in Class::all() {
                let pool = shard.pool(class);
                let current = pool.current();
                if let Some(current) = current {
                    let same = self.records.at(current.id()).word().generation() == current.generation();
                    check(same, "S5", "a shard's current slab is live", current.id().into())?;
                }
                for id in pool.list.ids(&self.records).chain(current.map(SlabRef::id)) {
                    let slab = self.records.at(id);
                    let fits = slab.word().is_live() && slab.layout().class == Some(class);
                    check(fits, "S5", "what a list has is a slab of its class", id.into())?;
                    check(slab.set_mark(Mark::Shard), "S5", "a slab has one owner", id.into())?;
                }
            }
        }
        Ok(())
    }

    /// Checks that each number belongs to a region, is unused, or has used up its generations.
    fn check_ids(&self, core: &Core) -> Result<(), Broken> {
        for &id in core.unused_ids() {
            check(
                self.records.at(id).set_mark(Mark::Unused),
                "S4",
                "a number is unused once, and no slab's",
                id.into(),
            )?;
        }
        let mut used = 0;
        for (id, slab) in self.records.all() {
            let is_unused = !core.was_used(id) || slab.has_mark(Mark::Unused);
            used += usize::from(slab.word().is_live());
            let known = is_unused || slab.word().is_live() || !slab.is_reusable();
            check(known, "S4", "a record without slab can be used again, or is used up", id.into())?;
            check(!is_unused || !slab.word().is_live(), "S4", "no unused record has a slab", id.into())?;
        }
        check(used + core.aside == core.space.len(), "S1", "each live record has a region of the core", 0)
    }
}

fn check_slots(slab: &Slab, tracks_residency: bool) -> Result<(), Broken> {
    let (word, layout) = (slab.word(), slab.layout());
    let claimed = if word.is_purging() { slab.claimed() } else { 0 };
    let base = layout.base;
    check(word.free() & claimed == 0, "S2", "no free slot is held by a purge", base)?;
    check((word.free() | claimed) & !layout.all() == 0, "S2", "free slots are slots", base)?;
    check(!word.is_purging() || claimed != 0, "S2", "a purge of a slab holds slots of it", base)?;
    let held = layout.all() & !(word.free() | claimed);
    let resident = if tracks_residency { held | claimed } else { 0 };
    let (now, populated) = (slab.resident(), slab.populated());
    check(now & resident == resident, "S3", "held slots are resident", base)?;
    check(populated & !now == 0, "S3", "populated slots are resident", base)?;
    check(tracks_residency || now == 0, "S3", "nothing is resident where no memory is", base)
}
