//! A domain: an epoch, and the slots of its readers.

use crate::atomic::{AtomicBool, AtomicU64, Mutex, lock};
use crate::barrier::{Barrier, Mode};
use crate::error::OutOfMemory;
use crate::slot::{FIRST_EPOCH, Slot, Slots};
use freehold_sys::fork;
use std::fmt;
use std::sync::OnceLock;

/// A set of readers. Something retired in a domain waits for that domain's readers only.
///
/// Most programs use the [global](Domain::global) domain, where each thread finds its slot in a thread-local. In
/// another domain, threads read through [`Reader`](crate::Reader)s: a reader that stalls there delays nothing elsewhere.
#[repr(align(128))]
pub struct Domain {
    /// Grows by `EPOCH` with each grace period. Has the flag `FENCES` once barriers are refused (R9). Written by
    /// writers, read by each guard.
    pub(crate) epoch: AtomicU64,
    /// Set before the first slot is handed out; constant afterwards.
    pub(crate) barrier: OnceLock<Barrier>,
    pub(crate) slots: Slots,
    /// Held while a slot is taken, and while the epoch gets its flag.
    pub(crate) registration: Mutex<()>,
    /// R9: the guards of every slot that is taken, now or later, have fences. Never cleared.
    pub(crate) all_fenced: AtomicBool,
    pub(crate) grace_periods: AtomicU64,
    pub(crate) refused_barriers: AtomicU64,
}

impl Domain {
    const_but_under_loom! {
    /// A domain whose writers issue barriers, if the kernel grants that. Cost: constant.
    #[must_use]
    pub fn new() -> Self {
        Self {
            epoch: AtomicU64::new(FIRST_EPOCH),
            barrier: OnceLock::new(),
            slots: Slots::new(),
            registration: Mutex::new(()),
            all_fenced: AtomicBool::new(false),
            grace_periods: AtomicU64::new(0),
            refused_barriers: AtomicU64::new(0),
        }
    }
    }

    /// A domain with a fence in each guard. It avoids the interrupts of other threads that barriers cost.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn fenced() -> Self {
        let domain = Self::new();
        // Nobody else has it yet.
        let _ = domain.barrier.set(Barrier::Fences);
        domain
    }

    /// The domain of [`read`](crate::read). Cost: constant.
    #[cfg(not(any(all(test, loom), shuttle)))]
    #[must_use]
    pub fn global() -> &'static Self {
        static GLOBAL: Domain = Domain::new();
        &GLOBAL
    }

    /// The domain of [`read`](crate::read), one per schedule. Cost: constant.
    #[cfg(shuttle)]
    #[must_use]
    pub fn global() -> &'static Self {
        shuttle::lazy_static! { static ref GLOBAL: Domain = Domain::new(); }
        &GLOBAL
    }

    /// How stamps are ordered before loads. The first call chooses the mode by issuing a barrier, unless a reader or a
    /// writer has chosen it before.
    ///
    /// Cost: constant; the first call asks the kernel.
    pub fn mode(&self) -> Mode {
        if self.is_flagged() { Mode::Fences } else { self.barrier().mode() }
    }

    #[inline]
    pub(crate) fn barrier(&self) -> Barrier {
        *fork::get_or_init(&self.barrier, Barrier::new)
    }

    /// Takes a slot for `owner`, which must end it.
    pub(crate) fn take_slot(&self, owner: u64) -> Result<&Slot, OutOfMemory> {
        let _registration = lock(&self.registration);
        // R9: the flag is set under this lock. So a slot is either taken with fences, or seen by the thread that set
        // the flag.
        let slot = self.slots.take(owner, self.mode() == Mode::Fences)?;
        slot.belong_to(self);
        Ok(slot)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nothing behind a lock is shown: the formatter is the caller's code.
        f.debug_struct("Domain").field("barrier", &self.barrier).finish_non_exhaustive()
    }
}

impl Default for Domain {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
impl Domain {
    /// A domain whose barriers are all refused, as by a filter that was installed after the first one.
    #[allow(clippy::unwrap_used, reason = "a test stops at once")]
    pub(crate) fn refusing() -> Self {
        let domain = Self::new();
        domain.barrier.set(Barrier::Refused).unwrap();
        domain
    }
}
