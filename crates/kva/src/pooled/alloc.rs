//! Allocating: a slot of the shard's current slab; else another slab from a list, or from the core; extents.

use super::class::{Class, LIST_AT};
use super::core::Core;
use super::slab::{Layout, Slab};
use super::word::SlabRef;
use super::{Memory, PooledSpace};
use crate::atomic::{MutexGuard, Ordering};
use crate::{AllocError, Request};
use freehold_sys::fork::Held;
use freehold_units::{Align, Span};

impl PooledSpace {
    /// Takes `size_bytes` anywhere. The block has at least that many: up to 256 granules it is a slot, whose size is the
    /// next of four for each doubling; all of it is the caller's.
    ///
    /// # Errors
    /// As [`PooledSpace::alloc_request`].
    ///
    /// # Cost
    /// One exchange of an atomic word. For one in 8 or more another slab is taken from a list, and the core's lock only
    /// where no list has one. More than 256 granules take the lock. A refusal for want of space looks at every record.
    #[inline]
    pub fn alloc(&self, size_bytes: u64) -> Result<Span, AllocError> {
        self.alloc_memory(size_bytes).map(|memory| memory.span)
    }

    /// As [`PooledSpace::alloc`], and says whether the block may have pages.
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
    /// Cost: constant: at most one exchange of an atomic word, two if a purge was quicker.
    #[inline]
    #[must_use]
    pub fn alloc_resident(&self, size_bytes: u64) -> Option<(Span, SlabRef)> {
        let class = self.class_of(size_bytes).ok()?.filter(|_| self.tracks_residency)?;
        let name = self.shards.here().pool(class).current()?;
        let (span, is_resident) = self.records.at(name.id()).try_claim(name.generation(), true)?;
        if is_resident { Some((span, name)) } else { self.not_resident(span.first()) }
    }

    /// Frees a slot that a purge was quicker with.
    #[cold]
    fn not_resident(&self, first: u64) -> Option<(Span, SlabRef)> {
        self.free_decommitted(first).expect("S2: who claims a slot holds it");
        None
    }

    /// The bytes of the block that `size_bytes` are served with: of their slot, or as many, where they are too many for a slot. For a
    /// size that is refused, 0 or no multiple of the granule, the answer is that of some other.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    #[doc(alias = "malloc_good_size")]
    pub fn block_bytes(&self, size_bytes: u64) -> u64 {
        let granules = (size_bytes >> self.shift).max(1);
        Class::of(granules).map_or(granules, |class| class.granules().into()) << self.shift
    }

    /// Takes a range for `request`. What a slot cannot serve is an extent: its own region, at a multiple of 16
    /// granules, that ends with the size asked for.
    ///
    /// Cost: a slot costs what it does in [`PooledSpace::alloc`]. An extent takes the core's lock,
    /// [`AddressSpace::alloc`](crate::AddressSpace::alloc) there, and a word of the page map for each 16 granules. A
    /// refusal for want of space looks at every record.
    ///
    /// # Errors
    /// See [`AllocError`]; sizes in it are those of the core, whole multiples of 16 granules. Nothing was changed, but
    /// that slabs without a block may have been given back to the core.
    pub fn alloc_request(&self, request: &Request) -> Result<Span, AllocError> {
        self.alloc_memory_request(request).map(|memory| memory.span)
    }

    /// As [`PooledSpace::alloc_request`], and says whether the block may have pages.
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

    /// The class of a size; `None` if none is so large.
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

    /// A slot of a slab of that class, if it is there and has one.
    fn claim(&self, name: SlabRef) -> Option<Memory> {
        let slab = self.records.at(name.id());
        let mut retries = 0;
        let slot = slab.claim(name.generation(), self.tracks_residency, &mut retries);
        if retries != 0 {
            self.shards.here().count_retries(retries);
        }
        slot.map(|(span, is_resident)| Memory { span, is_resident, slab: Some(name) })
    }

    /// A slot of another slab, which becomes the current one.
    #[cold]
    #[inline(never)]
    fn refill(&self, class: Class, size_bytes: u64) -> Result<Memory, AllocError> {
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

    /// A slot of a slab in a list, which becomes the current one.
    fn claim_listed(&self, class: Class) -> Option<Memory> {
        let pop = || self.shards.here_first().find_map(|shard| shard.pool(class).list.pop(&self.records));
        // Others may have taken the slots of a slab in a list.
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

    /// A slot of any slab of that class, whoever has the slab: it may be current, or with a thread that is about to put it
    /// somewhere.
    fn claim_any(&self, class: Class) -> Option<Memory> {
        self.with_free_slots(class).find_map(|(name, _)| self.claim(name))
    }

    /// The slabs of a class that have a free slot, whoever has them.
    pub(super) fn with_free_slots(&self, class: Class) -> impl Iterator<Item = (SlabRef, &Slab)> {
        self.records.all().filter_map(move |(id, slab)| {
            let word = slab.word();
            // What is read of the record is of the generation that is claimed of, or nothing is claimed.
            let is_usable = word.is_live() && word.free() != 0 && slab.layout().class == Some(class);
            is_usable.then(|| (SlabRef::new(word.generation(), id), slab))
        })
    }

    fn make_current(&self, class: Class, name: SlabRef) {
        if let Some(before) = self.shards.here().pool(class).exchange(Some(name)) {
            self.put_aside(before.id());
        }
    }

    /// Puts a slab that the caller owns into a list, or gives it up if few of its slots are free: the free that makes them
    /// enough lists it.
    pub(super) fn put_aside(&self, id: u32) {
        let slab = self.records.at(id);
        if !slab.disown(self.list_at.load(Ordering::Relaxed)) {
            let class = slab.layout().class.expect("S5: extents are in no list");
            self.shards.here().pool(class).list.push(&self.records, id);
        }
    }

    fn make_slab(&self, core: &mut Core, class: Class) -> Result<(SlabRef, Memory), AllocError> {
        let slot_bytes = self.slot_bytes(class);
        let size_bytes = slot_bytes.checked_mul(class.slots().into()).ok_or(AllocError::SizeOverflow)?;
        let request = Request::new(size_bytes);
        let (name, layout) =
            self.make(core, &request, |base| Layout { base, slot_bytes, class: Some(class) })?;
        Ok((name, Memory { span: layout.slot(0), is_resident: false, slab: Some(name) }))
    }

    /// Where the core has no room for a slab: any free slot of the class; a slab in the place of slabs without a block; an
    /// extent. From now on slabs are listed with their first free slot.
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
            if slab.own() {
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

    /// The request for whole cells that hold a region and its guard, and keep them within the window.
    pub(super) fn in_cells(&self, request: &Request) -> Result<Request, AllocError> {
        let &Request { size_bytes, guard_bytes, align_bytes, window, .. } = request;
        if !self.granule.divides(guard_bytes) {
            return Err(AllocError::NotGranular { size_bytes: guard_bytes, granule: self.granule });
        }
        let align = Align::new(align_bytes).ok_or(AllocError::NotPowerOfTwo { align_bytes })?;
        let Some(window) = window.intersection(self.span) else {
            return Err(AllocError::WindowOutside { window, space: self.span });
        };
        let taken_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let cells_bytes = self.cell.up(taken_bytes).ok_or(AllocError::SizeOverflow)?;
        // The last cell may pass the window, but not the region and its guard. The space ends with a cell.
        let highest = window.highest_fit(taken_bytes, self.cell, u64::MAX);
        let reach = highest.and_then(|taken| Span::from_size(taken.first(), cells_bytes));
        let none = AllocError::NoMultiple { size_bytes: taken_bytes, align: align.max(self.cell), window };
        let room_bytes = window.size_saturating();
        if taken_bytes > room_bytes {
            return Err(AllocError::TooLarge { size_bytes: taken_bytes, room_bytes });
        }
        let window = Span::new(window.first(), reach.ok_or(none)?.last()).ok_or(none)?;
        Ok(Request::new(cells_bytes).align(align).window(window))
    }

    /// Gives slabs without a block back to the core. Returns how many bytes of addresses they had.
    ///
    /// All slabs that shards and lists have are looked at: who holds the core's lock and finds none has missed none but
    /// those that other threads are about to use.
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

    /// Gives slabs without a block back to the core, as allocations do that find no room. Returns how many bytes of
    /// addresses they had. Slabs with resident slots stay.
    ///
    /// Cost: the core's lock, a look at each slab in the lists of the shards, and O(log n) for each that goes back.
    pub fn trim(&self) -> u64 {
        self.retire_empty(&mut self.lock())
    }
}
