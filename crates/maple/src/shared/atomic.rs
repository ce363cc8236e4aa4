//! Atomics, locks and threads of the shared map: the standard library's, or shuttle's under random schedules.

#[cfg(not(shuttle))]
pub(super) use core::sync::atomic::{AtomicPtr as RootPtr, AtomicUsize};
#[cfg(not(shuttle))]
pub(super) use freehold_rcu::thread_slot::id as this_thread;
#[cfg(shuttle)]
pub(super) use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr as RootPtr, AtomicUsize},
};
#[cfg(not(shuttle))]
pub(super) use std::sync::{Mutex, MutexGuard};

/// Atomics of nodes and chunks, under shuttle too: shuttle's are larger than a word and cannot be laid over a node's
/// link.
pub(super) use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// All threads are one of the system's.
#[cfg(shuttle)]
pub(super) fn this_thread() -> u64 {
    usize::from(shuttle::thread::current().id()) as u64
}

/// Lets another thread run. Placed where readers and the writer access nodes, whose atomics shuttle does not see.
#[inline]
pub(super) fn switch() {
    #[cfg(shuttle)]
    AtomicUsize::new(0).load(Ordering::SeqCst);
}
