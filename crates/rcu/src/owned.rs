//! Guards that are values: they may move to another thread, or live in a structure.

use crate::domain::Domain;
use crate::error::OutOfMemory;
use crate::slot::{A_VALUE, Slot};
use std::fmt;

/// A guard with a slot of its own, which may be sent to another thread. One that is forgotten (`mem::forget`) never
/// ends.
///
/// Cost: a lock and a scan of the slots that are taken, some 30 times a [`Guard`](crate::Guard)'s.
#[must_use = "reading ends when the guard is dropped"]
pub struct OwnedGuard<'d> {
    slot: &'d Slot,
}

impl Domain {
    /// A guard with a slot of its own.
    ///
    /// Cost: a lock and a scan of the slots that are taken.
    ///
    /// # Errors
    /// There is no memory for a slot.
    pub fn read_owned(&self) -> Result<OwnedGuard<'_>, OutOfMemory> {
        let (_, slot) = self.take_slot(A_VALUE)?;
        slot.enter(&self.epoch);
        Ok(OwnedGuard { slot })
    }
}

impl OwnedGuard<'_> {
    /// Whether it belongs to that domain. Cost: as [`Guard::is_of`](crate::Guard::is_of).
    #[must_use]
    pub fn is_of(&self, domain: &Domain) -> bool {
        domain.has_slot(self.slot)
    }
}

impl Drop for OwnedGuard<'_> {
    fn drop(&mut self) {
        self.slot.give_back();
    }
}

impl fmt::Debug for OwnedGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedGuard").field("since", &self.slot.since()).finish_non_exhaustive()
    }
}
