//! An address space for many threads with far more look-ups than changes: a VMM's devices, a process's mappings.
//!
//! ```text
//!   core, under a lock    AddressSpace<()>     |####|......|########|.....|     where things go
//!   busy, written there   MapleTree<Arc<V>>    |nic |      |  disk  |           who has an address, read without a lock
//! ```
//!
//! An allocation takes the addresses first and then publishes the region. A free unpublishes the region before its
//! addresses become free. So a look-up never finds the previous region of an address that has been reused.
//!
//! Invariant: K17 while no thread holds the lock, `busy` has exactly the usable addresses of the core's regions; for a
//! region that is moving, those of both places.
//!
//! Source: the talk's wish to split the allocator's locks: its look-ups need none here.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use crate::atomic::{Mutex, MutexGuard};
use crate::error::SharedError;
use crate::space::beyond;
use crate::{
    AddressSpace, AllocError, FreeError, LayoutError, MoveError, PendingMove, Placement, Request, Stats,
};
use freehold_maple::MapleTree;
use freehold_maple::maple_tree::{Reading, Snapshot};
use freehold_sys::fork::{self, Held};
use freehold_units::{Align, Broken, OutOfMemory, Rejected, Span, check};
use std::fmt;
use std::sync::Arc;

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
/// an [`AddressSpace`] and stores into the tree. Later changes drop removed values after a grace period, while no lock
/// is held.
///
/// # Fork
/// A child made by `fork` reads and changes its copy of the space: [`freehold_sys::fork`].
pub struct SharedSpace<V> {
    /// The allocator of addresses. Only the holder of its lock writes `busy`.
    core: Mutex<AddressSpace<()>>,
    busy: MapleTree<Arc<V>>,
}

impl<V> SharedSpace<V> {
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
        Ok(Self { core: Mutex::new(core), busy: MapleTree::new() })
    }

    /// Only a broken invariant panics while this lock is held, so poisoning is ignored.
    fn lock(&self) -> Held<MutexGuard<'_, AddressSpace<()>>> {
        fork::lock(|| self.core.lock())
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

    /// Takes a range for `request`, and stores the value with it. Returns the usable addresses, without the guard.
    ///
    /// Cost: the lock, [`AddressSpace::alloc`], and a store into the tree of readers: O(log n).
    ///
    /// # Errors
    /// Returns the value with the reason; nothing was changed.
    #[doc(alias = "alloc_vmap_area")]
    pub fn alloc(&self, request: &Request, value: Arc<V>) -> Result<Span, RejectedValue<V>> {
        self.publish(value, |core| core.alloc(request, ()))
    }

    /// Takes exactly these addresses, and stores the value with them.
    ///
    /// Cost: the lock, [`AddressSpace::alloc_at`], and a store into the tree of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::alloc_at`]: returns the value with the reason; nothing was changed.
    pub fn alloc_at(&self, span: Span, value: Arc<V>) -> Result<Span, RejectedValue<V>> {
        self.publish(value, |core| core.alloc_at(span, ()))
    }

    fn publish(
        &self,
        value: Arc<V>,
        alloc: impl FnOnce(&mut AddressSpace<()>) -> Result<Span, crate::Rejected<()>>,
    ) -> Result<Span, RejectedValue<V>> {
        let mut core = self.lock();
        let span = match alloc(&mut core) {
            Ok(span) => span,
            Err(rejected) => return Err(Rejected { value, cause: SharedError::Refused(rejected.cause) }),
        };
        let stored = self.busy.insert_reclaiming(span, value);
        if stored.is_err() {
            core.free(span.first()).expect("K17: what was just allocated can be freed");
        }
        drop(core);
        // Values that no reader holds any more are dropped here, without a lock.
        match stored {
            Ok(_reclaimed) => Ok(span),
            Err(Rejected { value, cause }) => Err(Rejected { value, cause: cause.into() }),
        }
    }

    /// Frees the region that starts at `first` with its guard. No look-up finds it from now on; a reader that found it
    /// before keeps its value until the read ends. Returns its usable addresses and the value.
    ///
    /// Cost: the lock, and O(log n) in the space and in the tree of readers. About once in some hundred changes the
    /// tree polls its readers: a barrier on all threads.
    ///
    /// # Errors
    /// As [`AddressSpace::free`], or the tree cannot remove the region (readers, memory or the barrier); nothing was
    /// changed.
    #[doc(alias = "free_vmap_area")]
    pub fn free(&self, first: u64) -> Result<(Span, Arc<V>), SharedError<FreeError>> {
        let mut core = self.lock();
        if core
            .region_at(first)
            .is_none_or(|region| region.span().first() != first || region.moving_to().is_some())
        {
            return Err(refusal(core.free(first)));
        }
        let (_, value) = self.busy.entry_owned(first).expect("K17: a region is in the tree");
        let erased = self.busy.erase_reclaiming(first)?;
        let (span, ()) = core.free(first).expect("K17: a region that does not move can be freed");
        drop(core);
        drop(erased);
        Ok((span, value))
    }

    /// Takes the place at `to` for the region that starts at `first`, and keeps the old one. Look-ups find the region
    /// at both.
    ///
    /// Cost: the lock, [`AddressSpace::begin_move`], and a store into the tree of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::begin_move`], or the tree cannot store the new place (readers, memory or the barrier);
    /// nothing was changed.
    pub fn begin_move(&self, first: u64, to: u64) -> Result<PendingMove, SharedError<MoveError>> {
        let mut core = self.lock();
        let pending = core.begin_move(first, to)?;
        let added = places(&core, pending).expect("K17: a move that was begun is pending").added();
        let (_, value) = self.busy.entry_owned(first).expect("K17: a region is in the tree");
        let stored = self.busy.insert_reclaiming(added, value);
        if stored.is_err() {
            core.cancel_move(pending).expect("K17: a move that was begun can be cancelled");
        }
        drop(core);
        match stored {
            Ok(_reclaimed) => Ok(pending),
            Err(Rejected { cause, .. }) => Err(cause.into()),
        }
    }

    /// Commits a move: the region is at the new place only. The change is atomic for readers. Returns the region's new
    /// addresses.
    ///
    /// Cost: the lock, [`AddressSpace::commit_move`], and a transaction of two changes in the tree of readers: O(log
    /// n).
    ///
    /// # Errors
    /// As [`AddressSpace::commit_move`], or the tree cannot make the change (readers, memory or the barrier). The move
    /// then stays pending, and the call may be repeated.
    pub fn commit_move(&self, pending: PendingMove) -> Result<Span, SharedError<MoveError>> {
        let mut core = self.lock();
        let Some(places) = places(&core, pending) else { return Err(refusal(core.commit_move(pending))) };
        let (_, value) = self.busy.entry_owned(places.old.first()).expect("K17: a region is in the tree");
        let mut both = self.busy.transaction();
        both.remove_range(places.old)?;
        both.store(places.new, value).map_err(|rejected| rejected.cause)?;
        let new = core.commit_move(pending)?;
        let reclaimed = both.commit();
        drop(core);
        drop(reclaimed);
        Ok(new)
    }

    /// Cancels a move: the region stays at the old place, and the new one becomes free.
    ///
    /// Cost: the lock, [`AddressSpace::cancel_move`], and a transaction of one change in the tree of readers: O(log
    /// n).
    ///
    /// # Errors
    /// As [`commit_move`](Self::commit_move).
    pub fn cancel_move(&self, pending: PendingMove) -> Result<(), SharedError<MoveError>> {
        let mut core = self.lock();
        let Some(places) = places(&core, pending) else { return Err(refusal(core.cancel_move(pending))) };
        let mut without = self.busy.transaction();
        without.remove_range(places.added())?;
        core.cancel_move(pending)?;
        let reclaimed = without.commit();
        drop(core);
        drop(reclaimed);
        Ok(())
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
            let old = region.span();
            let added = region.moving_to().map(|new| Places { old, new }.added());
            for place in [Some(old), added].into_iter().flatten() {
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

/// The usable addresses of a region that is moving.
struct Places {
    old: Span,
    new: Span,
}

impl Places {
    /// The part of the new place that is not in the old one.
    fn added(&self) -> Span {
        beyond(self.new, self.old).expect("K16: a region moves")
    }
}

/// The places of a pending move; `None` if it has ended.
fn places(core: &AddressSpace<()>, pending: PendingMove) -> Option<Places> {
    let region = core.region_at(pending.first()).filter(|region| region.span().first() == pending.first())?;
    let new = region.moving_to().filter(|new| new.first() == pending.to())?;
    Some(Places { old: region.span(), new })
}

/// The error of an operation that the space must refuse.
fn refusal<T, C>(answer: Result<T, C>) -> SharedError<C> {
    SharedError::Refused(answer.err().expect("K17: what is not there is refused"))
}

impl<V> fmt::Debug for SharedSpace<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSpace").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
