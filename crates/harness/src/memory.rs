//! Memory that a measurement compares with: of any allocator, of `mmap`, and slots that system calls make zero again.

use freehold_sys::{PageScan, Reservation, SysError, page_bytes};
use std::alloc::{GlobalAlloc, Layout};
use std::ops::{Deref, DerefMut, Range};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, PoisonError};

/// What a block is aligned to, as `malloc` aligns.
const ALIGN: usize = 16;

/// A mapping for each block, by `mmap` and `munmap`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mmap;

// SAFETY: a mapping is memory of its own until it is unmapped, and starts at a page.
unsafe impl GlobalAlloc for Mmap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > page_bytes() {
            return ptr::null_mut();
        }
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let at = unsafe { libc::mmap(ptr::null_mut(), layout.size(), rights, flags, -1, 0) };
        if at == libc::MAP_FAILED { ptr::null_mut() } else { at.cast() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says. A new mapping is zero.
        unsafe { self.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the whole of a mapping of `alloc`, which nobody uses any more, as the caller says.
        unsafe { libc::munmap(at.cast(), layout.size()) };
    }
}

/// A block of an allocator. Dropped, it goes back.
#[derive(Debug)]
pub struct Block<'a, A: GlobalAlloc> {
    allocator: &'a A,
    start: NonNull<u8>,
    layout: Layout,
    /// Every so many-th byte is known to have a value, from the first on; 0 if none is.
    known_step: usize,
}

impl<'a, A: GlobalAlloc> Block<'a, A> {
    /// Takes `len_bytes`, which hold zeros or anything. `None` of 0 bytes, or if the allocator has none.
    #[inline]
    pub fn new(allocator: &'a A, len_bytes: usize, zeroed: bool) -> Option<Self> {
        let layout = Layout::from_size_align(len_bytes, ALIGN).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout is of more than 0 bytes.
        let start = unsafe { if zeroed { allocator.alloc_zeroed(layout) } else { allocator.alloc(layout) } };
        Some(Self { allocator, start: NonNull::new(start)?, layout, known_step: usize::from(zeroed) })
    }

    /// The first byte's address.
    #[inline]
    #[must_use]
    pub fn address(&self) -> u64 {
        self.start.addr().get() as u64
    }

    /// Writes to every `step`-th byte, from the first on; to each if that is 0 or 1.
    #[inline]
    pub fn write_every(&mut self, step: usize, value: u8) {
        let step = step.max(1);
        let mut at = 0;
        while at < self.layout.size() {
            // SAFETY: within the block, which is this one's alone.
            unsafe { self.start.add(at).write(value) };
            at = at.saturating_add(step);
        }
        if self.known_step == 0 || !step.is_multiple_of(self.known_step) {
            self.known_step = step;
        }
    }

    /// Whether every `step`-th byte is `value`, from the first on; false if one of them has no known value.
    #[must_use]
    pub fn has_every(&self, step: usize, value: u8) -> bool {
        let step = step.max(1);
        let known = self.known_step > 0 && step.is_multiple_of(self.known_step);
        let mut at = 0;
        // SAFETY: within the block, and written before.
        while known && at < self.layout.size() && unsafe { self.start.add(at).read() } == value {
            at = at.saturating_add(step);
        }
        known && at >= self.layout.size()
    }
}

impl<A: GlobalAlloc> Drop for Block<'_, A> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is of this allocator and this layout, and nobody uses it any more.
        unsafe { self.allocator.dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Pages in one mapping, without huge ones, which system calls make zero again.
#[derive(Debug)]
pub struct Pages {
    memory: Reservation,
    scan: PageScan,
}

impl Pages {
    /// So many bytes of whole pages, all zero.
    ///
    /// # Errors
    /// As [`Reservation::new`], [`Reservation::commit`] and [`PageScan::open`].
    pub fn new(len_bytes: usize) -> Result<Self, SysError> {
        let memory = Reservation::new(len_bytes)?;
        memory.commit(0..len_bytes)?;
        // A kernel without huge pages refuses, and brings none.
        let _ = memory.without_huge_pages(0..len_bytes);
        Ok(Self { memory, scan: PageScan::open()? })
    }

    /// Gives the memory of pages back, so that they are zero.
    ///
    /// # Errors
    /// As [`Reservation::decommit`].
    #[doc(alias = "MADV_DONTNEED")]
    pub fn discard(&mut self, range: Range<usize>) -> Result<(), SysError> {
        // SAFETY: all is committed, and nobody else uses it while this is borrowed.
        unsafe { self.memory.decommit(range) }
    }

    /// Asks which pages have memory, and writes zeros to these.
    ///
    /// # Errors
    /// As [`PageScan::resident`].
    #[doc(alias = "PAGEMAP_SCAN")]
    pub fn clear(&mut self, range: Range<usize>) -> Result<(), SysError> {
        let base = self.memory.base();
        self.scan.resident(&self.memory, range, |run| {
            // SAFETY: a run is of committed pages, which nobody else uses while this is borrowed.
            unsafe { base.add(run.start).write_bytes(0, run.len()) };
        })
    }
}

impl Deref for Pages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: all is committed and lives as long as this.
        unsafe { std::slice::from_raw_parts(self.memory.base().as_ptr(), self.memory.len_bytes()) }
    }
}

impl DerefMut for Pages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and it is borrowed by this alone.
        unsafe { std::slice::from_raw_parts_mut(self.memory.base().as_ptr(), self.memory.len_bytes()) }
    }
}

/// The calls of [`poke`] and [`peek`].
pub const POKES: [libc::c_long; 3] = [libc::SYS_pipe2, libc::SYS_read, libc::SYS_write];

/// Moves a byte from one address to another through a pipe: the kernel, or an emulator, says `EFAULT` where a thread would fault.
/// `None` if it does; the byte is not moved then.
fn through_pipe(from: *const u8, to: *mut u8) -> Option<()> {
    static PIPE: Mutex<Option<[libc::c_int; 2]>> = Mutex::new(None);
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    let [read, write] = match *pipe {
        Some(ends) => ends,
        None => {
            let mut ends = [0; 2];
            // SAFETY: the call writes two numbers.
            let failed = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) };
            (failed == 0).then_some(*pipe.insert(ends))?
        }
    };
    // SAFETY: the callers say of what they move; the calls fail for what is not readable, or writable.
    let moved = unsafe {
        libc::write(write, from.cast(), 1) == 1 && {
            let moved = libc::read(read, to.cast(), 1) == 1;
            if !moved {
                // What was not moved must not wait for the next.
                let mut rest = 0_u8;
                libc::read(read, (&raw mut rest).cast(), 1);
            }
            moved
        }
    };
    moved.then_some(())
}

/// Has the kernel write a byte of this process. False where a thread that did it would fault.
///
/// As a write to `/proc/self/mem`, it is not of the language: who calls it holds the byte, or knows that it cannot be written.
#[must_use]
pub fn poke(at: NonNull<u8>, value: u8) -> bool {
    through_pipe(&raw const value, at.as_ptr()).is_some()
}

/// Has the kernel read a byte of this process. `None` where a thread that did it would fault.
#[must_use]
pub fn peek(at: NonNull<u8>) -> Option<u8> {
    let mut value = 0_u8;
    through_pipe(at.as_ptr(), &raw mut value)?;
    Some(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;
    use crate::threads::page_faults;
    use std::alloc::System;

    fn what_is_written_is_there(allocator: &impl GlobalAlloc) {
        let mut block = Block::new(allocator, 20_000, false).unwrap();
        assert!(!block.has_every(4096, 0), "nothing is known of it");
        block.write_every(4096, 7);
        assert!(block.has_every(8192, 7) && !block.has_every(4096, 8) && !block.has_every(1, 7));
        block.write_every(1, 9);
        block.write_every(4096, 7);
        assert!(block.has_every(4096, 7) && !block.has_every(1, 9));
        drop(block);
        assert!(Block::new(allocator, 20_000, true).unwrap().has_every(1, 0));
        assert!(
            Block::new(allocator, 0, true).is_none() && Block::new(allocator, usize::MAX, false).is_none()
        );
    }

    #[test]
    fn blocks_hold_what_is_written() {
        what_is_written_is_there(&System);
        what_is_written_is_there(&Mmap);
    }

    #[test]
    fn a_new_mapping_faults_once_for_each_page() {
        let before = page_faults().unwrap();
        Block::new(&Mmap, 64 * page_bytes(), false).unwrap().write_every(page_bytes(), 1);
        assert!(page_faults().unwrap() - before >= 64);
    }

    #[test]
    fn the_kernel_writes_where_a_thread_could() {
        let memory = Reservation::new(page_bytes()).unwrap();
        assert!(!poke(memory.base(), 7) && peek(memory.base()).is_none());
        memory.commit(0..page_bytes()).unwrap();
        assert!(poke(memory.base(), 7) && peek(memory.base()) == Some(7));
    }

    #[test]
    fn pages_are_zero_again() {
        let page = page_bytes();
        let mut pages = Pages::new(8 * page).unwrap();
        for way in [Pages::discard, Pages::clear] {
            pages.fill(1);
            way(&mut pages, page..7 * page).unwrap();
            assert!(pages[page..7 * page].iter().all(|&byte| byte == 0));
            assert!(pages[0] == 1 && pages[8 * page - 1] == 1);
        }
        assert!(pages.discard(1..page).is_err());
    }
}
