//! The mapping layer: one reservation, which parts of it are committed, and every call that is made on its pages.
//!
//! # Contract
//! - Constructing [`Pages`] asserts exclusive use of a committed range (V1); afterwards all operations on them are safe.
//! - A call that fails changes nothing, but what pages hold whose decommit failed.
//! - The layer knows nothing of blocks, sizes or users.

mod commit;
mod pages;

use crate::builder::{Advice, BASE_ALIGN, Builder, Commit};
use crate::error::BuildError;
use commit::CommitMap;
use freehold_sys::{Guard, PageScan, Reservation, SysError, page_bytes};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

pub(crate) use pages::Pages;

const EINVAL: i32 = 22;
pub(crate) const ENOMEM: i32 = 12;
const MARKED: u8 = 1;
const PROTECTED: u8 = 2;
/// From here on a guard is a mapping of its own: marks would take page tables, and time to walk them.
const LONG_GUARD: usize = 2 << 20;

/// A reservation from a multiple of [`BASE_ALIGN`] on. Ranges are bytes from there.
#[derive(Debug)]
pub(crate) struct Mapping {
    memory: Reservation,
    /// Bytes of the reservation before the first of its own.
    lead: usize,
    len: usize,
    /// When ranges become usable.
    commit: Commit,
    committed: CommitMap,
    /// How guards were made here: [`MARKED`], [`PROTECTED`] or both.
    guard: AtomicU8,
    /// Refused calls for which there was another way.
    refused: AtomicU64,
    is_locked: bool,
    /// What of all of it the system was advised of.
    advice: Advice,
}

impl Mapping {
    /// Reserves `len` bytes, which are whole pages, and commits them if that is done at once.
    pub(crate) fn new(len: usize, commit: Commit, asked: &Builder) -> Result<Self, BuildError> {
        let invalid = SysError { call: "mmap", errno: EINVAL };
        let memory = Reservation::new(len.checked_add(BASE_ALIGN).ok_or(invalid)?)?;
        let address = memory.base().addr().get();
        let lead = address.next_multiple_of(BASE_ALIGN) - address;
        let committed = CommitMap::new(len, commit == Commit::Lazy)?;
        let (guard, refused) = (AtomicU8::new(0), AtomicU64::new(0));
        let (is_locked, advice) = (asked.is_locked, Advice::default());
        let mut mapping = Self { memory, lead, len, commit, committed, guard, refused, is_locked, advice };
        mapping.advice = mapping.advise(0..len, asked.advice);
        if is_locked {
            mapping.memory.lock_on_fault(mapping.inner(0..len))?;
        }
        if commit == Commit::Lazy {
            mapping.make_usable(0..len)?;
        }
        Ok(mapping)
    }

    /// When ranges become usable.
    pub(crate) fn commits(&self) -> Commit {
        self.commit
    }

    /// Counts a refused call for which there is another way.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were counted.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of the byte at an offset.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        (self.memory.base().addr().get() + self.lead + offset) as u64
    }

    /// The same range of the reservation.
    fn inner(&self, range: Range<usize>) -> Range<usize> {
        self.lead + range.start..self.lead + range.end
    }

    /// Where pages lie in the reservation.
    fn range_of(&self, pages: &Pages, part: Range<usize>) -> Range<usize> {
        debug_assert!(part.start <= part.end && part.end <= pages.len());
        let from = pages.start().addr().get() - self.memory.base().addr().get();
        from + part.start..from + part.end
    }

    /// Makes a range readable and writable.
    fn make_usable(&self, range: Range<usize>) -> Result<(), SysError> {
        self.memory.commit(self.inner(range))
    }

    /// Commits a range, and what follows up to `ample_end` if the system lets it.
    pub(crate) fn commit(&self, range: &Range<usize>, ample_end: usize) -> Result<(), SysError> {
        if self.committed.is_committed(range) {
            return Ok(());
        }
        // Where there is little left to be had, no more than is needed.
        match self.committed.commit(self, &(range.start..ample_end.max(range.end))) {
            Ok(()) => Ok(()),
            Err(_) => self.committed.commit(self, range),
        }
    }

    /// Whether a range is committed.
    pub(crate) fn is_committed(&self, range: &Range<usize>) -> bool {
        self.committed.is_committed(range)
    }

    /// Bytes of a range that are committed.
    pub(crate) fn committed_bytes(&self, range: &Range<usize>) -> usize {
        self.committed.committed_bytes(range)
    }

    /// What ranges of different users start at and are made of, so that one is not committed with another.
    pub(crate) fn granule(&self) -> usize {
        self.committed.granule()
    }

    /// Gives all memory of a range back, and makes guarded pages of it usable: it is zero.
    ///
    /// # Safety
    /// Nobody uses a part of it.
    pub(crate) unsafe fn reset(&self, range: &Range<usize>) -> Result<(), SysError> {
        // SAFETY: nobody uses the range, as the caller says. What is not committed is not touched.
        let mut pages = unsafe { self.pages(range.clone()) };
        self.decommit(&mut pages, 0..range.len())?;
        self.unguard(range.clone())
    }

    /// Asks for what memory a range is to have. Returns what of it the system takes up.
    fn advise(&self, range: Range<usize>, asked: Advice) -> Advice {
        // Huge pages are kept out of what did not ask for them. A kernel may have none.
        let advised = match asked.huge_pages {
            true => self.memory.with_huge_pages(self.inner(range.clone())),
            false => self.memory.without_huge_pages(self.inner(range.clone())),
        };
        let prefers = |&node: &u32| self.memory.prefer_node(self.inner(range.clone()), Some(node)).is_ok();
        Advice { huge_pages: asked.huge_pages && advised.is_ok(), node: asked.node.filter(prefers) }
    }

    /// Asks for a part what it is to have beyond what all of the mapping has. Returns what the system has taken up for it.
    pub(crate) fn advise_part(&self, range: Range<usize>, asked: Advice) -> Advice {
        let all = self.advice;
        let asked = Advice { huge_pages: asked.huge_pages || all.huge_pages, node: asked.node.or(all.node) };
        if asked == all { all } else { self.advise(range, asked) }
    }

    /// Ends what was asked for a part, which is as all of the mapping again.
    pub(crate) fn end_advice(&self, range: Range<usize>, given: Advice) {
        if given == self.advice {
            return;
        }
        if self.advice.node.is_none() && given.node.is_some() {
            // What is refused stays the user's choice before.
            let _ = self.memory.prefer_node(self.inner(range.clone()), None);
        }
        self.advise(range, self.advice);
    }

    /// What of what was asked for all of it the system takes up.
    pub(crate) fn advice(&self) -> Advice {
        self.advice
    }

    /// Bytes of the mapping that have huge pages.
    pub(crate) fn huge_page_bytes(&self) -> Result<u64, SysError> {
        self.memory.huge_page_bytes(self.inner(0..self.len))
    }

    /// Names a range. False where the kernel has no names.
    pub(crate) fn name(&self, range: Range<usize>, name: &std::ffi::CStr) -> bool {
        self.memory.name(self.inner(range), name).is_ok()
    }

    /// Pages of a range.
    ///
    /// # Safety
    /// The range is committed, and as long as the value lives nobody else uses it, and the mapping lives (V1).
    #[inline]
    pub(crate) unsafe fn pages(&self, range: Range<usize>) -> Pages {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: as the caller says.
        unsafe { Pages::new(self.at(range.start), range.len()) }
    }

    /// The byte at an offset.
    ///
    /// # Safety
    /// The mapping has it, or ends there.
    #[inline]
    pub(crate) unsafe fn at(&self, offset: usize) -> NonNull<u8> {
        debug_assert!(offset <= self.len);
        // SAFETY: as the caller says, and the reservation has all of the mapping.
        unsafe { self.memory.base().add(self.lead + offset) }
    }

    /// The byte at an address.
    ///
    /// # Safety
    /// The mapping has it.
    #[inline]
    pub(crate) unsafe fn at_address(&self, address: u64) -> NonNull<u8> {
        let base = self.memory.base();
        // SAFETY: as the caller says, and the reservation has all of the mapping.
        unsafe { base.add(address as usize - base.addr().get()) }
    }

    /// Gives memory back: the part is zero. If that fails, what it holds is unknown.
    pub(crate) fn decommit(&self, pages: &mut Pages, part: Range<usize>) -> Result<(), SysError> {
        let range = self.range_of(pages, part);
        // SAFETY: the pages are committed, and their owner does not rely on what they hold.
        match unsafe { self.memory.decommit(range.clone()) } {
            // Locked, here or by `mlockall`.
            // SAFETY: as above.
            Err(SysError { errno: EINVAL, .. }) => unsafe { self.memory.decommit_locked(range) },
            done => done,
        }
    }

    /// Makes every access to the pages fault, and gives their memory back. Returns how.
    pub(crate) fn guard(&self, pages: &mut Pages) -> Result<Guard, SysError> {
        let range = self.range_of(pages, 0..pages.len());
        let is_long = range.len() >= LONG_GUARD && self.memory.may_split();
        // SAFETY: the pages are committed, and their owner does not use them.
        if is_long && unsafe { self.memory.uncommit(range.clone()) }.is_ok() {
            self.guard.fetch_or(PROTECTED, Ordering::Relaxed);
            return Ok(Guard::Protected);
        }
        if self.is_locked {
            // The kernel marks no guards in locked memory.
            self.memory.unlock(range.clone())?;
        }
        // SAFETY: as above.
        let guard = unsafe { self.memory.guard(range) }?;
        self.guard.fetch_or(if guard == Guard::Marked { MARKED } else { PROTECTED }, Ordering::Relaxed);
        Ok(guard)
    }

    /// Makes pages usable again that were guarded by marks.
    pub(crate) fn unmark(&self, range: Range<usize>) -> Result<(), SysError> {
        self.memory.unguard(self.inner(range.clone()), Guard::Marked)?;
        if self.is_locked { self.memory.lock_on_fault(self.inner(range)) } else { Ok(()) }
    }

    /// Makes guarded pages of a range usable again, if any are.
    pub(crate) fn unguard(&self, range: Range<usize>) -> Result<(), SysError> {
        // Relaxed: who guarded a part of the range has handed it on since.
        let ways = self.guard.load(Ordering::Relaxed);
        for (way, guard) in [(MARKED, Guard::Marked), (PROTECTED, Guard::Protected)] {
            if ways & way != 0 {
                self.memory.unguard(self.inner(range.clone()), guard)?;
                if way == PROTECTED {
                    // A long guard was a mapping of its own.
                    self.advise(range.clone(), self.advice);
                }
            }
        }
        if self.is_locked && ways != 0 { self.memory.lock_on_fault(self.inner(range)) } else { Ok(()) }
    }

    /// How guards are made, once one was: those of less than 2 MiB, if there are any.
    pub(crate) fn guards(&self) -> Option<Guard> {
        match self.guard.load(Ordering::Relaxed) {
            0 => None,
            PROTECTED => Some(Guard::Protected),
            _ => Some(Guard::Marked),
        }
    }

    /// Calls `found` with each run of a range that has memory.
    pub(crate) fn resident(
        &self,
        scan: &mut PageScan,
        range: Range<usize>,
        mut found: impl FnMut(Range<usize>),
    ) -> Result<(), SysError> {
        let lead = self.lead;
        scan.resident(&self.memory, self.inner(range), |run| found(run.start - lead..run.end - lead))
    }

    /// Bytes of a range that have memory.
    pub(crate) fn resident_bytes(&self, scan: &mut PageScan, range: Range<usize>) -> Result<u64, SysError> {
        scan.resident_bytes(&self.memory, self.inner(range))
    }

    /// The offset of the first page.
    pub(crate) fn offset_of(&self, pages: &Pages) -> usize {
        pages.start().addr().get() - self.memory.base().addr().get() - self.lead
    }
}

/// Bytes of whole pages that hold `len`; `None` beyond the address space.
#[inline]
pub(crate) fn whole_pages(len: usize) -> Option<usize> {
    len.checked_next_multiple_of(page_bytes())
}
