//! The reservation that everything lies in, and pages of it that one owner uses.
//!
//! What is unsafe about memory is here: constructing [`Pages`] asserts exclusive use; afterwards all operations on them
//! are safe.

use freehold_sys::{Guard, PageScan, Reservation, SysError, page_bytes};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};

/// What the first byte is a multiple of.
pub(crate) const BASE_ALIGN: usize = 4 << 20;

/// A reservation from a multiple of [`BASE_ALIGN`] on. Ranges are bytes from there.
#[derive(Debug)]
pub(crate) struct Mapping {
    memory: Reservation,
    /// Bytes of the reservation before the first of its own.
    lead: usize,
    len: usize,
    /// How guards are made here, plus 1; 0 while there was none.
    guard: AtomicU8,
}

impl Mapping {
    /// Reserves `len` bytes, which are whole pages.
    pub(crate) fn new(len: usize) -> Result<Self, SysError> {
        let invalid = SysError { call: "mmap", errno: 22 };
        let memory = Reservation::new(len.checked_add(BASE_ALIGN).ok_or(invalid)?)?;
        let address = memory.base().addr().get();
        let lead = address.next_multiple_of(BASE_ALIGN) - address;
        Ok(Self { memory, lead, len, guard: AtomicU8::new(0) })
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
        debug_assert!(part.start <= part.end && part.end <= pages.len);
        let from = pages.start.addr().get() - self.memory.base().addr().get();
        from + part.start..from + part.end
    }

    /// Makes a range readable and writable.
    pub(crate) fn commit(&self, range: Range<usize>) -> Result<(), SysError> {
        self.memory.commit(self.inner(range))
    }

    /// Names a range. False where the kernel has no names.
    pub(crate) fn name(&self, range: Range<usize>, name: &std::ffi::CStr) -> bool {
        self.memory.name(self.inner(range), name).is_ok()
    }

    /// Keeps huge pages out, of which the kernel may have none.
    pub(crate) fn without_huge_pages(&self) {
        let _ = self.memory.without_huge_pages(self.inner(0..self.len));
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

    /// Gives memory back: the part is zero. If that fails, what it holds is unknown.
    pub(crate) fn decommit(&self, pages: &mut Pages, part: Range<usize>) -> Result<(), SysError> {
        // SAFETY: the pages are committed, and their owner does not rely on what they hold.
        unsafe { self.memory.decommit(self.range_of(pages, part)) }
    }

    /// Makes every access to the pages fault, and gives their memory back.
    pub(crate) fn guard(&self, pages: &mut Pages) -> Result<(), SysError> {
        let all = 0..pages.len;
        // SAFETY: the pages are committed, and their owner does not use them.
        let guard = unsafe { self.memory.guard(self.range_of(pages, all)) }?;
        // Relaxed: a kernel has one way.
        self.guard.store(1 + u8::from(guard == Guard::Protected), Ordering::Relaxed);
        Ok(())
    }

    /// Makes guarded pages of a range usable again, if any are.
    pub(crate) fn unguard(&self, range: Range<usize>) -> Result<(), SysError> {
        match self.guards() {
            Some(guard) => self.memory.unguard(self.inner(range), guard),
            None => Ok(()),
        }
    }

    /// How guards are made, once one was.
    pub(crate) fn guards(&self) -> Option<Guard> {
        match self.guard.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Guard::Marked),
            _ => Some(Guard::Protected),
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

    /// The offset of the first page.
    pub(crate) fn offset_of(&self, pages: &Pages) -> usize {
        pages.start.addr().get() - self.memory.base().addr().get() - self.lead
    }
}

/// Committed pages that their owner alone uses (V1).
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nobody else uses the pages, whichever thread has them.
unsafe impl Send for Pages {}
// SAFETY: through a shared reference they are only read.
unsafe impl Sync for Pages {}

impl Pages {
    /// Pages that start there.
    ///
    /// # Safety
    /// As for [`Mapping::pages`].
    #[inline]
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }

    /// No pages.
    #[inline]
    pub(crate) fn none() -> Self {
        Self { start: NonNull::dangling(), len: 0 }
    }

    #[inline]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are committed and the owner's; what the system or earlier owners left is bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has a reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Writes zeros.
    #[inline]
    pub(crate) fn zero(&mut self, part: Range<usize>) {
        self.bytes_mut()[part].fill(0);
    }
}

/// Bytes of whole pages that hold `len`; `None` beyond the address space.
#[inline]
pub(crate) fn whole_pages(len: usize) -> Option<usize> {
    len.checked_next_multiple_of(page_bytes())
}
