//! Memory for machine code, near the functions that it calls: first written, then executable and no longer writable,
//! freed by module.
//!
//! ```text
//!   half of it        | code ......... ->        read, execute          three fronts, so that what has the same access
//!   a quarter         | constants .... ->        read                   is one mapping, however many modules there are
//!   a quarter         | data ......... ->        read, write
//! ```
//!
//! Cost: a system call for each run of pages that becomes usable, is sealed, or is freed, and O(log n) under a lock.

use crate::error::AllocError;
use crate::lock::lock;
use crate::mapping::whole_pages;
use crate::near::{self, NearError};
use freehold_kva::{self as kva, AddressSpace, Placement, Request};
use freehold_sys::{Reservation, SysError, page_bytes};
use freehold_units::{Align, Span};
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// Access to a part of a module once it is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Read and executed.
    Code,
    /// Read.
    Constants,
    /// Read and written, always.
    Data,
}

/// Addresses for the code of many modules. Freed when the last module is dropped.
pub struct CodeSpace {
    memory: Reservation,
    /// The taken addresses, by [`Contents`].
    fronts: Mutex<[AddressSpace<()>; 3]>,
}

/// A module: its code, constants and data. Dropping it frees its memory and addresses. A program that runs its code
/// must keep it.
pub struct CodeModule {
    space: Arc<CodeSpace>,
    /// The runs of pages of the module.
    runs: Vec<Run>,
}

/// A run of pages of a module.
#[derive(Debug)]
struct Run {
    contents: Contents,
    range: Range<usize>,
    /// Bytes that were handed out.
    used: usize,
    is_sealed: bool,
}

impl CodeSpace {
    /// Reserves `len_bytes` for modules, every byte within reach of `anchor`: see [`near::reserve`].
    ///
    /// # Errors
    /// As for [`near::reserve`], and [`NearError::Length`] for less than four pages.
    ///
    /// # Cost
    /// As for [`near::reserve`].
    pub fn near(anchor: *const (), reach_bytes: u64, len_bytes: usize) -> Result<Arc<Self>, NearError> {
        if len_bytes < 4 * page_bytes() {
            return Err(NearError::Length { len_bytes: len_bytes as u64 });
        }
        let memory = near::reserve(anchor, reach_bytes, len_bytes)?;
        let page = Align::new(page_bytes() as u64).expect("V1: pages are powers of two");
        let (first, len) = (memory.base().addr().get() as u64, memory.len_bytes() as u64);
        let quarter = page.down(len / 4);
        let front = |start: u64, end: u64| {
            let span = Span::new(first + start, first + end - 1).expect("V1: a front has pages");
            AddressSpace::new(span, page, Placement::Lowest).map_err(|_| NearError::OutOfMemory)
        };
        let (constants, data) = (len - 2 * quarter, len - quarter);
        let fronts = [front(0, constants)?, front(constants, data)?, front(data, len)?];
        Ok(Arc::new(Self { memory, fronts: Mutex::new(fronts) }))
    }

    /// An empty module. Cost: constant.
    #[must_use]
    pub fn module(self: &Arc<Self>) -> CodeModule {
        CodeModule { space: Arc::clone(self), runs: Vec::new() }
    }

    /// Bytes that belong to modules, in whole pages. Cost: a lock.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        lock(&self.fronts)
            .iter()
            .map(|front| u64::try_from(front.stats().busy_bytes).unwrap_or(u64::MAX))
            .sum()
    }

    /// Takes pages and makes them writable.
    fn take(&self, contents: Contents, len: usize, align: usize) -> Result<Range<usize>, AllocError> {
        let len = whole_pages(len).ok_or(kva::AllocError::SizeOverflow)?;
        let request = Request::new(len as u64).align_bytes(align.max(page_bytes()) as u64);
        let span =
            lock(&self.fronts)[contents as usize].alloc(&request, ()).map_err(|rejected| rejected.cause)?;
        let start = span.first() as usize - self.first();
        let range = start..start + len;
        self.memory.commit(range.clone()).inspect_err(|_| self.put_back(contents, range.clone()))?;
        Ok(range)
    }

    /// Frees pages and their addresses. Pages whose decommit the system refuses stay taken until the space is dropped.
    fn put_back(&self, contents: Contents, range: Range<usize>) {
        let address = (self.first() + range.start) as u64;
        // SAFETY: the range belonged to a module that is dropped, or was never handed out.
        if unsafe { self.memory.uncommit(range) }.is_ok() {
            let freed = lock(&self.fronts)[contents as usize].free(address);
            freed.expect("V1: what is held is freed once");
        }
    }

    /// The address of the first byte.
    fn first(&self) -> usize {
        self.memory.base().addr().get()
    }
}

impl Run {
    /// The offset in the reservation, which starts at `first`, where this run has `len_bytes` left.
    fn place(&self, first: usize, len_bytes: usize, align_bytes: usize) -> Option<usize> {
        let start = (first + self.range.start + self.used).checked_next_multiple_of(align_bytes)? - first;
        (self.range.end.checked_sub(start)? >= len_bytes).then_some(start)
    }
}

impl CodeModule {
    /// Allocates `len_bytes` at a multiple of `align_bytes`, zero and writable until the module is sealed: from pages
    /// that the module has, or from new ones. All addresses of the module lie within its space, and so within reach of
    /// each other.
    ///
    /// # Errors
    /// - [`AllocError::Addresses`]: 0 bytes, an alignment that is no power of two, or no addresses are left.
    /// - [`AllocError::System`]; [`AllocError::OutOfMemory`].
    ///
    /// # Cost
    /// Linear in the module's runs of pages; a system call if new ones are needed.
    pub fn alloc(
        &mut self,
        contents: Contents,
        len_bytes: usize,
        align_bytes: usize,
    ) -> Result<NonNull<u8>, AllocError> {
        if len_bytes == 0 {
            return Err(kva::AllocError::ZeroSize.into());
        }
        if !align_bytes.is_power_of_two() {
            return Err(kva::AllocError::NotPowerOfTwo { align_bytes: align_bytes as u64 }.into());
        }
        let first = self.space.first();
        let place = |run: &Run| match run.contents == contents && !run.is_sealed {
            true => run.place(first, len_bytes, align_bytes),
            false => None,
        };
        let open = self.runs.iter().enumerate().rev().find_map(|(number, run)| Some((number, place(run)?)));
        let (number, start) = match open {
            Some(found) => found,
            None => {
                self.runs.try_reserve(1).map_err(|_| AllocError::OutOfMemory)?;
                let range = self.space.take(contents, len_bytes, align_bytes)?;
                let start = range.start;
                self.runs.push(Run { contents, range, used: 0, is_sealed: false });
                (self.runs.len() - 1, start)
            }
        };
        let run = &mut self.runs[number];
        run.used = start + len_bytes - run.range.start;
        // SAFETY: the run lies in the reservation.
        Ok(unsafe { self.space.memory.base().add(start) })
    }

    /// Makes the module's code executable and its constants read-only. Memory allocated afterwards is sealed by the
    /// next call. On machines other than x86-64, the writer of the code must clear the instruction cache.
    ///
    /// # Errors
    /// The system refused: some parts may be sealed. Sealing again does no harm.
    ///
    /// # Cost
    /// A system call for each run of pages that was not sealed; neighbours count as one.
    ///
    /// # Safety
    /// Nobody writes to code or constants any more.
    pub unsafe fn seal(&mut self) -> Result<(), SysError> {
        self.runs.sort_unstable_by_key(|run| run.range.start);
        let mut left = self.runs.as_mut_slice();
        while let Some(first) = left.first() {
            let (contents, is_sealed) = (first.contents, first.is_sealed);
            let is_next = |two: &&[Run]| {
                let alike = two[1].contents == contents && two[1].is_sealed == is_sealed;
                alike && two[0].range.end == two[1].range.start
            };
            let count = 1 + left.windows(2).take_while(is_next).count();
            let (runs, behind) = left.split_at_mut(count);
            left = behind;
            let range = runs[0].range.start..runs[count - 1].range.end;
            // SAFETY: nobody writes to them, as the caller guarantees.
            match contents {
                Contents::Code if !is_sealed => unsafe { self.space.memory.make_executable(range) }?,
                Contents::Constants if !is_sealed => unsafe { self.space.memory.make_read_only(range) }?,
                _ => continue,
            }
            runs.iter_mut().for_each(|run| run.is_sealed = true);
        }
        Ok(())
    }
}

impl Drop for CodeModule {
    fn drop(&mut self) {
        for run in self.runs.drain(..) {
            self.space.put_back(run.contents, run.range);
        }
    }
}

impl fmt::Debug for CodeSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeSpace").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl fmt::Debug for CodeModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeModule").field("runs", &self.runs).finish_non_exhaustive()
    }
}
