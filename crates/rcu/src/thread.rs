//! The global domain, and each thread's slot in it. `thread_index.rs` has its slots in other domains.

use crate::atomic::thread_local;
use crate::domain::Domain;
use crate::error::{OutOfMemory, SynchronizeError};
use crate::guard::Guard;
use crate::owned::OwnedGuard;
use crate::slot::{NOBODY, Slot};
use freehold_sys::thread_slot;
use std::cell::Cell;

thread_local! {
    /// This thread's slot. Without a destructor, so that it is one load and stays usable as long as the thread runs.
    static SLOT: Cell<Option<&'static Slot>> = const { Cell::new(None) };
    /// The index of this thread's slot in the global domain, and the thread's number. From the thread's registration
    /// to its end.
    static INDEX: Cell<(usize, u64)> = const { Cell::new(NO_INDEX) };
    /// Ends the slot with the thread.
    static AT_END: AtEnd = const { AtEnd(Cell::new(None)) };
}

/// Of a thread without a slot in the global domain.
const NO_INDEX: (usize, u64) = (usize::MAX, NOBODY);

/// The slot to end. `SLOT` keeps pointing to it until the last guard in a thread-local that is dropped later ends.
struct AtEnd(Cell<Option<&'static Slot>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            // Under shuttle, each thread-local is dropped.
            let _ = INDEX.try_with(|index| index.set(NO_INDEX));
            slot.end();
        }
    }
}

/// Forgets a slot that has neither guard nor owner. If it was this thread's, the next guard takes another.
pub(crate) fn forget(slot: &Slot) {
    // Under shuttle, each thread-local is dropped.
    let is_mine = |mine: &Cell<Option<&Slot>>| mine.get().is_some_and(|mine| std::ptr::eq(mine, slot));
    let _ = SLOT.try_with(|mine| {
        if is_mine(mine) {
            mine.set(None)
        }
    });
}

/// A guard of this thread on the [global](Domain::global) domain.
///
/// Cost: three loads and a store, and a load and a store when it is dropped; for a nested guard, a call and an
/// addition. A thread's first guard [registers](register) the thread. Aborts if the thread's slot cannot be allocated.
/// Call `register` first to get an error instead.
#[doc(alias = "rcu_read_lock")]
#[inline]
pub fn read() -> Guard<'static> {
    match SLOT.with(Cell::get) {
        Some(slot) => Domain::global().enter(slot),
        None => enter_unregistered(),
    }
}

#[cold]
fn enter_unregistered() -> Guard<'static> {
    let domain = Domain::global();
    match registered() {
        Ok(Some(slot)) => domain.enter(slot),
        Ok(None) => match domain.take_slot(thread_slot::id()) {
            Ok((_, slot)) => {
                slot.enter_once(&domain.epoch);
                let _ = SLOT.try_with(|place| place.set(Some(slot)));
                Guard::new(slot)
            }
            Err(OutOfMemory) => out_of_memory(),
        },
        Err(OutOfMemory) => out_of_memory(),
    }
}

pub(crate) fn out_of_memory() -> ! {
    std::alloc::handle_alloc_error(std::alloc::Layout::new::<Slot>())
}

/// Takes this thread's slot of the global domain, if it has none yet.
///
/// Cost: as [`Domain::reader`]; a load once the thread has its slot.
///
/// # Errors
/// There is no memory for the slot.
pub fn register() -> Result<(), OutOfMemory> {
    registered().map(|_| ())
}

/// This thread's slot. `None` at the thread's end, once its thread-locals are gone.
pub(crate) fn registered() -> Result<Option<&'static Slot>, OutOfMemory> {
    if let Some(slot) = SLOT.with(Cell::get) {
        return Ok(Some(slot));
    }
    if AT_END.try_with(|_| ()).is_err() {
        return Ok(None);
    }
    let (index, slot) = Domain::global().take_slot(thread_slot::id())?;
    AT_END.with(|end| end.0.set(Some(slot)));
    INDEX.with(|place| place.set((index, thread_slot::id())));
    SLOT.with(|place| place.set(Some(slot)));
    Ok(Some(slot))
}

/// A guard on the global domain that may move to another thread.
///
/// Cost: as [`Domain::read_owned`].
///
/// # Errors
/// There is no memory for a slot.
pub fn read_owned() -> Result<OwnedGuard<'static>, OutOfMemory> {
    Domain::global().read_owned()
}

/// Waits until all guards of the global domain that are held now are dropped.
///
/// Cost: as [`Domain::synchronize`].
///
/// # Errors
/// [`Reading`](SynchronizeError::Reading) if this thread holds such a guard; [`NoGracePeriod`](SynchronizeError::NoGracePeriod) if
/// the kernel refuses the barrier.
#[doc(alias = "synchronize_rcu")]
pub fn synchronize() -> Result<(), SynchronizeError> {
    Domain::global().synchronize()
}

/// Makes readers of the global domain fence from now on. A program calls it before it starts threads and installs a
/// filter that refuses `membarrier`.
///
/// Cost: as [`Domain::use_fences`].
pub fn use_fences() {
    Domain::global().use_fences();
}

/// The index of this thread's slot in the global domain, and the thread's number, from its registration to its end.
#[inline]
pub(crate) fn index() -> (usize, u64) {
    INDEX.try_with(Cell::get).unwrap_or(NO_INDEX)
}

/// This thread's slot in the global domain, if it has one.
#[inline]
pub(crate) fn slot() -> Option<&'static Slot> {
    // Under shuttle, each thread-local is dropped.
    SLOT.try_with(Cell::get).ok().flatten()
}
