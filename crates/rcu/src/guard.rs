//! Guards, and the handles that make them.

use crate::domain::Domain;
use crate::error::OutOfMemory;
use crate::slot::{A_VALUE, Slot};
use std::fmt;
use std::marker::PhantomData;

/// While a guard lives, nothing that was reachable when it began, or later, is reused.
///
/// Guards nest: further guards of a thread cost an addition, and the outermost counts. A guard stays on its thread.
/// A guard that is forgotten (`mem::forget`) never ends, not even with its thread: nothing of its domain is reused any
/// more.
#[doc(alias = "rcu_read_lock")]
#[must_use = "reading ends when the guard is dropped"]
pub struct Guard<'d> {
    slot: &'d Slot,
    /// R1: the slot is this thread's.
    _here: PhantomData<*const ()>,
}

impl<'d> Guard<'d> {
    #[inline]
    pub(crate) fn new(slot: &'d Slot) -> Self {
        Self { slot, _here: PhantomData }
    }

    /// Whether it belongs to that domain. Code that follows links under a guard checks that they are retired in the
    /// same domain. Cost: constant: at most a comparison with the addresses of each chunk of its slots.
    #[inline]
    #[must_use]
    pub fn is_of(&self, domain: &Domain) -> bool {
        domain.has_slot(self.slot)
    }
}

impl Clone for Guard<'_> {
    /// A nested guard.
    #[inline]
    fn clone(&self) -> Self {
        self.slot.enter_again();
        Self::new(self.slot)
    }
}

impl Drop for Guard<'_> {
    #[doc(alias = "rcu_read_unlock")]
    #[inline]
    fn drop(&mut self) {
        self.slot.leave();
    }
}

impl fmt::Debug for Guard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("since", &self.slot.since()).finish_non_exhaustive()
    }
}

/// A handle that makes guards of a [`Domain`], for one thread at a time. It may move between threads while it has no
/// guard.
pub struct Reader<'d> {
    domain: &'d Domain,
    slot: &'d Slot,
    /// R1: two threads never enter one slot.
    _not_shared: PhantomData<std::cell::Cell<()>>,
}

impl<'d> Reader<'d> {
    pub(crate) fn new(domain: &'d Domain, slot: &'d Slot) -> Self {
        Self { domain, slot, _not_shared: PhantomData }
    }

    /// Begins a guard. Cost: two stores, and a fence in [`Mode::Fences`](crate::Mode::Fences).
    #[inline]
    pub fn read(&self) -> Guard<'_> {
        self.domain.enter(self.slot)
    }
}

impl Domain {
    /// A handle through which one thread at a time reads. It owns a slot of the domain until it is dropped.
    ///
    /// # Errors
    /// There is no memory for a slot. Cost: a lock, and a scan of the slots that are taken.
    pub fn reader(&self) -> Result<Reader<'_>, OutOfMemory> {
        let (_, slot) = self.take_slot(A_VALUE)?;
        Ok(Reader::new(self, slot))
    }

    /// Begins a guard on a slot: outermost or nested.
    #[inline]
    pub(crate) fn enter<'d>(&'d self, slot: &'d Slot) -> Guard<'d> {
        if !slot.enter_first(&self.epoch) {
            slot.enter(&self.epoch);
        }
        Guard::new(slot)
    }
}

impl Drop for Reader<'_> {
    /// A guard that was leaked keeps the slot.
    fn drop(&mut self) {
        self.slot.end();
    }
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("reading", &(self.slot.stamp() != 0)).finish_non_exhaustive()
    }
}
