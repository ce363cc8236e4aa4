//! Atomics, locks and threads of the shared map: the standard library's, or shuttle's where it runs under random schedules.

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

/// Of nodes and their chunks, under shuttle too: its atomics are more than a word, so none can be laid over a node's link.
pub(super) use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// All threads are one of the system's.
#[cfg(shuttle)]
pub(super) fn this_thread() -> u64 {
    usize::from(shuttle::thread::current().id()) as u64
}

/// Another thread may run here: said where readers and the writer look at nodes, whose atomics shuttle does not see.
#[inline]
pub(super) fn switch() {
    #[cfg(shuttle)]
    AtomicUsize::new(0).load(Ordering::SeqCst);
}
