//! The mapping layer: one reservation, its committed parts, and every system call on its pages.
//!
//! # Contract
//! - Constructing [`Pages`] asserts exclusive use of a committed range (V1); afterwards all operations on them are
//!   safe.
//! - A call that fails changes nothing, except that the content of pages whose decommit failed is unknown.
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

pub(crate) use pages::{Pages, as_bytes};

const EINVAL: i32 = 22;
pub(crate) const ENOMEM: i32 = 12;
const MARKED: u8 = 1;
const PROTECTED: u8 = 2;
/// Guards of this length or more are mappings of their own: marks would take page tables, and time to walk them.
const LONG_GUARD: usize = 2 << 20;

/// A reservation that starts at a multiple of [`BASE_ALIGN`]. Ranges are byte offsets from there.
#[derive(Debug)]
pub(crate) struct Mapping {
    memory: Reservation,
    /// Bytes of the reservation before that multiple.
    lead: usize,
    len: usize,
    pub(crate) committed: CommitMap,
    /// How guards were made so far: [`MARKED`], [`PROTECTED`] or both.
    guard: AtomicU8,
    /// Refused calls that had a fallback.
    pub(crate) refused: AtomicU64,
    is_locked: bool,
    /// The advice for the whole mapping that the system accepted.
    pub(crate) advice: Advice,
}

impl Mapping {
    /// Reserves `len` bytes, which are whole pages. Commits them if that is done at once.
    pub(crate) fn new(len: usize, commit: Commit, asked: &Builder) -> Result<Self, BuildError> {
        let invalid = SysError { call: "mmap", errno: EINVAL };
        let memory = Reservation::new(len.checked_add(BASE_ALIGN).ok_or(invalid)?)?;
        let address = memory.base().addr().get();
        let lead = address.next_multiple_of(BASE_ALIGN) - address;
        let committed = CommitMap::new(len, commit == Commit::Lazy)?;
        let (guard, refused) = (AtomicU8::new(0), AtomicU64::new(0));
        let (is_locked, advice) = (asked.is_locked, Advice::default());
        let mut mapping = Self { memory, lead, len, committed, guard, refused, is_locked, advice };
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
        if self.committed.is_all() { Commit::Lazy } else { Commit::Strict }
    }

    /// Counts a refused call that has a fallback.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of the byte at an offset.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        (self.memory.base().addr().get() + self.lead + offset) as u64
    }

    /// The same range, as offsets in the reservation.
    fn inner(&self, range: Range<usize>) -> Range<usize> {
        self.lead + range.start..self.lead + range.end
    }

    /// The range of a part of `pages`, as offsets in the reservation.
    fn range_of(&self, pages: &Pages, part: Range<usize>) -> Range<usize> {
        debug_assert!(part.start <= part.end && part.end <= pages.len());
        let from = pages.start().addr().get() - self.memory.base().addr().get();
        from + part.start..from + part.end
    }

    /// Makes a range readable and writable.
    fn make_usable(&self, range: Range<usize>) -> Result<(), SysError> {
        self.memory.commit(self.inner(range))
    }

    /// Commits a range, and the memory after it up to `ample_end` if the system allows it.
    pub(crate) fn commit(&self, range: &Range<usize>, ample_end: usize) -> Result<(), SysError> {
        if self.committed.is_committed(range) {
            return Ok(());
        }
        // If memory is scarce, commit no more than is needed.
        match self.committed.commit(self, &(range.start..ample_end.max(range.end))) {
            Ok(()) => Ok(()),
            Err(_) => self.committed.commit(self, range),
        }
    }

    /// Decommits a range, and makes guarded pages in it usable: it is zero afterwards.
    ///
    /// # Safety
    /// Nobody uses any part of it.
    pub(crate) unsafe fn reset(&self, range: &Range<usize>) -> Result<(), SysError> {
        // SAFETY:
        // - Nobody uses the range, as the caller guarantees.
        // - Parts that are not committed are not touched.
        let mut pages = unsafe { self.pages(range.clone()) };
        self.decommit(&mut pages, 0..range.len())?;
        self.unguard(range.clone(), self.advice)
    }

    /// Advises the system for a range. Returns the advice that it accepted.
    fn advise(&self, range: Range<usize>, asked: Advice) -> Advice {
        // Huge pages are disabled where nobody asked for them. A kernel may have none.
        let advised = match asked.huge_pages {
            true => self.memory.with_huge_pages(self.inner(range.clone())),
            false => self.memory.without_huge_pages(self.inner(range.clone())),
        };
        let prefers = |&node: &u32| self.memory.prefer_node(self.inner(range.clone()), Some(node)).is_ok();
        Advice { huge_pages: asked.huge_pages && advised.is_ok(), node: asked.node.filter(prefers) }
    }

    /// Advises the system for a part that differs from the whole mapping. Returns the advice that it accepted.
    pub(crate) fn advise_part(&self, range: Range<usize>, asked: Advice) -> Advice {
        let all = self.advice;
        let asked = Advice { huge_pages: asked.huge_pages || all.huge_pages, node: asked.node.or(all.node) };
        if asked == all { all } else { self.advise(range, asked) }
    }

    /// Ends the advice for a part, which has that of the whole mapping again.
    pub(crate) fn end_advice(&self, range: Range<usize>, given: Advice) {
        if given == self.advice {
            return;
        }
        if self.advice.node.is_none() && given.node.is_some() {
            // If it is refused, the part keeps its former user's preference.
            let _ = self.memory.prefer_node(self.inner(range.clone()), None);
        }
        self.advise(range, self.advice);
    }

    /// Bytes of the mapping that have huge pages.
    pub(crate) fn huge_page_bytes(&self) -> Result<u64, SysError> {
        self.memory.huge_page_bytes(self.inner(0..self.len))
    }

    /// Names a range. `false` if the kernel has no such names.
    pub(crate) fn name(&self, range: Range<usize>, name: &std::ffi::CStr) -> bool {
        self.memory.name(self.inner(range), name).is_ok()
    }

    /// Pages of a range.
    ///
    /// # Safety
    /// - The range is committed.
    /// - While the value lives, the mapping lives and nobody else uses the range (V1).
    #[inline]
    pub(crate) unsafe fn pages(&self, range: Range<usize>) -> Pages {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: guaranteed by the caller.
        unsafe { Pages::new(self.at(range.start), range.len()) }
    }

    /// The byte at an offset.
    ///
    /// # Safety
    /// The offset lies in the mapping, or at its end.
    #[inline]
    pub(crate) unsafe fn at(&self, offset: usize) -> NonNull<u8> {
        debug_assert!(offset <= self.len);
        // SAFETY: the offset is in the mapping, as the caller guarantees, and the mapping lies within the reservation.
        unsafe { self.memory.base().add(self.lead + offset) }
    }

    /// The byte at an address.
    ///
    /// # Safety
    /// The address lies in the mapping.
    #[inline]
    pub(crate) unsafe fn at_address(&self, address: u64) -> NonNull<u8> {
        let base = self.memory.base();
        // SAFETY: the address is in the mapping, as the caller guarantees, and the mapping lies within the reservation.
        unsafe { base.add(address as usize - base.addr().get()) }
    }

    /// Decommits a part, which is zero then. If that fails, its content is unknown.
    pub(crate) fn decommit(&self, pages: &mut Pages, part: Range<usize>) -> Result<(), SysError> {
        let range = self.range_of(pages, part);
        // SAFETY: the pages are committed, and their owner does not rely on their content.
        match unsafe { self.memory.decommit(range.clone()) } {
            // The pages are locked, here or by `mlockall`.
            // SAFETY: as above.
            Err(SysError { errno: EINVAL, .. }) => unsafe { self.memory.decommit_locked(range) },
            done => done,
        }
    }

    /// Makes every access to the pages fault, and decommits them. Returns how.
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

    /// Makes pages usable again that guard marks protect.
    pub(crate) fn unmark(&self, range: Range<usize>) -> Result<(), SysError> {
        self.memory.unguard(self.inner(range.clone()), Guard::Marked)?;
        if self.is_locked { self.memory.lock_on_fault(self.inner(range)) } else { Ok(()) }
    }

    /// Makes guarded pages of a range usable again, if any are, with the advice that its user has. Parts that are not
    /// committed stay so: they have no guards, and the call that makes protected pages usable would commit them.
    pub(crate) fn unguard(&self, range: Range<usize>, given: Advice) -> Result<(), SysError> {
        // Relaxed: the thread that guarded a part of the range has handed it on since.
        let ways = self.guard.load(Ordering::Relaxed);
        for (way, guard) in [(MARKED, Guard::Marked), (PROTECTED, Guard::Protected)] {
            if ways & way != 0 {
                let mut parts = self.committed.parts(&range, true);
                parts.try_for_each(|part| self.memory.unguard(self.inner(part), guard))?;
                if way == PROTECTED {
                    // A long guard was a mapping of its own.
                    self.advise(range.clone(), given);
                }
            }
        }
        if self.is_locked && ways != 0 { self.memory.lock_on_fault(self.inner(range)) } else { Ok(()) }
    }

    /// How guards of less than 2 MiB are made. `None` before the first.
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

    /// The offset of the first byte.
    pub(crate) fn offset_of(&self, pages: &Pages) -> usize {
        pages.start().addr().get() - self.memory.base().addr().get() - self.lead
    }
}

/// `len` rounded up to whole pages; `None` beyond the address space.
#[inline]
pub(crate) fn whole_pages(len: usize) -> Option<usize> {
    len.checked_next_multiple_of(page_bytes())
}
