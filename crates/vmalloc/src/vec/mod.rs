//! A vector that grows in place: its elements never move, so their addresses stay valid.
//!
//! ```text
//!   | elements ....... | committed, if strictly | reserved ................ |
//!   start              len                                                max
//! ```

mod into_iter;

use crate::builder::Commit;
use crate::builder::{Advice, BASE_ALIGN};
use crate::error::AllocError;
use crate::mapping::{Pages, whole_pages};
use crate::memory::VirtualMemory;
use crate::zone::Use;
use freehold_kva::{self as kva, Request};
use freehold_sys::page_bytes;
use freehold_units::{Rejected, Span};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

pub use into_iter::IntoIter;

/// The least that a vector commits at a time, if not all is committed.
const STEP_BYTES: usize = 1 << 20;

/// A vector with addresses for all the elements it may ever hold. It takes memory as it grows, and copies none. A
/// forgotten vector (`mem::forget`) leaks its elements; its addresses and memory are leaked until the [`VirtualMemory`]
/// is dropped.
///
/// ```
/// use freehold_vmalloc::{VirtualMemory, VmVec};
///
/// let vm = VirtualMemory::builder().reserve(1 << 30).build()?;
/// let mut rows: VmVec<u64> = VmVec::with_reserve(&vm, 10_000_000)?;
/// rows.push(7).unwrap();
/// let first = &raw const rows[0];
/// for number in 0..100_000 {
///     rows.push(number).unwrap();
/// }
/// assert_eq!(&raw const rows[0], first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VmVec<'a, T> {
    vm: &'a VirtualMemory,
    pages: Pages,
    room: Room,
    /// Number of elements, all initialized (V6).
    len: usize,
    max: usize,
    elements: PhantomData<T>,
}

/// The bytes of the mapping that belong to a vector.
struct Room {
    range: Range<usize>,
    committed_bytes: usize,
    /// Bytes used at any time since they were last decommitted.
    touched_bytes: usize,
    /// The advice that the system accepted for them.
    advice: Advice,
}

// SAFETY: it owns its elements, as a `Vec` does.
unsafe impl<T: Send> Send for VmVec<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for VmVec<'_, T> {}

impl<'a, T> VmVec<'a, T> {
    /// A vector for up to `max` elements.
    ///
    /// Cost: a lock and O(log n) for its addresses.
    ///
    /// # Errors
    /// [`AllocError::Addresses`] if the reservation has not enough addresses left; [`AllocError::Alignment`] for
    /// elements aligned to more than 4 MiB.
    pub fn with_reserve(vm: &'a VirtualMemory, max: usize) -> Result<Self, AllocError> {
        let bytes =
            max.checked_mul(size_of::<T>()).and_then(whole_pages).ok_or(kva::AllocError::SizeOverflow)?;
        let align = align_of::<T>();
        if align > BASE_ALIGN {
            let (align_bytes, most_bytes) = (align as u64, BASE_ALIGN as u64);
            return Err(AllocError::Alignment { align_bytes, most_bytes });
        }
        let request =
            Request::new(bytes.max(page_bytes()) as u64).align_bytes(align.max(page_bytes()) as u64);
        let range = vm.shared.residency.lend(&request, Use::Vector)?;
        // SAFETY:
        // - The range was lent to this vector.
        // - Uncommitted parts are not touched.
        let pages = unsafe { vm.shared.mapping().pages(range.clone()) };
        let committed_bytes = if vm.shared.mapping().commits() == Commit::Lazy { range.len() } else { 0 };
        let advice = vm.shared.mapping().advice;
        let room = Room { range, committed_bytes, touched_bytes: 0, advice };
        Ok(Self { vm, pages, room, len: 0, max, elements: PhantomData })
    }

    /// As [`VmVec::with_reserve`], with huge pages if the system has them: see
    /// [`Builder::huge_pages`](crate::Builder::huge_pages).
    ///
    /// Cost: as [`VmVec::with_reserve`], and a system call.
    ///
    /// # Errors
    /// As for [`VmVec::with_reserve`].
    pub fn with_huge_pages(vm: &'a VirtualMemory, max: usize) -> Result<Self, AllocError> {
        let mut vector = Self::with_reserve(vm, max)?;
        let (mapping, room) = (vm.shared.mapping(), &mut vector.room);
        room.advice = mapping.advise_part(room.range.clone(), Advice { huge_pages: true, node: None });
        Ok(vector)
    }

    /// The maximum number of elements.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn max(&self) -> usize {
        self.max
    }

    #[inline]
    fn start(&self) -> NonNull<T> {
        self.pages.start().cast()
    }

    /// Adds an element.
    ///
    /// Cost: constant; if not all is committed, a system call for each MiB or quarter.
    ///
    /// # Errors
    /// Returns the element if the vector is full ([`AllocError::Addresses`]), or its memory cannot be committed.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), Rejected<T, AllocError>> {
        if let Err(cause) = self.make_room(1) {
            return Err(Rejected { value, cause });
        }
        // SAFETY: there is a committed place after the initialized elements (V6).
        unsafe { self.start().add(self.len).write(value) };
        self.len += 1;
        Ok(())
    }

    /// Adds copies of all the elements, or none.
    ///
    /// Cost: linear in the elements added.
    ///
    /// # Errors
    /// As [`VmVec::push`].
    pub fn extend_from_slice(&mut self, values: &[T]) -> Result<(), AllocError>
    where
        T: Copy,
    {
        self.make_room(values.len())?;
        // SAFETY:
        // - There are committed places after the initialized elements (V6).
        // - The slice does not overlap them.
        unsafe {
            self.start().add(self.len).copy_from_nonoverlapping(NonNull::from(values).cast(), values.len())
        };
        self.len += values.len();
        Ok(())
    }

    /// Commits memory for `more` elements.
    #[inline]
    fn make_room(&mut self, more: usize) -> Result<(), AllocError> {
        let needed = self.len.saturating_add(more);
        let needed_bytes = needed.saturating_mul(size_of::<T>());
        // Compared without an addition that could overflow: elements of size 0 may be that many.
        if more > self.max - self.len {
            let (size_bytes, room_bytes) = (needed_bytes as u64, (self.max * size_of::<T>()) as u64);
            let first = self.vm.shared.mapping().address(self.room.range.start);
            let window = Span::from_size(first, self.room.range.len() as u64);
            let window = window.expect("V1: a vector has addresses of the reservation");
            return Err(kva::AllocError::TooLarge { size_bytes, room_bytes, window }.into());
        }
        if needed_bytes > self.room.committed_bytes {
            self.commit(needed_bytes)?;
        }
        self.room.touched_bytes = self.room.touched_bytes.max(needed_bytes);
        Ok(())
    }

    #[cold]
    fn commit(&mut self, needed_bytes: usize) -> Result<(), AllocError> {
        let now = self.room.committed_bytes;
        let needed = needed_bytes.next_multiple_of(page_bytes());
        let part = self.room.range.start + now..self.room.range.start + needed;
        let ample = self.room.range.end.min(part.end + STEP_BYTES.max(now / 4));
        let mapping = self.vm.shared.mapping();
        mapping.commit(&part, ample)?;
        self.room.committed_bytes = if mapping.committed.is_committed(&(part.start..ample)) {
            ample - self.room.range.start
        } else {
            needed
        };
        Ok(())
    }

    /// Adds copies of `value`, or drops elements, until there are `len`.
    ///
    /// # Errors
    /// As [`VmVec::push`]; the copies for which there was memory were added.
    ///
    /// # Cost
    /// Linear in the elements added or dropped.
    pub fn resize(&mut self, len: usize, value: T) -> Result<(), AllocError>
    where
        T: Clone,
    {
        self.truncate(len);
        while self.len < len {
            self.push(value.clone()).map_err(|rejected| rejected.cause)?;
        }
        Ok(())
    }

    /// Adds the elements of an iterator.
    ///
    /// # Errors
    /// As [`VmVec::push`]; the elements before the refused one were added.
    ///
    /// # Cost
    /// As a push for each element.
    pub fn extend(&mut self, values: impl IntoIterator<Item = T>) -> Result<(), AllocError> {
        values.into_iter().try_for_each(|value| self.push(value).map_err(|rejected| rejected.cause))
    }

    /// Removes the element at an index, and moves the last one into its place. `None` if there is no such element.
    ///
    /// Cost: constant.
    pub fn swap_remove(&mut self, index: usize) -> Option<T> {
        let last = self.len.checked_sub(1).filter(|&last| index <= last)?;
        self.swap(index, last);
        self.pop()
    }

    /// Keeps the elements for which `keeps` returns true, in their order.
    ///
    /// Cost: linear.
    pub fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        let mut kept = 0;
        for at in 0..self.len {
            if keeps(&self[at]) {
                self.swap(kept, at);
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// Removes the last element.
    ///
    /// Cost: constant.
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: it was the last of the initialized elements, and no longer counts as one.
        Some(unsafe { self.start().add(self.len).read() })
    }

    /// Drops all elements except the first `len`. Their memory stays; [`VmVec::shrink_to_fit`] decommits it.
    ///
    /// Cost: linear in the elements dropped.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            let count = self.len - len;
            self.len = len;
            // SAFETY: the elements were initialized, and no longer count as such, whatever their destructors do.
            unsafe { NonNull::slice_from_raw_parts(self.start().add(len), count).drop_in_place() };
        }
    }

    /// Drops all elements.
    ///
    /// Cost: linear.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Decommits the whole pages after the last element.
    ///
    /// Cost: a system call.
    ///
    /// # Errors
    /// [`AllocError::System`]; the elements are as they were.
    pub fn shrink_to_fit(&mut self) -> Result<(), AllocError> {
        let used = (self.len * size_of::<T>()).next_multiple_of(page_bytes());
        let end = match self.room.advice.huge_pages {
            // A huge page reaches beyond the used bytes, or comes from the vector beside this one.
            true => self.room.range.len(),
            false => self.room.touched_bytes.next_multiple_of(page_bytes()),
        };
        if used < end {
            self.vm.shared.mapping().decommit(&mut self.pages, used..end)?;
            self.room.touched_bytes = used;
        }
        Ok(())
    }
}

impl VmVec<'_, u8> {
    /// Adds zeros, or removes bytes, until there are `len`. Pages that were not written since they were reserved or
    /// decommitted are zero already, and get no memory.
    ///
    /// # Errors
    /// As [`VmVec::push`]; nothing has changed.
    ///
    /// # Cost
    /// Linear in the bytes that were used before.
    pub fn resize_zeroed(&mut self, len: usize) -> Result<(), AllocError> {
        self.truncate(len);
        let (from, touched) = (self.len, self.room.touched_bytes);
        self.make_room(len - from)?;
        // The bytes after that were never written (V2).
        self.pages.zero(from..len.min(touched));
        self.len = len;
        // The new zeros count as touched, as they may be written from now on.
        self.room.touched_bytes = self.room.touched_bytes.max(len);
        Ok(())
    }
}

impl<T> Drop for VmVec<'_, T> {
    fn drop(&mut self) {
        // Runs even if the destructor of an element panics.
        let room = GiveBack(self);
        room.0.clear();
    }
}

/// Frees the memory and the addresses of a vector whose elements are dropped.
struct GiveBack<'v, 'a, T>(&'v mut VmVec<'a, T>);

impl<T> Drop for GiveBack<'_, '_, T> {
    fn drop(&mut self) {
        // Memory that cannot be decommitted stays taken until it can.
        let is_reset = self.0.shrink_to_fit().is_ok();
        self.0.vm.shared.mapping().end_advice(self.0.room.range.clone(), self.0.room.advice);
        self.0.vm.shared.zones().end_lending(self.0.room.range.clone(), Use::Vector, is_reset);
    }
}

impl<T> Deref for VmVec<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` elements are initialized, and belong to the vector (V6).
        unsafe { NonNull::slice_from_raw_parts(self.start(), self.len).as_ref() }
    }
}

impl<T> DerefMut for VmVec<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has a reference.
        unsafe { NonNull::slice_from_raw_parts(self.start(), self.len).as_mut() }
    }
}

impl<'b, T> IntoIterator for &'b VmVec<'_, T> {
    type Item = &'b T;
    type IntoIter = std::slice::Iter<'b, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'b, T> IntoIterator for &'b mut VmVec<'_, T> {
    type Item = &'b mut T;
    type IntoIter = std::slice::IterMut<'b, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: fmt::Debug> fmt::Debug for VmVec<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}
