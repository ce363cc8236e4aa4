//! An address space for many threads with far more look-ups than changes: a VMM's devices, a process's mappings.
//!
//! ```text
//!   core, under a lock    AddressSpace<Arc<V>>   |####|......|########|.....|     where things go, and whose they are
//!   busy, written there   MapleTree<Arc<V>>      |nic |      |  disk  |           who has an address, read without a lock
//! ```
//!
//! A change holds the core's lock. What the tree might refuse comes first, or is undone, so a change is made in both or
//! in neither. Values that earlier changes removed are dropped before the lock is taken, the change's own after it is
//! released. No code of the caller runs under the lock, but for what encodes the values of an image.
//!
//! Invariant: K17 while no thread holds the lock, `busy` has exactly the usable addresses of the core's regions; for a
//! region that is moving, those of both places.
//!
//! Source: the talk's wish to split the allocator's locks: its look-ups need none here.

mod bytes;
mod layout;
mod moves;
mod parts;
mod share;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod sub_spaces;

use crate::atomic::{Mutex, MutexGuard};
use crate::error::SharedError;
use crate::space::{Pending, beyond};
use crate::{AddressSpace, AllocError, FreeError, FreeSizes, LayoutError, Placement, Region, Request, Stats};
use freehold_maple::MapleTree;
use freehold_maple::maple_tree::{BacklogStats, Domain, Reading, Snapshot, Transaction, WriteError};
use freehold_sys::fork::{self, Held};
use freehold_units::{Align, Broken, OutOfMemory, Rejected, Span, check};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Hands out ranges of a space to many threads, which look up the region of an address without a lock.
///
/// ```
/// use freehold_kva::{Placement, Request, SharedSpace};
/// use freehold_units::{Align, Span};
/// use std::sync::Arc;
///
/// let bus = SharedSpace::new(Span::new(0xc000_0000, 0xffff_ffff).unwrap(), Align::PAGE, Placement::Lowest)?;
/// let nic = bus.alloc(&Request::natural(0x4000), Arc::new("nic"))?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let reading = bus.read();
///         assert_eq!(reading.entry_at(nic.first() + 0x123), Some((nic, &"nic")));
///     });
///     scope.spawn(|| bus.alloc(&Request::new(0x1000), Arc::new("uart")));
/// });
/// assert_eq!(*bus.free(nic.first())?.1, "nic");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
/// A look-up is one in a [`MapleTree`]: a guard and a walk, which writers never block. A change takes the lock, changes
/// an [`AddressSpace`] and stores into the tree.
///
/// # When values are dropped
/// A space has a [domain](Domain) of readers of its own, and reclaims [promptly](freehold_maple::maple_tree::Reclaim): once a region is freed and no
/// reader is inside, the space holds nothing of its value. [`share`](Self::share) takes other choices.
///
/// # Fork
/// A child made by `fork` reads and changes its copy of the space: [`freehold_sys::fork`].
pub struct SharedSpace<V: ?Sized> {
    /// The allocator of addresses. Only the holder of its lock writes `busy`.
    core: Mutex<AddressSpace<Arc<V>>>,
    busy: MapleTree<Arc<V>>,
}

/// The lock of the core, in a section that no `fork` falls into.
type Locked<'a, V> = Held<MutexGuard<'a, AddressSpace<Arc<V>>>>;

impl<V: ?Sized> SharedSpace<V> {
    /// A space over `span`, whose sizes and addresses are multiples of the granule.
    ///
    /// Cost: constant.
    ///
    /// # Errors
    /// As [`AddressSpace::new`].
    pub fn new(span: Span, granule: Align, placement: Placement) -> Result<Self, LayoutError> {
        Self::with_layout(&[span], granule, placement)
    }

    /// A space over several spans, in any order, with holes between them.
    ///
    /// Cost: as [`AddressSpace::with_layout`].
    ///
    /// # Errors
    /// As [`AddressSpace::with_layout`].
    pub fn with_layout(spans: &[Span], granule: Align, placement: Placement) -> Result<Self, LayoutError> {
        let core = AddressSpace::with_layout(spans, granule, placement)?;
        Ok(Self { core: Mutex::new(core), busy: Self::readers().build() })
    }

    /// Only a broken invariant panics while this lock is held, so poisoning is ignored.
    fn lock(&self) -> Locked<'_, V> {
        fork::lock(|| self.core.lock())
    }

    /// Locks the core for a change. Values that earlier changes left are dropped before: if one panics, nothing has
    /// changed.
    fn begin(&self) -> Locked<'_, V> {
        self.busy.drop_leftovers();
        self.lock()
    }

    /// Makes a change that readers see as a whole: first in a transaction of the tree, which may be refused, then in the
    /// core. A transaction that is not committed has changed nothing, and a commit cannot fail.
    fn change<T, C>(
        &self,
        in_tree: impl FnOnce(&AddressSpace<Arc<V>>, &mut Transaction<'_, Arc<V>>) -> Result<(), WriteError>,
        in_core: impl FnOnce(&mut AddressSpace<Arc<V>>) -> Result<T, C>,
    ) -> Result<T, SharedError<C>> {
        self.change_locked(self.begin(), in_tree, in_core)
    }

    /// As [`change`](Self::change), under a lock that [`begin`](Self::begin) has taken.
    fn change_locked<T, C>(
        &self,
        mut core: Locked<'_, V>,
        in_tree: impl FnOnce(&AddressSpace<Arc<V>>, &mut Transaction<'_, Arc<V>>) -> Result<(), WriteError>,
        in_core: impl FnOnce(&mut AddressSpace<Arc<V>>) -> Result<T, C>,
    ) -> Result<T, SharedError<C>> {
        let mut tree = self.busy.transaction_under_lock();
        in_tree(&core, &mut tree)?;
        let answer = in_core(&mut core).map_err(SharedError::Refused)?;
        let own = tree.commit();
        drop(core);
        drop(own);
        Ok(answer)
    }

    /// Starts a read on this thread. [`Reading::entry_at`] returns the region that contains an address, and its value.
    /// A guard belongs to no region here. A region that is moving is found at both places.
    ///
    /// Cost: constant: a guard ([`MapleTree::read`]). A look-up under it is O(log n). Neither takes a lock.
    #[inline]
    #[must_use]
    pub fn read(&self) -> Reading<'_, Arc<V>> {
        self.busy.read()
    }

    /// A snapshot of the regions as they are now. While it lives, changes cost more: [`MapleTree::snapshot`].
    ///
    /// Cost: as [`MapleTree::snapshot`], whatever the number of regions.
    ///
    /// # Errors
    /// There is no memory for a guard.
    pub fn snapshot(&self) -> Result<Snapshot<'_, Arc<V>>, OutOfMemory> {
        self.busy.snapshot()
    }

    /// The region that contains an address, with a clone of its value's `Arc`.
    ///
    /// Cost: O(log n), under a guard of its own, and a clone of the `Arc`. No lock.
    #[doc(alias = "find_vmap_area")]
    #[must_use]
    pub fn region_at(&self, address: u64) -> Option<(Span, Arc<V>)> {
        self.busy.entry_owned(address)
    }

    /// The region whose guard contains an address, with a clone of its value's `Arc`.
    ///
    /// Cost: the lock, and O(log n).
    #[must_use]
    pub fn guard_at(&self, address: u64) -> Option<(Span, Arc<V>)> {
        self.lock().guard_at(address).map(|region| (region.span(), Arc::clone(region.value())))
    }

    /// Takes a range for `request`, and stores the value with it. Returns the usable addresses, without the guard.
    ///
    /// Cost: the lock, [`AddressSpace::alloc`], and a store into the tree of readers: O(log n).
    ///
    /// # Errors
    /// Returns the value with the reason; nothing was changed.
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&self, request: &Request, value: Arc<V>) -> Result<Span, RejectedValue<V>> {
        self.publish(value, |core| core.reserve(request))
    }

    /// As [`alloc`](Self::alloc), with a placement for this request.
    ///
    /// Cost: as [`alloc`](Self::alloc), with [`AddressSpace::alloc_with`].
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc).
    pub fn alloc_with(
        &self,
        request: &Request,
        placement: Placement,
        value: Arc<V>,
    ) -> Result<Span, RejectedValue<V>> {
        self.publish(value, |core| core.reserve_with(request, placement))
    }

    /// Takes exactly these addresses, and stores the value with them.
    ///
    /// Cost: the lock, [`AddressSpace::alloc_at`], and a store into the tree of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_at`]: returns the value with the reason; nothing was changed.
    pub fn alloc_at(&self, span: Span, value: Arc<V>) -> Result<Span, RejectedValue<V>> {
        self.publish(value, |core| core.reserve_at(span, 0))
    }

    /// As [`alloc_at`](Self::alloc_at), with a guard of `guard_bytes` after the addresses.
    ///
    /// Cost: as [`alloc_at`](Self::alloc_at).
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_at_guarded`]: returns the value with the reason; nothing was changed.
    pub fn alloc_at_guarded(
        &self,
        span: Span,
        guard_bytes: u64,
        value: Arc<V>,
    ) -> Result<Span, RejectedValue<V>> {
        self.publish(value, |core| core.reserve_at(span, guard_bytes))
    }

    fn publish(
        &self,
        value: Arc<V>,
        reserve: impl for<'c> FnOnce(&'c mut AddressSpace<Arc<V>>) -> Result<Pending<'c, Arc<V>>, AllocError>,
    ) -> Result<Span, RejectedValue<V>> {
        let mut core = self.begin();
        let pending = match reserve(&mut core) {
            Ok(pending) => pending,
            Err(cause) => return Err(Rejected { value, cause: SharedError::Refused(cause) }),
        };
        match self.busy.insert_under_lock(pending.span(), Arc::clone(&value)) {
            Ok(()) => Ok(pending.commit(value)),
            Err(Rejected { cause, .. }) => Err(Rejected { value, cause: cause.into() }),
        }
    }

    /// Frees the region that starts at `first` with its guard. No look-up finds it from now on; a reader that found it
    /// before keeps its value until the read ends. Returns its usable addresses and the value. Under prompt reclamation,
    /// if no reader is inside, the returned `Arc` is the last that the space has had.
    ///
    /// Cost: the lock, and O(log n) in the space and in the tree of readers. Under prompt reclamation also a barrier on
    /// all threads and a scan of the readers: some microseconds. Under batched reclamation the same once for some
    /// hundred changes.
    ///
    /// # Errors
    /// As [`AddressSpace::free`], or the tree cannot remove the region (readers, memory or the barrier); nothing was
    /// changed.
    #[doc(alias = "free_vmap_area")]
    pub fn free(&self, first: u64) -> Result<(Span, Arc<V>), SharedError<FreeError>> {
        self.free_of(first, |_| Ok(()))
    }

    /// Frees the region whose usable addresses are exactly `span`, with its guard, as [`free`](Self::free) does. Returns
    /// the value.
    ///
    /// Cost: as [`free`](Self::free).
    ///
    /// # Errors
    /// As [`AddressSpace::free_exact`], or as [`free`](Self::free); nothing was changed.
    pub fn free_exact(&self, span: Span) -> Result<Arc<V>, SharedError<FreeError>> {
        let is_whole = |region| match region == span {
            true => Ok(()),
            false => Err(FreeError::OtherSpan { span, region }),
        };
        self.free_of(span.first(), is_whole).map(|(_, value)| value)
    }

    /// Frees the region that starts at `first`, unless `check` refuses its usable addresses.
    fn free_of(
        &self,
        first: u64,
        check: impl FnOnce(Span) -> Result<(), FreeError>,
    ) -> Result<(Span, Arc<V>), SharedError<FreeError>> {
        let mut core = self.begin();
        core.prepare_free(first).and_then(check).map_err(SharedError::Refused)?;
        let erased = self.busy.erase_under_lock(first)?;
        let freed = core.free(first).expect("K17: a free that was prepared cannot fail");
        drop(core);
        drop(erased);
        Ok(freed)
    }

    /// As [`free`](Self::free), but where readers hold back too much, waits for them: up to `limit`, without the lock.
    ///
    /// Cost: as [`free`](Self::free), after a wait for as long as `limit`.
    ///
    /// # Errors
    /// As [`free`](Self::free): `Readers` once the limit is over. `Reading` if this thread is one of those readers.
    pub fn free_waiting(
        &self,
        first: u64,
        limit: Duration,
    ) -> Result<(Span, Arc<V>), SharedError<FreeError>> {
        let is_full = |error: &SharedError<FreeError>| matches!(error, SharedError::Readers { .. });
        self.busy.waiting(limit, || self.free(first), is_full)
    }

    /// Drops the removed values that no reader can have any more. Returns how many values and nodes of the tree still
    /// wait.
    ///
    /// Cost: as [`MapleTree::reclaim`].
    ///
    /// # Errors
    /// As [`MapleTree::reclaim`].
    pub fn reclaim(&self) -> Result<usize, WriteError> {
        self.busy.reclaim()
    }

    /// Waits until all present readers have left, and drops the values that were removed before the call. A thread that
    /// holds a [`snapshot`](Self::snapshot) waits for itself for ever.
    ///
    /// Cost: as [`MapleTree::synchronize`].
    ///
    /// # Errors
    /// As [`MapleTree::synchronize`].
    pub fn synchronize(&self) -> Result<(), WriteError> {
        self.busy.synchronize()
    }

    /// The domain of its readers. Cost: constant.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        self.busy.domain()
    }

    /// What waits for readers. Waits for a running store. Cost: as [`MapleTree::backlog`].
    #[must_use]
    pub fn backlog(&self) -> BacklogStats {
        self.busy.backlog()
    }

    /// The number of regions. Waits for the lock. Cost: constant, with the lock.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether the space has no regions. Waits for the lock. Cost: constant, with the lock.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The figures of the space. Waits for the lock. Cost: the lock, and [`AddressSpace::stats`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.lock().stats()
    }

    /// A histogram of the free blocks by powers of two. Waits for the lock.
    ///
    /// Cost: the lock, and [`AddressSpace::free_sizes`]: O(n).
    #[must_use]
    pub fn free_sizes(&self) -> FreeSizes {
        self.lock().free_sizes()
    }

    /// Checks every invariant from scratch. Waits for the lock.
    ///
    /// Cost: O(n log n) with the lock held.
    ///
    /// # Errors
    /// The first invariant that fails.
    pub fn validate(&self) -> Result<(), Broken> {
        let core = self.lock();
        core.validate()?;
        self.busy.validate()?;
        let reading = self.busy.read();
        let mut known = 0;
        for region in core.regions() {
            for place in places_of(&region) {
                let found = reading.entry_at(place.first()).is_some_and(|(span, _)| span == place);
                check(found, "K17", "a region is in the tree", place.first())?;
                known += 1;
            }
        }
        check(known == self.busy.len(), "K17", "what is in the tree is a region", 0)
    }
}

/// A value that was not stored, and the reason.
pub type RejectedValue<V> = Rejected<Arc<V>, SharedError<AllocError>>;

/// Puts a value into the tree of readers, over whatever is there.
fn show<V: ?Sized>(
    tree: &mut Transaction<'_, Arc<V>>,
    place: Span,
    value: &Arc<V>,
) -> Result<(), WriteError> {
    tree.store(place, Arc::clone(value)).map_err(|rejected| rejected.cause)
}

/// The usable addresses of a region, and those of its new place that are not among them.
fn places_of<V>(region: &Region<'_, V>) -> impl Iterator<Item = Span> {
    let added = region.moving_to().and_then(|new| beyond(new, region.span()));
    [Some(region.span()), added].into_iter().flatten()
}

impl<V: ?Sized> fmt::Debug for SharedSpace<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSpace").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
