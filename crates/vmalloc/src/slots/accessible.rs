//! Slots of which only the first part is accessible: the rest faults.
//!
//! ```text
//!   stride  | accessible ........ | marked .......... | without access ....... | guard | . |
//!           0                     accessible          usable
//! ```
//!
//! A dropped slot stays as it is: its next holder changes only what differs. So if all holders use the same length,
//! there is no call. A slot that grew beyond both the length that the pool hands out and the bytes that it keeps is
//! narrowed when it is dropped: the call that makes pages fault also decommits them.

use super::{Slot, Slots};
use crate::bits::boxed;
use crate::error::AllocError;
use crate::mapping::{ENOMEM, Pages, whole_pages};
use freehold_sys::fork::hold;
use freehold_sys::{Guard, SysError};
use freehold_units::OutOfMemory;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The accessible part of each slot of a pool: all of it, until a holder first asks for less. Only the holder of a slot
/// changes its part, so all accesses are Relaxed.
#[derive(Debug)]
pub(super) struct Accessible {
    slots: OnceLock<Box<[Opened]>>,
    /// Accessible bytes of a slot from [`Slots::get`].
    pub(super) at_first: usize,
}

/// The accessible part of a slot.
#[derive(Debug)]
struct Opened {
    /// Accessible bytes.
    bytes: AtomicUsize,
    /// Bytes that are accessible except for guard marks in the page table.
    usable: AtomicUsize,
}

impl Accessible {
    /// The parts in a new pool.
    pub(super) fn new(at_first: usize) -> Self {
        Self { slots: OnceLock::new(), at_first }
    }

    /// Whether all slots are the same: wholly accessible, and handed out so.
    #[inline]
    pub(super) fn is_all(&self) -> bool {
        // A thread that gets a slot changed by another thread sees the table, too.
        self.at_first == usize::MAX && self.slots.get().is_none()
    }

    /// The accessible part of a slot. `None` if all slots are wholly accessible.
    fn opened(&self, number: u64) -> Option<&Opened> {
        self.slots.get().map(|slots| &slots[number as usize])
    }

    /// As [`opened`](Self::opened), in a pool of `count` slots. Makes the table, with all of each slot accessible, if
    /// there is none.
    fn opened_or_all(&self, number: u64, count: u64, slot_bytes: usize) -> Result<&Opened, OutOfMemory> {
        if self.slots.get().is_none() {
            let all = || AtomicUsize::new(slot_bytes);
            let slots = boxed(count as usize, || Opened { bytes: all(), usable: all() })?;
            let _section = hold(|| ());
            // If another thread has set the table first, that one is used.
            let _ = self.slots.set(slots);
        }
        Ok(self.opened(number).expect("V4: it was just made"))
    }
}

impl Opened {
    /// Makes a slot that starts at an offset accessible up to `to` bytes instead of `from`. If a part of that is
    /// refused, the whole change is undone. If that is refused as well, the slot is lost, and none of it counts as
    /// accessible. Returns how much is accessible afterwards.
    fn change(
        &self,
        pool: &Slots<'_>,
        start: usize,
        from: usize,
        to: usize,
    ) -> (usize, Result<(), SysError>) {
        let done = self.try_change(pool, start, from, to);
        if done.is_ok() {
            return (to, done);
        }
        pool.shared.mapping().count_refused();
        // It is unknown which part of the change was made.
        self.usable.fetch_min(from.min(to), Ordering::Relaxed);
        if self.try_change(pool, start, to, from).is_ok() {
            return (from, done);
        }
        self.bytes.store(LOST, Ordering::Relaxed);
        (0, done)
    }

    fn try_change(&self, pool: &Slots<'_>, start: usize, from: usize, to: usize) -> Result<(), SysError> {
        let (mapping, usable) = (pool.shared.mapping(), self.usable.load(Ordering::Relaxed));
        if to < from {
            // SAFETY:
            // - The part belongs to the slot, and is committed (V5).
            // - Its holder gives it up.
            let guard = mapping.guard(&mut unsafe { mapping.pages(start + to..start + from) })?;
            if guard == Guard::Protected {
                self.usable.store(usable.min(to), Ordering::Relaxed);
            }
        } else {
            let at = |part: Range<usize>| start + part.start..start + part.end;
            if from < usable {
                mapping.unmark(at(from..to.min(usable)))?;
            }
            if to > usable {
                mapping.unguard(at(from.max(usable)..to), pool.zone.place.advice)?;
                self.usable.store(to, Ordering::Relaxed);
            }
        }
        self.bytes.store(to, Ordering::Relaxed);
        Ok(())
    }
}

impl Slot<'_> {
    /// Makes the first `bytes` of the slot accessible, rounded up to whole pages, and the rest fault. The content of
    /// the rest is lost: bytes that become accessible again are zero. The slot's length is its accessible bytes.
    ///
    /// A holder that changes the protection of a slot's pages by other means, such as `mprotect`, must make the
    /// accessible ones readable and writable again before it drops the slot.
    ///
    /// # Errors
    /// The system refused, and the same bytes are accessible as before. If it also refuses to undo a part of the
    /// change, nothing is accessible any more, and the slot is not handed out again until its pool is dropped.
    ///
    /// # Cost
    /// A system call, unless nothing changes. The first call for a pool takes 16 bytes for each of its slots. More
    /// calls if the slot never had as many accessible bytes, or if guards are mappings.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    pub fn set_accessible(&mut self, bytes: usize) -> Result<(), SysError> {
        let (pool, now) = (self.pool, self.pages.len());
        let all = pool.slot_bytes();
        let len = whole_pages(bytes).unwrap_or(all).min(all);
        if self.is_lost() {
            return Err(SysError { call: "madvise", errno: ENOMEM });
        }
        if len == now {
            return Ok(());
        }
        let start = pool.shared.mapping().offset_of(&self.pages);
        let opened = pool.accessible.opened_or_all(self.position, pool.count(), all);
        let opened = opened.map_err(|_| SysError { call: "malloc", errno: ENOMEM })?;
        let (len, done) = opened.change(pool, start, now, len);
        self.set_len(len);
        done
    }

    /// Narrows a dropped slot to the length that the pool hands out, if the pages after it would be decommitted anyway.
    #[inline]
    pub(super) fn narrow_dropped(&mut self) {
        let at_first = self.pool.accessible.at_first;
        let used = self.used_bytes.min(self.pages.len());
        let frees_all = self.pool.shared.residency.quarantine.is_some();
        if at_first < used && self.pool.shape().kept <= at_first && !frees_all {
            // If that is refused, the slot is as wide as before, and its pages are decommitted like those of any other.
            let _ = self.set_accessible(at_first);
        }
    }

    fn set_len(&mut self, len: usize) {
        // SAFETY:
        // - The whole slot belongs to its holder, and is committed (V5).
        // - This much of it is accessible.
        self.pages = unsafe { Pages::new(self.pages.start(), len) };
    }

    /// Whether the accessible bytes are unknown: the slot is never handed out again.
    pub(super) fn is_lost(&self) -> bool {
        let opened = self.pool.accessible.opened(self.position);
        opened.is_some_and(|opened| opened.bytes.load(Ordering::Relaxed) == LOST)
    }

    /// All pages of a slot that is given up.
    pub(super) fn all_pages(&mut self) -> Pages {
        self.set_len(self.pool.slot_bytes());
        std::mem::replace(&mut self.pages, Pages::none())
    }
}

/// Marks a slot whose accessible bytes are unknown.
const LOST: usize = usize::MAX;

impl Slots<'_> {
    /// As [`Slots::get`], with the first `bytes` of the slot accessible: see [`Slot::set_accessible`].
    ///
    /// # Errors
    /// As for [`Slots::get`] and [`Slot::set_accessible`].
    ///
    /// # Cost
    /// As [`Slots::get`], and a system call if the slot's last holder ended with another length.
    pub fn get_accessible(&self, bytes: usize) -> Result<Slot<'_>, AllocError> {
        self.narrowed(self.get_any()?, bytes)
    }

    /// Makes `bytes` of a slot accessible that was just taken.
    pub(super) fn narrowed<'s>(&'s self, mut slot: Slot<'s>, bytes: usize) -> Result<Slot<'s>, AllocError> {
        // The debug mode guards the whole of a free slot, and opens all of it.
        if self.shared.residency.quarantine.is_none()
            && let Some(opened) = self.accessible.opened(slot.position)
        {
            slot.set_len(opened.bytes.load(Ordering::Relaxed));
        }
        slot.set_accessible(bytes)?;
        Ok(slot)
    }
}
