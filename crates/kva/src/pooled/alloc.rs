//! Allocation: a slot of the shard's current slab, else of a slab from a list or the core; and extents.

use super::cells::Cells;
use super::class::{Class, LIST_AT};
use super::core::Core;
use super::slab::{Layout, Slab};
use super::word::SlabRef;
use super::{Memory, PooledSpace};
use crate::atomic::{MutexGuard, Ordering};
use crate::{AllocError, Request};
use freehold_sys::fork::{Held, Section};
use freehold_units::{Align, Span};

impl PooledSpace {
    /// Takes `size_bytes` anywhere. The block may be larger, and all of it is the caller's: up to 256 granules it is a
    /// slot, rounded up to a size class, of which there are four for each doubling. Where the core has no space for
    /// another slab, it may be an extent of exactly `size_bytes`.
    ///
    /// # Errors
    /// As [`PooledSpace::alloc_request`].
    ///
    /// # Cost
    /// One exchange of an atomic word. At most one call in 8 takes another slab from a list, and the core's lock if no
    /// list has one. Slots of more than 16 granules do so more often, as a slab has fewer: one call in a quarter of these,
    /// and each call from 65 granules on, or where the core has no space for another slab. More than 256 granules take the
    /// lock. A refusal for lack of space looks at every record.
    #[inline]
    pub fn alloc(&self, size_bytes: u64) -> Result<Span, AllocError> {
        self.alloc_memory(size_bytes).map(|memory| memory.span)
    }

    /// As [`PooledSpace::alloc`], and also returns whether the block may have pages.
    ///
    /// Cost: as [`PooledSpace::alloc`].
    ///
    /// # Errors
    /// As [`PooledSpace::alloc_request`].
    #[inline]
    pub fn alloc_memory(&self, size_bytes: u64) -> Result<Memory, AllocError> {
        match self.class_of(size_bytes)? {
            Some(class) => self.alloc_slot(class, size_bytes),
            None => self.alloc_extent(&Request::new(size_bytes)),
        }
    }

    /// A resident slot, if the shard's current slab has one: the fast path. `None` is not a refusal: call
    /// [`PooledSpace::alloc_memory`].
    ///
    /// Cost: constant: at most one exchange of an atomic word, two if a purge took the slot's pages first.
    #[inline]
    #[must_use]
    pub fn alloc_resident(&self, size_bytes: u64) -> Option<(Span, SlabRef)> {
        let class = self.class_of(size_bytes).ok()?.filter(|_| self.tracks_residency)?;
        let name = self.shards.here().pool(class).current()?;
        let (span, is_resident) = self.records.at(name.id()).try_claim(name.generation(), true)?;
        if is_resident { Some((span, name)) } else { self.not_resident(span.first()) }
    }

    /// Frees a slot whose pages a purge took before the claim. If a stale free of its address has freed it already, it
    /// is free.
    #[cold]
    fn not_resident(&self, first: u64) -> Option<(Span, SlabRef)> {
        let _ = self.free_decommitted(first);
        None
    }

    /// The size of the slot that a request of `size_bytes` gets, or `size_bytes` itself if no slot is so large. The block
    /// is smaller where the core has no space for another slab ([`PooledSpace::alloc`]). Meaningless for a size that is
    /// refused: 0, or no multiple of the granule.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    #[doc(alias = "malloc_good_size")]
    pub fn block_bytes(&self, size_bytes: u64) -> u64 {
        let granules = (size_bytes >> self.shift).max(1);
        Class::of(granules).map_or(granules, |class| class.granules().into()) << self.shift
    }

    /// Takes a range for `request`. A request that no slot can serve gets an extent: a region of its own, at a multiple
    /// of 16 granules and exactly as long as requested.
    ///
    /// Cost: a slot costs what it does in [`PooledSpace::alloc`]. An extent takes the core's lock,
    /// [`AddressSpace::alloc`](crate::AddressSpace::alloc) there, and a word of the page map for each 16 granules. A
    /// refusal for lack of space looks at every record.
    ///
    /// # Errors
    /// See [`AllocError`]; its sizes are those of the core, multiples of 16 granules. Nothing was changed, except that
    /// slabs without a block may have returned to the core.
    pub fn alloc_request(&self, request: &Request) -> Result<Span, AllocError> {
        self.alloc_memory_request(request).map(|memory| memory.span)
    }

    /// As [`PooledSpace::alloc_request`], and also returns whether the block may have pages.
    ///
    /// Cost: as [`PooledSpace::alloc_request`].
    ///
    /// # Errors
    /// As [`PooledSpace::alloc_request`].
    pub fn alloc_memory_request(&self, request: &Request) -> Result<Memory, AllocError> {
        let class = self.class_of(request.size_bytes)?;
        let align_bytes = request.align_bytes;
        let align = Align::new(align_bytes).ok_or(AllocError::NotPowerOfTwo { align_bytes })?;
        let anywhere = request.window.covers(self.span) && request.guard_bytes == 0;
        match class {
            // Slabs start at multiples of a cell.
            Some(class) if anywhere && align <= self.cell && align.divides(self.slot_bytes(class)) => {
                self.alloc_slot(class, request.size_bytes)
            }
            _ => self.alloc_extent(request),
        }
    }

    /// The class of a size; `None` if no class is so large.
    #[inline]
    pub(super) fn class_of(&self, size_bytes: u64) -> Result<Option<Class>, AllocError> {
        if size_bytes == 0 || !self.granule.divides(size_bytes) {
            return Err(self.not_a_size(size_bytes));
        }
        Ok(Class::of(size_bytes >> self.shift))
    }

    #[cold]
    fn not_a_size(&self, size_bytes: u64) -> AllocError {
        match size_bytes {
            0 => AllocError::ZeroSize,
            _ => AllocError::NotGranular { size_bytes, granule: self.granule },
        }
    }

    #[inline]
    pub(super) fn slot_bytes(&self, class: Class) -> u64 {
        u64::from(class.granules()) << self.shift
    }

    #[inline]
    fn alloc_slot(&self, class: Class, size_bytes: u64) -> Result<Memory, AllocError> {
        let name = self.shards.here().pool(class).current();
        if let Some(name) = name {
            let slab = self.records.at(name.id());
            if let Some((span, is_resident)) = slab.try_claim(name.generation(), self.tracks_residency) {
                return Ok(Memory { span, is_resident, slab: Some(name) });
            }
        }
        self.alloc_with(class, size_bytes, name)
    }

    /// Slow path: retries that slab, then refills the shard.
    #[inline(never)]
    fn alloc_with(&self, class: Class, size_bytes: u64, name: Option<SlabRef>) -> Result<Memory, AllocError> {
        match name.and_then(|name| self.claim(name)) {
            Some(memory) => Ok(memory),
            None => self.refill(class, size_bytes),
        }
    }

    /// Claims a slot of a slab. `None` if the slab is gone or full.
    fn claim(&self, name: SlabRef) -> Option<Memory> {
        let slab = self.records.at(name.id());
        let mut retries = 0;
        let slot = slab.claim(name.generation(), self.tracks_residency, &mut retries);
        self.count_retries(retries);
        slot.map(|(span, is_resident)| Memory { span, is_resident, slab: Some(name) })
    }

    /// Counts repeated exchanges of a slab's word.
    #[inline]
    pub(super) fn count_retries(&self, retries: u32) {
        if retries != 0 {
            self.shards.here().retries.fetch_add(retries.into(), Ordering::Relaxed);
        }
    }

    /// Claims a slot of another slab, which becomes the shard's current one.
    #[cold]
    #[inline(never)]
    fn refill(&self, class: Class, size_bytes: u64) -> Result<Memory, AllocError> {
        let _section = Section::enter();
        self.shards.here().refills.fetch_add(1, Ordering::Relaxed);
        if let Some(memory) = self.claim_listed(class) {
            return Ok(memory);
        }
        let mut core = self.lock();
        match self.make_slab(&mut core, class) {
            Ok((name, memory)) => {
                drop(core);
                self.make_current(class, name);
                Ok(memory)
            }
            Err(AllocError::OutOfMemory) => Err(AllocError::OutOfMemory),
            Err(_) => self.alloc_scarce(core, class, size_bytes),
        }
    }

    /// Claims a slot of a listed slab, which becomes the shard's current one.
    fn claim_listed(&self, class: Class) -> Option<Memory> {
        let pop = || self.shards.here_first().find_map(|shard| shard.pool(class).list.pop(&self.records));
        // Other threads may have taken all slots of a listed slab.
        while let Some(id) = pop() {
            let name = SlabRef::new(self.records.at(id).word().generation(), id);
            let memory = self.claim(name);
            self.make_current(class, name);
            if memory.is_some() {
                return memory;
            }
        }
        None
    }

    /// Claims a slot of any slab of that class, whoever owns it: a shard, a list, or a thread that is about to list it.
    fn claim_any(&self, class: Class) -> Option<Memory> {
        self.with_free_slots(class).find_map(|(name, _)| self.claim(name))
    }

    /// The slabs of a class that have a free slot, whoever owns them.
    pub(super) fn with_free_slots(&self, class: Class) -> impl Iterator<Item = (SlabRef, &Slab)> {
        self.records.all().filter_map(move |(id, slab)| {
            let word = slab.word();
            // If the record was reused between these reads, its generation differs and the claim fails.
            let is_usable = word.is_live() && word.free() != 0 && slab.layout().class == Some(class);
            is_usable.then(|| (SlabRef::new(word.generation(), id), slab))
        })
    }

    fn make_current(&self, class: Class, name: SlabRef) {
        if let Some(before) = self.shards.here().pool(class).exchange(Some(name)) {
            self.put_aside(before.id());
        }
    }

    /// Puts a slab that the caller owns into a list, or releases it if few of its slots are free. The free that reaches
    /// the threshold then lists it.
    pub(super) fn put_aside(&self, id: u32) {
        let slab = self.records.at(id);
        if !slab.release(self.list_at.load(Ordering::Relaxed)) {
            let class = slab.layout().class.expect("S5: extents are in no list");
            self.shards.here().pool(class).list.push(&self.records, id);
        }
    }

    fn make_slab(&self, core: &mut Core, class: Class) -> Result<(SlabRef, Memory), AllocError> {
        let slot_bytes = self.slot_bytes(class);
        let size_bytes = slot_bytes.checked_mul(class.slots().into()).ok_or(AllocError::SizeOverflow)?;
        let request = Request::new(size_bytes);
        let (name, layout) =
            self.make(core, &Cells::Of(request), |base| Layout { base, slot_bytes, class: Some(class) })?;
        Ok((name, Memory { span: layout.slot(0), is_resident: false, slab: Some(name) }))
    }

    /// Serves a request when the core has no space for a slab. It tries any free slot of the class, then a new slab
    /// after retiring empty ones, then an extent. From now on a slab is listed at its first free slot.
    fn alloc_scarce(
        &self,
        mut core: Held<MutexGuard<'_, Core>>,
        class: Class,
        size_bytes: u64,
    ) -> Result<Memory, AllocError> {
        self.list_at.store(1, Ordering::Relaxed);
        self.list_all();
        if let Some(memory) = self.claim_listed(class).or_else(|| self.claim_any(class)) {
            return Ok(memory);
        }
        if self.retire_empty(&mut core) > 0
            && let Ok((name, memory)) = self.make_slab(&mut core, class)
        {
            drop(core);
            self.make_current(class, name);
            return Ok(memory);
        }
        self.make_extent(&mut core, &Request::new(size_bytes))
    }

    /// Puts every slab that has a free slot and no owner into a list.
    fn list_all(&self) {
        for (id, slab) in self.records.all() {
            if slab.try_acquire() {
                self.put_aside(id);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_extent(&self, request: &Request) -> Result<Memory, AllocError> {
        let mut core = self.lock();
        match self.make_extent(&mut core, request) {
            Err(AllocError::NoSpace { .. } | AllocError::Occupied { .. })
                if self.retire_empty(&mut core) > 0 =>
            {
                self.make_extent(&mut core, request)
            }
            done => done,
        }
    }

    fn make_extent(&self, core: &mut Core, request: &Request) -> Result<Memory, AllocError> {
        let slot_bytes = request.size_bytes;
        let cells = self.in_cells(request)?;
        let (_, layout) = self.make(core, &cells, |base| Layout { base, slot_bytes, class: None })?;
        Ok(Memory { span: layout.slot(0), is_resident: false, slab: None })
    }

    /// Returns slabs without a block to the core, and returns the number of bytes of their addresses.
    ///
    /// Looks at all slabs of shards and lists. A caller that holds the core's lock misses only slabs that other threads
    /// are about to use.
    pub(super) fn retire_empty(&self, core: &mut Core) -> u64 {
        let mut bytes = 0u64;
        for shard in self.shards.here_first() {
            for class in Class::all() {
                let pool = shard.pool(class);
                let current = pool.exchange(None).map(SlabRef::id);
                for id in pool.list.take_all(&self.records).chain(current) {
                    match self.retire(core, id) {
                        Some(region) => bytes = bytes.saturating_add(region.size_saturating()),
                        None => self.put_aside(id),
                    }
                }
            }
        }
        if bytes > 0 {
            self.list_at.store(LIST_AT, Ordering::Relaxed);
        }
        bytes
    }

    /// Returns slabs without a block to the core, as an allocation does that finds no space. Returns the number of
    /// bytes of their addresses. Slabs with resident slots stay.
    ///
    /// Cost: the core's lock, a look at each slab in the lists of the shards, and O(log n) for each slab that is
    /// returned.
    pub fn trim(&self) -> u64 {
        self.retire_empty(&mut self.lock())
    }
}
