//! Slots of which only a part can be used: what lies behind it faults.
//!
//! ```text
//!   stride  | accessible ........ | marked .......... | without access ....... | guard | . |
//!           0                     accessible          usable
//! ```
//!
//! A dropped slot stays as it is: its next holder changes only what differs. So where all holders use as much, there is no call.
//! A slot that grew past what the pool hands out, and past what it keeps, is narrowed as it is dropped: the call that makes pages
//! fault gives them back, too.

use super::{Slot, Slots};
use crate::error::AllocError;
use crate::mapping::{ENOMEM, Mapping, Pages, whole_pages};
use freehold_sys::fork::hold;
use freehold_sys::{Guard, SysError};
use freehold_units::OutOfMemory;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What of each slot of a pool is accessible: all, until a holder first asks for less. The holder of a slot changes its part, so all of
/// it is Relaxed.
#[derive(Debug)]
pub(super) struct Accessible {
    slots: OnceLock<Box<[Opened]>>,
    /// What [`Slots::get`] hands out, in bytes.
    pub(super) at_first: usize,
}

/// What of a slot is accessible.
#[derive(Debug)]
struct Opened {
    /// Bytes that are.
    bytes: AtomicUsize,
    /// Bytes that are, but for marks in the page table.
    usable: AtomicUsize,
}

impl Accessible {
    /// Of a new pool.
    pub(super) fn new(at_first: usize) -> Self {
        Self { slots: OnceLock::new(), at_first }
    }

    /// Whether each slot is as any other: all of it is accessible, and handed out.
    #[inline]
    pub(super) fn is_all(&self) -> bool {
        // Who holds a slot that another thread changed sees the table, too.
        self.at_first == usize::MAX && self.slots.get().is_none()
    }

    /// What of a slot is accessible, if that may be less than all.
    fn opened(&self, number: u64) -> Option<&Opened> {
        self.slots.get().map(|slots| &slots[number as usize])
    }

    /// The same, of a pool of so many slots. All of each is accessible if nobody has asked for less.
    fn opened_or_all(&self, number: u64, count: u64, slot_bytes: usize) -> Result<&Opened, OutOfMemory> {
        if self.slots.get().is_none() {
            let mut slots = Vec::new();
            slots.try_reserve_exact(count as usize)?;
            slots.resize_with(count as usize, || Opened {
                bytes: AtomicUsize::new(slot_bytes),
                usable: AtomicUsize::new(slot_bytes),
            });
            let _section = hold(|| ());
            // Another thread's is as good.
            let _ = self.slots.set(slots.into_boxed_slice());
        }
        Ok(self.opened(number).expect("V4: it was just made"))
    }
}

impl Opened {
    /// Makes a slot that starts at an offset accessible up to `to` bytes instead of `from`. If a part of that is refused, all of it is
    /// undone.
    fn change(&self, mapping: &Mapping, start: usize, from: usize, to: usize) -> Result<(), Changed> {
        let done = self.try_change(mapping, start, from, to);
        let Err(error) = done else { return Ok(()) };
        mapping.count_refused();
        // Which part was done is not known.
        self.usable.fetch_min(from.min(to), Ordering::Relaxed);
        match self.try_change(mapping, start, to, from) {
            Ok(()) => Err(Changed::Nothing(error)),
            Err(_) => Err(Changed::Lost(error)),
        }
    }

    fn try_change(&self, mapping: &Mapping, start: usize, from: usize, to: usize) -> Result<(), SysError> {
        let usable = self.usable.load(Ordering::Relaxed);
        if to < from {
            // SAFETY: the part is the slot's, committed (V5), and its holder gives it up.
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
                mapping.unguard(at(from.max(usable)..to))?;
                self.usable.store(to, Ordering::Relaxed);
            }
        }
        self.bytes.store(to, Ordering::Relaxed);
        Ok(())
    }
}

/// What a change that was refused has left.
enum Changed {
    Nothing(SysError),
    /// It is not known what is accessible.
    Lost(SysError),
}

impl Slot<'_> {
    /// Makes the first `bytes` of the slot accessible, rounded up to whole pages, and those behind fault: what they held is gone.
    /// What becomes accessible again is zero. The slot's bytes are those that are accessible.
    ///
    /// Who changes the protection of a slot's pages by other means, as `mprotect`, makes those that are accessible readable and writable
    /// again before the slot is dropped.
    ///
    /// # Errors
    /// The system refused, and what was accessible is; if it refuses to undo what it did of the change, nothing is from then on, and the
    /// slot is not handed out again until its pool is dropped.
    ///
    /// # Cost
    /// A system call, unless nothing changes; the first call for a pool, 16 bytes for each of its slots. More than were ever accessible
    /// in this slot, or where guards are mappings, some more.
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
        let mapping = pool.shared.mapping();
        let start = mapping.offset_of(&self.pages);
        let opened = pool.accessible.opened_or_all(self.position, pool.count(), all);
        let opened = opened.map_err(|_| SysError { call: "malloc", errno: ENOMEM })?;
        let (len, done) = match opened.change(mapping, start, now, len) {
            Ok(()) => (len, Ok(())),
            Err(Changed::Nothing(error)) => (now, Err(error)),
            Err(Changed::Lost(error)) => {
                opened.bytes.store(LOST, Ordering::Relaxed);
                (0, Err(error))
            }
        };
        self.set_len(len);
        done
    }

    /// Narrows a slot that is dropped to what the pool hands out, if pages behind that would be given back anyway.
    #[inline]
    pub(super) fn narrow_dropped(&mut self) {
        let at_first = self.pool.accessible.at_first;
        let used = self.used_bytes.min(self.pages.len());
        let frees_all = self.pool.shared.residency.quarantine.is_some();
        if at_first < used && self.pool.shape().kept <= at_first && !frees_all {
            // Refused, the slot is as wide as before, and its pages are given back like those of any other.
            let _ = self.set_accessible(at_first);
        }
    }

    fn set_len(&mut self, len: usize) {
        // SAFETY: the whole slot is its holder's, and committed (V5); so much of it is accessible.
        self.pages = unsafe { Pages::new(self.pages.start(), len) };
    }

    /// Whether it is not known what is accessible: nobody gets the slot again.
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

/// The bytes that are accessible of a slot of which that is not known.
const LOST: usize = usize::MAX;

impl Slots<'_> {
    /// As [`Slots::get`], with the first `bytes` of the slot accessible: see [`Slot::set_accessible`].
    ///
    /// # Errors
    /// As both.
    ///
    /// # Cost
    /// As [`Slots::get`], and a system call if the slot's last holder ended with more or less.
    pub fn get_accessible(&self, bytes: usize) -> Result<Slot<'_>, AllocError> {
        self.narrowed(self.get_any()?, bytes)
    }

    /// Makes so much of a slot accessible that was just taken.
    pub(super) fn narrowed<'s>(&'s self, mut slot: Slot<'s>, bytes: usize) -> Result<Slot<'s>, AllocError> {
        // The debug mode guards all of a free slot, and opens all of it.
        if self.shared.residency.quarantine.is_none()
            && let Some(opened) = self.accessible.opened(slot.position)
        {
            slot.set_len(opened.bytes.load(Ordering::Relaxed));
        }
        slot.set_accessible(bytes)?;
        Ok(slot)
    }
}
