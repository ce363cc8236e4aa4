//! A domain: an epoch, and the slots of its readers.

use crate::atomic::{AtomicBool, AtomicU64, Mutex, lock};
use crate::barrier::{Barrier, Mode};
use crate::error::OutOfMemory;
use crate::slot::{FIRST_EPOCH, Slot, Slots};
use freehold_sys::fork;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A set of readers. Something retired in a domain waits for that domain's readers only.
///
/// Most programs use the [global](Domain::global) domain. A reader that stalls in a domain of its own delays nothing
/// elsewhere. Such a domain takes 8 KiB, and 128 bytes for each thread beyond 32; its guards
/// ([`Domain::read`]) cost a few instructions more than [`read`](crate::read).
#[repr(align(128))]
pub struct Domain {
    pub(crate) name: &'static str,
    /// Grows by `EPOCH` with each grace period. Has the flag `FENCES` once barriers are refused (R9). Written by
    /// writers, read by each guard.
    pub(crate) epoch: AtomicU64,
    /// Set before the first slot is handed out; constant afterwards.
    pub(crate) barrier: OnceLock<Barrier>,
    /// Slots of values, and in the global domain also of threads.
    pub(crate) slots: Slots,
    /// In other domains, the slots of threads, by the index of a thread's slot in the global domain: see
    /// `thread_index.rs`. Under loom there is no global domain.
    #[cfg(not(all(test, loom)))]
    pub(crate) threads: Slots,
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
        Self::named("a private domain")
    }
    }

    const_but_under_loom! {
    /// As [`new`](Self::new), with a name for messages. Cost: constant.
    #[must_use]
    pub fn named(name: &'static str) -> Self {
        Self {
            name,
            epoch: AtomicU64::new(FIRST_EPOCH),
            barrier: OnceLock::new(),
            slots: Slots::new(),
            #[cfg(not(all(test, loom)))]
            threads: Slots::new(),
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
        static GLOBAL: Domain = Domain::named("the global domain");
        &GLOBAL
    }

    /// The domain of [`read`](crate::read), one per schedule. Cost: constant.
    #[cfg(shuttle)]
    #[must_use]
    pub fn global() -> &'static Self {
        shuttle::lazy_static! { static ref GLOBAL: Domain = Domain::named("the global domain"); }
        &GLOBAL
    }

    /// Its name in messages. Cost: constant.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
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

    /// Takes a slot for `owner`, which must end it. Returns its index, too.
    pub(crate) fn take_slot(&self, owner: u64) -> Result<(usize, &Slot), OutOfMemory> {
        let _registration = lock(&self.registration);
        let (index, slot) = self.slots.find_free()?;
        // R9: the flag is set under this lock. So a slot is either taken with fences, or seen by the thread that set
        // the flag.
        slot.give_to(owner, self.mode() == Mode::Fences);
        Ok((index, slot))
    }
}

/// A [`Domain`] that somebody else owns, or that several share.
#[derive(Clone)]
pub enum DomainRef<'d> {
    /// Somebody else's.
    Borrowed(&'d Domain),
    /// Shared, and dropped with the last that shares it.
    Shared(Arc<Domain>),
}

impl Deref for DomainRef<'_> {
    type Target = Domain;

    #[inline]
    fn deref(&self) -> &Domain {
        match self {
            Self::Borrowed(domain) => domain,
            Self::Shared(domain) => domain,
        }
    }
}

impl<'d> From<&'d Domain> for DomainRef<'d> {
    fn from(domain: &'d Domain) -> Self {
        Self::Borrowed(domain)
    }
}

impl From<Arc<Domain>> for DomainRef<'_> {
    fn from(domain: Arc<Domain>) -> Self {
        Self::Shared(domain)
    }
}

impl fmt::Debug for DomainRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nothing behind a lock is shown: the formatter is the caller's code.
        f.debug_struct("Domain")
            .field("name", &self.name)
            .field("barrier", &self.barrier)
            .finish_non_exhaustive()
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
