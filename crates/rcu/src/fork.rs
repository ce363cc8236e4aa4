//! The global domain over a `fork`: the child has none of the other threads, so their guards end there.

use crate::atomic::MutexGuard;
use crate::domain::Domain;
use crate::error::OutOfMemory;
use crate::thread::is_mine;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

std::thread_local! {
    /// The lock of registration, between the hooks of one `fork`: so none is left to a thread that the child does not have.
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Installs the hooks, once.
pub(crate) fn forget_threads_of_children() -> Result<(), OutOfMemory> {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    // Relaxed: hooks are installed under the lock.
    if !INSTALLED.load(Ordering::Relaxed) {
        // First, so that no child finds it half fixed by a thread that it does not have.
        Domain::global().mode();
        let _registration = Domain::global().lock_registration();
        if !INSTALLED.load(Ordering::Relaxed) {
            freehold_sys::fork::at_fork(prepare, parent, child).map_err(|_| OutOfMemory)?;
            INSTALLED.store(true, Ordering::Relaxed);
        }
    }
    Ok(())
}

extern "C" fn prepare() {
    // Where thread-locals are gone, at a thread's end, nobody forks.
    let _ = HELD.try_with(|held| held.replace(Some(Domain::global().lock_registration())));
}

extern "C" fn parent() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn child() {
    for slot in Domain::global().slots.iter() {
        if slot.is_threads() && !is_mine(slot) {
            slot.give_back();
        }
    }
    parent();
}
