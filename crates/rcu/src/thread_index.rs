//! A thread's slots in domains other than the global one.
//!
//! ```text
//!   global    slots     0: A | 1: B | 2: an owned guard | 3: C        B has index 1 for as long as it owns this slot
//!   another   threads   0:   | 1: B | 2:                | 3: C        so nobody but B enters slot 1 here
//! ```
//!
//! A guard finds the thread's slot by the index, whatever the number of domains and threads. A slot here is never given
//! back: the next thread that gets the index takes it over (R10).

use crate::atomic::lock;
use crate::barrier::Mode;
use crate::domain::Domain;
use crate::error::OutOfMemory;
use crate::guard::Guard;
use crate::slot::{NOBODY, Slot};
use crate::thread::{index, out_of_memory, registered};
use freehold_sys::thread_slot;

impl Domain {
    /// A guard of this thread.
    ///
    /// Cost: as [`read`](crate::read), and two loads and two comparisons more. A thread's first guard of the domain
    /// [registers](Self::register) the thread, and aborts if there is no memory for that. While a guard that an ended
    /// thread leaked holds this thread's place, each outermost guard takes a lock and scans the slots.
    #[doc(alias = "rcu_read_lock")]
    #[inline]
    pub fn read(&self) -> Guard<'_> {
        match self.own_slot() {
            Some(slot) => self.enter(slot),
            None => self.enter_unregistered(),
        }
    }

    /// This thread's slot, if it has one.
    #[inline]
    pub(crate) fn own_slot(&self) -> Option<&Slot> {
        if self.is_global() {
            return crate::thread::slot();
        }
        let (index, thread) = index();
        self.threads.get(index).filter(|slot| slot.is_owned_by(thread))
    }

    /// Whether this thread holds a guard that is not a value.
    pub(crate) fn is_reading(&self) -> bool {
        self.own_slot().is_some_and(|slot| slot.stamp() != 0)
    }

    #[inline]
    fn is_global(&self) -> bool {
        std::ptr::eq(self, Self::global())
    }

    #[cold]
    fn enter_unregistered(&self) -> Guard<'_> {
        if self.is_global() {
            return crate::thread::read();
        }
        match self.claim() {
            Ok(Some(slot)) => self.enter(slot),
            Ok(None) => match self.take_slot(thread_slot::id()) {
                Ok((_, slot)) => {
                    slot.enter_once(&self.epoch);
                    Guard::new(slot)
                }
                Err(OutOfMemory) => out_of_memory(),
            },
            Err(OutOfMemory) => out_of_memory(),
        }
    }

    /// Takes this thread's slot, if it has none yet.
    ///
    /// Cost: as [`register`](crate::register), and a lock. Constant once the thread has its slot.
    ///
    /// # Errors
    /// There is no memory for the slot.
    pub fn register(&self) -> Result<(), OutOfMemory> {
        if self.is_global() {
            return crate::thread::register();
        }
        if self.own_slot().is_some() { Ok(()) } else { self.claim().map(|_| ()) }
    }

    /// Takes the slot at this thread's index. `None` at the thread's end, or if a guard of the last thread with that
    /// index is still on the slot.
    fn claim(&self) -> Result<Option<&Slot>, OutOfMemory> {
        registered()?;
        let (index, thread) = index();
        if thread == NOBODY {
            return Ok(None);
        }
        let _registration = lock(&self.registration);
        let slot = self.threads.get_or_grow(index)?;
        // R10: the last owner has given up the index, so it never enters again. Only its guards can still be there.
        if !slot.is_idle() {
            return Ok(None);
        }
        slot.give_to(thread, self.mode() == Mode::Fences);
        Ok(Some(slot))
    }

    /// The slots by thread, each with whether its owner can still enter it: it owns that index in the global domain.
    pub(crate) fn threads_and_owners(&self) -> impl Iterator<Item = (&Slot, bool)> {
        let global = &Self::global().slots;
        self.threads.indexed().map(|(index, slot)| {
            let owner = slot.owner();
            let can_enter = slot.is_taken() && global.get(index).is_some_and(|own| own.owner() == owner);
            (slot, can_enter)
        })
    }
}
