//! A domain: an epoch, and the slots of those who read in it.

use crate::atomic::{AtomicBool, AtomicU64, Mutex, MutexGuard, lock};
use crate::barrier::{Barrier, Mode};
use crate::error::OutOfMemory;
use crate::guard::{Guard, Reader};
use crate::slot::{EPOCH, Owner, Slot, Slots};
use std::sync::OnceLock;

/// A set of readers. What is retired in a domain waits for its readers only.
///
/// Most programs use the [global](Domain::global) one, where each thread has its slot at hand. In a domain of one's own, threads
/// read through [`Reader`]s: a reader that stalls there holds back nothing elsewhere.
#[derive(Debug)]
#[repr(align(128))]
pub struct Domain {
    /// Ends and begins with each grace period, in steps of `EPOCH`, from one such on. Written by writers, read by each guard.
    pub(crate) epoch: AtomicU64,
    /// Whether readers need a fence. Written once, under the lock, before there is a slot.
    pub(crate) fenced: AtomicBool,
    barrier: OnceLock<Barrier>,
    pub(crate) slots: Slots,
    /// Held while a slot is taken.
    registration: Mutex<()>,
    pub(crate) grace_periods: AtomicU64,
    pub(crate) refused_barriers: AtomicU64,
}

impl Domain {
    const_but_under_loom! {
    /// A domain that has writers issue barriers, if the kernel grants that.
    #[must_use]
    pub fn new() -> Self {
        Self {
            epoch: AtomicU64::new(EPOCH),
            fenced: AtomicBool::new(true),
            barrier: OnceLock::new(),
            slots: Slots::new(),
            registration: Mutex::new(()),
            grace_periods: AtomicU64::new(0),
            refused_barriers: AtomicU64::new(0),
        }
    }
    }

    /// A domain with a fence in each guard, and none of the interrupts that barriers on all threads cost the others.
    #[must_use]
    pub fn fenced() -> Self {
        let domain = Self::new();
        // Nobody else has it yet.
        let _ = domain.barrier.set(Barrier::Fences);
        domain
    }

    /// The domain of [`read`](crate::read).
    #[cfg(not(any(all(test, loom), shuttle)))]
    #[must_use]
    pub fn global() -> &'static Self {
        static GLOBAL: Domain = Domain::new();
        &GLOBAL
    }

    /// The domain of [`read`](crate::read): one for each schedule.
    #[cfg(shuttle)]
    #[must_use]
    pub fn global() -> &'static Self {
        shuttle::lazy_static! { static ref GLOBAL: Domain = Domain::new(); }
        &GLOBAL
    }

    /// How stamps are ordered before loads. The first call fixes it, as the first reader and the first writer do.
    pub fn mode(&self) -> Mode {
        self.barrier().mode()
    }

    #[inline]
    pub(crate) fn barrier(&self) -> Barrier {
        match self.barrier.get() {
            Some(&barrier) => barrier,
            None => self.choose(&self.lock_registration()),
        }
    }

    /// Fixes the mode, under the lock.
    #[cold]
    fn choose(&self, _registration: &MutexGuard<'_, ()>) -> Barrier {
        *self.barrier.get_or_init(|| {
            let barrier = Barrier::new(false);
            // Relaxed: who takes a slot does so under the lock.
            self.fenced.store(barrier.mode() == Mode::Fences, crate::atomic::Ordering::Relaxed);
            barrier
        })
    }

    pub(crate) fn lock_registration(&self) -> MutexGuard<'_, ()> {
        lock(&self.registration)
    }

    /// A slot for `owner`, who ends it.
    pub(crate) fn take_slot(&self, owner: Owner) -> Result<&Slot, OutOfMemory> {
        let registration = self.lock_registration();
        self.choose(&registration);
        self.slots.take(owner)
    }

    /// A handle through which one thread at a time reads. It has a slot of the domain until it is dropped.
    ///
    /// # Errors
    /// No memory for a slot. Cost: a lock, and a look at the slots that are taken.
    pub fn reader(&self) -> Result<Reader<'_>, OutOfMemory> {
        Ok(Reader::new(self, self.take_slot(Owner::Value)?))
    }

    /// One more guard on a slot.
    #[inline]
    pub(crate) fn enter<'d>(&'d self, slot: &'d Slot) -> Guard<'d> {
        slot.enter(&self.epoch, self.is_fenced());
        Guard::new(self, slot)
    }

    #[inline]
    pub(crate) fn is_fenced(&self) -> bool {
        // Relaxed: it was written before this thread's slot was taken, and never since.
        self.fenced.load(crate::atomic::Ordering::Relaxed)
    }
}

impl Default for Domain {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
impl Domain {
    /// A domain whose barriers are all refused.
    #[allow(clippy::unwrap_used, reason = "a test stops at once")]
    pub(crate) fn refusing() -> Self {
        let domain = Self::new();
        domain.barrier.set(Barrier::Refused).unwrap();
        domain
    }
}
