//! The global heap's locks over a `fork`: the thread that forks holds all of them, so none is left to a thread that the
//! child does not have.

use super::core_set::CoreSet;
use super::magazine::ShardGuard;
use super::sync::Guard;
use super::{HeapError, global};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::vec::Vec;

/// All locks of a heap, in their order.
struct Held {
    _shards: Vec<ShardGuard<'static>>,
    _core: Guard<'static, CoreSet>,
}

std::thread_local! {
    /// Between the hooks of one `fork`.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Installs the hooks, once.
pub(super) fn hold_locks_over_forks() -> Result<(), HeapError> {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    if !INSTALLED.load(Ordering::Relaxed) {
        freehold_sys::fork::at_fork(prepare, release, release)?;
        INSTALLED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

extern "C" fn prepare() {
    if let Some(heap) = global::existing() {
        let held = Held { _shards: heap.magazines.lock_all().collect(), _core: heap.lock() };
        // Where thread-locals are gone, at a thread's end, nobody forks.
        let _ = HELD.try_with(|at| at.replace(Some(held)));
    }
}

extern "C" fn release() {
    let _ = HELD.try_with(RefCell::take);
}
