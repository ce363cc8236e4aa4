//! Atomics and locks: the standard library's, loom's in models of a protocol, or shuttle's in tests of a whole space
//! under random schedules.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

/// The CPU number of a thread under shuttle: another one at each call.
#[cfg(shuttle)]
pub(crate) fn drawn_cpu() -> Option<u32> {
    use shuttle::rand::{RngCore, thread_rng};
    Some(thread_rng().next_u32())
}

#[cfg(not(shuttle))]
#[inline]
pub(crate) fn drawn_cpu() -> Option<u32> {
    None
}
