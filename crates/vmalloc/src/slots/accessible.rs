//! Slots of which only a part can be used: what lies behind it faults.
//!
//! ```text
//!   stride  | accessible ........ | guarded until it is accessible | guard | . |
//! ```

use super::{Slot, Slots};
use crate::error::AllocError;
use crate::mapping::{Pages, whole_pages};
use freehold_sys::SysError;

impl Slot<'_> {
    /// Makes the first `bytes` of the slot accessible, rounded up to whole pages, and those behind fault: what they held is gone.
    /// What becomes accessible again is zero. The slot's bytes are those that are accessible.
    ///
    /// When the slot is dropped all of it is opened again, whatever it was. A slot that the system refuses to open is not handed out again
    /// until its pool is dropped. Who changes the protection of a slot's pages by other means, as `mprotect`, makes them readable and
    /// writable again before the slot is dropped.
    ///
    /// # Errors
    /// The system refused; what was accessible is, or less.
    ///
    /// # Cost
    /// A system call, unless nothing changes. Where guards are mappings, one more of these.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    pub fn set_accessible(&mut self, bytes: usize) -> Result<(), SysError> {
        let (all, now) = (self.pool.slot_bytes(), self.pages.len());
        let len = whole_pages(bytes).unwrap_or(all).min(all);
        let mapping = self.pool.shared.mapping();
        let start = mapping.offset_of(&self.pages);
        if len > now {
            mapping.unguard(start + now..start + len)?;
        }
        // SAFETY: the whole slot is its holder's, and committed (V5); what is accessible was opened, or was before.
        self.pages = unsafe { Pages::new(self.pages.start(), len) };
        if len < now {
            // SAFETY: the part is the slot's, and no longer among its pages.
            mapping.guard(&mut unsafe { mapping.pages(start + len..start + now) })?;
        }
        Ok(())
    }

    /// Opens all of a slot before it is free. False if that was refused.
    #[cold]
    pub(super) fn open_all(&mut self) -> bool {
        let is_open = self.set_accessible(usize::MAX).is_ok();
        if !is_open {
            self.pool.shared.mapping().count_refused();
        }
        is_open
    }
}

impl Slots<'_> {
    /// Makes as much of a slot accessible as the layout says.
    pub(super) fn narrowed<'s>(&'s self, mut slot: Slot<'s>) -> Result<Slot<'s>, AllocError> {
        if self.accessible_bytes < slot.pages.len() {
            slot.set_accessible(self.accessible_bytes)?;
        }
        Ok(slot)
    }
}
