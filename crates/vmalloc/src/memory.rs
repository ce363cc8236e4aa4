//! `VirtualMemory`: one reservation, cut into zones; blocks of any size from two of them.
//!
//! ```text
//!   alloc(len)                                                        drop
//!     small or large zone -> a slot of its space: one exchange          count it as warm; past the threshold purge first
//!       warm:  no longer counted as warm; cleared if it shall be zero   give the slot back: one exchange
//!       cold:  zero already; committed if it was not
//! ```

use crate::block::Block;
use crate::builder::{Builder, Commit, MAX_RESERVE, MIN_RESERVE};
use crate::decay::Decay;
use crate::error::{AllocError, BuildError, PoolError};
use crate::keep::{Keep, Warm};
use crate::mapping::{BASE_ALIGN, Mapping, Pages};
use crate::quarantine::Quarantine;
use crate::zone::{Held, Zone};
use freehold_kva::pooled::SlabName;
use freehold_kva::{self as kva, AddressSpace, Placement, Request};
use freehold_sys::machine::{self, Overcommit};
use freehold_sys::{PageScan, SysError, page_bytes};
use freehold_units::{Align, Span};
use std::ffi::CString;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Pages of the largest small block, and granules of the largest slot.
const SLOT_GRANULES: usize = 256;
/// A granule of large blocks, 256 KiB whatever a page has: their zone begins at a multiple of 16.
const LARGE_GRANULE: usize = BASE_ALIGN / 16;
/// From here on, the pages that have memory are looked up before a block is cleared.
const SCAN_FROM_BYTES: usize = 256 << 10;
/// What zones start at and are made of.
pub(crate) const ZONE_GRANULE: usize = 64 << 10;

/// What memory holds when it is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// Zeros.
    Yes,
    /// Anything that was in this memory before, for who overwrites it.
    No,
}

/// Memory over reserved addresses, for many threads. See the [crate](crate). If it is forgotten (`mem::forget`), it leaks the
/// reservation, and the thread of [`Keep::decay`].
pub struct VirtualMemory {
    pub(crate) shared: Arc<Shared>,
    /// The thread that gives idle memory back.
    decay: Option<Decay>,
}

/// What the handles and the thread share.
pub(crate) struct Shared {
    pub(crate) mapping: Mapping,
    pub(crate) warm: Warm,
    pub(crate) keep: Keep,
    pub(crate) commit: Commit,
    pub(crate) small: Arc<Zone>,
    pub(crate) large: Arc<Zone>,
    page: Granule,
    large_granule: Granule,
    pub(crate) pools: Mutex<Pools>,
    /// Lent to one purge or clearing at a time; others open their own.
    scan: Mutex<Option<PageScan>>,
    pub(crate) quarantine: Option<Quarantine>,
    pub(crate) named: bool,
    pub(crate) counts: Counts,
}

/// Rounds up to a power of two, without a division.
#[derive(Clone, Copy, Debug)]
struct Granule {
    mask: usize,
}

impl Granule {
    fn new(bytes: usize) -> Self {
        debug_assert!(bytes.is_power_of_two());
        Self { mask: bytes - 1 }
    }

    /// `None` beyond the address space.
    #[inline]
    fn up(self, len: usize) -> Option<usize> {
        Some(len.checked_add(self.mask)? & !self.mask)
    }
}

/// What is not for blocks.
#[derive(Debug)]
pub(crate) struct Pools {
    /// In bytes of the mapping.
    pub(crate) space: AddressSpace<Use>,
    pub(crate) zones: Vec<Arc<Zone>>,
}

/// Who has a carved range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Pool,
    Vector,
    /// Nobody any more: the system refused to take its memory back, and it stays taken.
    Stranded,
}

/// What was done, since it was built.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) purges: AtomicU64,
    pub(crate) purged_bytes: AtomicU64,
    pub(crate) cleared_bytes: AtomicU64,
    pub(crate) scans: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) unguarded: AtomicU64,
}

impl Counts {
    pub(crate) fn add(count: &AtomicU64, by: u64) {
        count.fetch_add(by, Ordering::Relaxed);
    }
}

impl VirtualMemory {
    /// Describes one: how much to reserve, what to keep.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        let reserve_bytes = asked.reserve_bytes;
        if !(MIN_RESERVE..=MAX_RESERVE).contains(&reserve_bytes) {
            return Err(BuildError::Reserve { reserve_bytes });
        }
        let shared = Arc::new(Shared::new(asked)?);
        let decay = asked.keep.decay.map(|decay| Decay::start(&shared, decay)).transpose()?;
        Ok(Self { shared, decay })
    }

    /// Hands out `len_bytes`, rounded up to whole pages. Dropped, the block is free again.
    ///
    /// # Errors
    /// [`AllocError::Addresses`] for 0 bytes, or where no addresses are left; [`AllocError::System`] if memory cannot be
    /// committed, as under [`Commit::Strict`], or if none could be given back to win addresses.
    ///
    /// # Cost
    /// Warm, two atomic exchanges and two additions with its drop, and what it takes to clear it. Cold, page faults where it
    /// is touched. Up to 256 pages are one of 28 sizes, four for each doubling; larger blocks likewise, of 256 KiB each.
    /// Beyond 64 MiB a block is never kept warm, and takes a lock.
    #[inline]
    pub fn alloc(&self, len_bytes: usize, zero: Zero) -> Result<Block<'_>, AllocError> {
        self.shared.alloc(len_bytes, zero)
    }

    /// As [`VirtualMemory::alloc`], at a multiple of `align` or within a window of addresses. A guard that the request asks
    /// for is addresses that nobody is given; they do not fault.
    ///
    /// A window is one within the addresses that blocks of the length come from: the first of [`Stats::zones`](crate::Stats::zones) for up
    /// to 256 pages, a quarter of the reservation; the second for longer ones, which take whole multiples of 256 KiB there.
    ///
    /// # Errors
    /// As there, and for what the request says: see [`kva::AllocError`]. A window that has none of those addresses is
    /// [`WindowOutside`](kva::AllocError::WindowOutside), also if it has others of the reservation.
    pub fn alloc_request(&self, request: &Request, zero: Zero) -> Result<Block<'_>, AllocError> {
        self.shared.alloc_request(request, zero)
    }

    /// The addresses of the held block that has `address`, at its start or anywhere inside: all of its slot. No lock, no write.
    ///
    /// Blocks alone; pools find their slots, [`Slots::locate`](crate::Slots::locate).
    #[must_use]
    pub fn locate(&self, address: u64) -> Option<Span> {
        let zone = |zone: &Zone| zone.space.locate(address);
        zone(&self.shared.small).or_else(|| zone(&self.shared.large))
    }

    /// Gives all free memory back to the system, at once, but for what another thread, that of [`Keep::decay`] too, is giving back
    /// at this moment: that counts as warm until it is. Returns how many bytes no longer count as warm.
    ///
    /// # Errors
    /// The system refused a call. What it was asked to take is warm as before.
    pub fn release_idle(&self) -> Result<u64, SysError> {
        self.shared.release(u64::MAX)
    }
}

impl Drop for VirtualMemory {
    fn drop(&mut self) {
        // The thread ends before the mapping does.
        self.decay.take();
    }
}

impl fmt::Debug for VirtualMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualMemory").field("addresses", &self.shared.addresses()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("mapping", &self.mapping).finish_non_exhaustive()
    }
}

impl Shared {
    fn new(asked: &Builder) -> Result<Self, BuildError> {
        let len = asked.reserve_bytes.next_multiple_of(MIN_RESERVE);
        let mapping = Mapping::new(len)?;
        let strictly = || match machine::overcommit() {
            Some(Overcommit::Never) => Commit::Strict,
            _ => Commit::Lazy,
        };
        let commit = asked.commit.unwrap_or_else(strictly);
        mapping.without_huge_pages();
        let committed = commit == Commit::Lazy;
        if committed {
            mapping.commit(0..len)?;
        }
        let page = page_bytes();
        // Blocks are found by their addresses.
        let blocks = |name, range: Range<usize>, granule: usize| {
            let granule = Align::new(granule as u64).ok_or(kva::LayoutError::Empty)?;
            Zone::new(name, range.clone(), mapping.address(range.start), granule, committed, None)
        };
        let small = blocks("freehold blocks", 0..len / 4, page)?;
        let large = blocks("freehold large blocks", len / 4..len / 2, LARGE_GRANULE)?;
        let rest = Span::from_size(len as u64 / 2, len as u64 / 2).ok_or(kva::LayoutError::Empty)?;
        let granule = Align::new(ZONE_GRANULE as u64).ok_or(kva::LayoutError::Empty)?;
        let space = AddressSpace::new(rest, granule, Placement::Lowest)?;
        let named = [&small, &large].into_iter().all(|zone| name(&mapping, zone));
        Ok(Self {
            warm: Warm::new(asked.keep)?,
            keep: asked.keep,
            commit,
            small: Arc::new(small),
            large: Arc::new(large),
            page: Granule::new(page),
            large_granule: Granule::new(LARGE_GRANULE),
            pools: Mutex::new(Pools { space, zones: Vec::new() }),
            scan: Mutex::new(None),
            quarantine: asked.quarantine_bytes.map(Quarantine::new),
            named,
            counts: Counts::default(),
            mapping,
        })
    }

    pub(crate) fn addresses(&self) -> Span {
        let span = Span::from_size(self.mapping.address(0), self.mapping.len() as u64);
        span.expect("V1: a mapping has addresses")
    }

    /// The zone for blocks of `len` bytes, whole pages, and what to ask it for.
    #[inline]
    pub(crate) fn zone_for(&self, len: usize) -> (&Arc<Zone>, u64) {
        if len <= SLOT_GRANULES * (self.page.mask + 1) {
            return (&self.small, len as u64);
        }
        // A length that cannot be rounded up is too long either way.
        let size = self.large_granule.up(len).unwrap_or(!self.large_granule.mask);
        (&self.large, size as u64)
    }

    #[inline]
    fn alloc(&self, len_bytes: usize, zero: Zero) -> Result<Block<'_>, AllocError> {
        let len = self.page.up(len_bytes).ok_or(kva::AllocError::SizeOverflow)?;
        if zero == Zero::No
            && let Some(block) = self.alloc_usual(len)
        {
            return Ok(block);
        }
        // Unpacked here: returning `alloc_any`'s result directly would make the fast path return through memory, too.
        let held = self.alloc_any(len, zero)?;
        Ok(Block::new(self, held.pages, held.slab))
    }

    #[inline(never)]
    fn alloc_any(&self, len: usize, zero: Zero) -> Result<Held, AllocError> {
        let (zone, size_bytes) = self.zone_for(len);
        let held = match zone.alloc(&self.mapping, size_bytes, len) {
            Ok(held) => held,
            Err(error) => self.alloc_again(zone, size_bytes, len, error)?,
        };
        self.hand_out(zone, held, zero)
    }

    fn alloc_request(&self, request: &Request, zero: Zero) -> Result<Block<'_>, AllocError> {
        let len = usize::try_from(request.size_bytes).ok().and_then(|len| self.page.up(len));
        let len = len.ok_or(kva::AllocError::SizeOverflow)?;
        let (zone, size_bytes) = self.zone_for(len);
        let mut request = *request;
        request.size_bytes = size_bytes;
        let held = match zone.alloc_request(&self.mapping, &request, len) {
            Ok(held) => held,
            Err(error) => self.alloc_scarce(zone, &request, len, error)?,
        };
        let held = self.hand_out(zone, held, zero)?;
        Ok(Block::new(self, held.pages, held.slab))
    }

    /// What was refused, once more if addresses have run out.
    #[cold]
    #[inline(never)]
    pub(crate) fn alloc_again(
        &self,
        zone: &Zone,
        size_bytes: u64,
        len: usize,
        error: AllocError,
    ) -> Result<Held, AllocError> {
        self.alloc_scarce(zone, &Request::new(size_bytes), len, error)
    }

    /// Where addresses have run out, those that wait for a purge are won back.
    #[cold]
    fn alloc_scarce(
        &self,
        zone: &Zone,
        request: &Request,
        len: usize,
        error: AllocError,
    ) -> Result<Held, AllocError> {
        if !is_scarce(&error) {
            return Err(error);
        }
        self.end_quarantine();
        // What others clear or give back is free when they are done.
        let _alone = zone.hold_alone();
        loop {
            // What is refused is cleared, and free all the same.
            let _ = self.release_dropped_open(zone);
            self.purge_open(zone, u64::MAX)?;
            zone.space.trim();
            match zone.alloc_request(&self.mapping, request, len) {
                // More was dropped meanwhile.
                Err(error) if is_scarce(&error) && !lock(&zone.dropped).is_empty() => {}
                done => return done,
            }
        }
    }

    /// Makes what was taken ready for its holder.
    fn hand_out(&self, zone: &Zone, mut held: Held, zero: Zero) -> Result<Held, AllocError> {
        if held.is_warm {
            self.warm.sub(held.slot_bytes);
        }
        if self.quarantine.is_some() {
            held = self.unguard_freed(zone, held)?;
        }
        if held.is_warm && zero == Zero::Yes {
            self.clear(&mut held);
        }
        Ok(held)
    }

    /// Clears a block whose pages hold anything.
    fn clear(&self, held: &mut Held) {
        let len = held.pages.len();
        if len < SCAN_FROM_BYTES || !self.clear_resident(held) {
            held.pages.zero(0..len);
        }
    }

    /// Clears the pages that have memory. False if the system does not tell which.
    #[cold]
    fn clear_resident(&self, held: &mut Held) -> bool {
        let Ok(mut scan) = self.borrow_scan() else { return false };
        let start = self.mapping.offset_of(&held.pages);
        let range = start..start + held.pages.len();
        let found = |run: Range<usize>| held.pages.zero(run.start - start..run.end - start);
        let done = self.resident(&mut scan, range, found);
        self.return_scan(scan);
        done.is_ok()
    }

    /// Frees what was handed out and counts as `warm_bytes` from now on, unless it cannot stay warm. False then, and it is the
    /// caller's as before, but counted.
    #[inline]
    pub(crate) fn give_back_warm(
        &self,
        zone: &Zone,
        position: u64,
        slab: Option<SlabName>,
        warm_bytes: u64,
    ) -> bool {
        if self.warm.add(warm_bytes) || self.quarantine.is_some() {
            return false;
        }
        zone.give_warm(position, slab);
        true
    }

    /// Frees a block that is a slot of that slab, unless it cannot stay warm. False then, and it is the caller's as before, but
    /// counted.
    #[inline(never)]
    pub(crate) fn give_back_usual(&self, address: u64, len: usize, slab: SlabName) -> bool {
        let (zone, size_bytes) = self.zone_for(len);
        // In its zone, blocks are where they are in memory.
        self.give_back_warm(zone, address, Some(slab), zone.space.block_bytes(size_bytes))
    }

    /// Takes back a block that [`Shared::give_back_usual`] did not, or an extent.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_back_block(&self, pages: Pages, slab: Option<SlabName>) {
        let (zone, size_bytes) = self.zone_for(pages.len());
        let slot_bytes = slab.map_or(size_bytes, |_| zone.space.block_bytes(size_bytes));
        if slab.is_none() {
            // It is never warm, but counted until its pages are given back.
            self.warm.add(slot_bytes);
        }
        let position = pages.start().addr().get() as u64;
        self.take_back(zone, Held { pages, position, slot_bytes, is_warm: true, slab }, slot_bytes);
    }

    /// Takes back what [`Shared::give_back_warm`] did not.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_back(&self, zone: &Arc<Zone>, held: Held, warm_bytes: u64) {
        if self.quarantine.is_some() || held.slab.is_none() {
            self.warm.sub(warm_bytes);
            return self.take_back_cold(zone, held, warm_bytes);
        }
        if !self.make_room(zone, warm_bytes) {
            return self.give_pages_back(zone, held, warm_bytes);
        }
        zone.give_warm(held.position, held.slab);
    }

    /// The page map, from where it is kept, or opened.
    pub(crate) fn borrow_scan(&self) -> Result<PageScan, SysError> {
        match lock(&self.scan).take() {
            Some(scan) => Ok(scan),
            None => PageScan::open(),
        }
    }

    /// Asks the system which pages of a range have memory. Calls `found` with each run.
    pub(crate) fn resident(
        &self,
        scan: &mut PageScan,
        range: Range<usize>,
        found: impl FnMut(Range<usize>),
    ) -> Result<(), SysError> {
        Counts::add(&self.counts.scans, 1);
        self.mapping.resident(scan, range, found)
    }

    pub(crate) fn return_scan(&self, scan: PageScan) {
        lock(&self.scan).replace(scan);
    }

    /// Takes addresses for a zone or a vector.
    pub(crate) fn carve(&self, request: &Request, by: Use) -> Result<Range<usize>, kva::AllocError> {
        let span = lock(&self.pools).space.alloc(request, by)?;
        Ok(span.first() as usize..span.first() as usize + span.size_saturating() as usize)
    }

    /// Returns addresses whose pages are gone.
    pub(crate) fn uncarve(&self, start: usize) {
        lock(&self.pools).space.free(start as u64).expect("V1: a carved range is freed once");
    }

    /// Keeps addresses taken whose pages the system refused to take back.
    pub(crate) fn strand(&self, start: usize) {
        Counts::add(&self.counts.refused, 1);
        let mut pools = lock(&self.pools);
        *pools.space.value_at_mut(start as u64).expect("V1: a range is carved until it is freed") =
            Use::Stranded;
    }

    /// Opens a zone in a range that was carved.
    pub(crate) fn open(&self, zone: Zone) -> Result<Arc<Zone>, PoolError> {
        name(&self.mapping, &zone);
        let zone = Arc::new(zone);
        let mut pools = lock(&self.pools);
        pools.zones.try_reserve(1).map_err(freehold_units::OutOfMemory::from)?;
        pools.zones.push(Arc::clone(&zone));
        Ok(zone)
    }

    /// The zone at a position in the list of all: blocks, then pools.
    pub(crate) fn zone_at(&self, number: usize) -> Option<Arc<Zone>> {
        match number {
            0 => Some(Arc::clone(&self.small)),
            1 => Some(Arc::clone(&self.large)),
            _ => lock(&self.pools).zones.get(number - 2).cloned(),
        }
    }

    /// All zones. No lock is held between two of them.
    pub(crate) fn zones(&self) -> impl Iterator<Item = Arc<Zone>> {
        (0..).map_while(|number| self.zone_at(number))
    }
}

/// Whether addresses have run out.
fn is_scarce(error: &AllocError) -> bool {
    use kva::AllocError::{NoSpace, Occupied};
    matches!(error, AllocError::Addresses(NoSpace { .. } | Occupied { .. }))
}

/// Names a zone's mapping, where the kernel has names.
fn name(mapping: &Mapping, zone: &Zone) -> bool {
    CString::new(zone.name.as_str()).is_ok_and(|name| mapping.name(zone.range(), &name))
}

/// No system call for memory and no destructor of a caller's type runs under these locks; what was under a panic is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
