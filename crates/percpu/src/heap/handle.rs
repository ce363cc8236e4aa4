//! Objects that exist once per CPU, of any type, or of a layout that is chosen at run time.

#![allow(unsafe_code, reason = "objects are found by address; types say that zeros are a value")]

use super::{PerCpuHeap, TryAllocError, magazine, sync};
use crate::{AllocError, FreeError, OutOfMemory, Request};
use freehold_sys::fork::Section;
use std::alloc::Layout;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
use std::vec::Vec;

/// A type that threads may share, whose all-zero bytes are a valid value, and that needs no drop.
///
/// # Safety
/// - All bytes zero, padding included, are a valid value.
/// - All bytes stay initialized, since a free reads them: a value that is written through a shared reference has no
///   padding.
/// - Forgetting a value leaks nothing.
pub unsafe trait Zeroed: Sync + Sized {}

macro_rules! zeroed {
    ($($type:ty),*) => {$(
        // SAFETY: zero is a valid integer, and `false` for a bool; neither owns anything.
        unsafe impl Zeroed for $type {}
    )*};
}
zeroed!(
    AtomicBool,
    AtomicI8,
    AtomicI16,
    AtomicI32,
    AtomicI64,
    AtomicIsize,
    AtomicU8,
    AtomicU16,
    AtomicU32,
    AtomicU64,
    AtomicUsize
);

// SAFETY: each element may be zero.
unsafe impl<T: Zeroed, const LEN: usize> Zeroed for [T; LEN] {}

/// A handle of an object with a value for each CPU. The handle is small and `Copy`, and does not free the object.
///
/// The value of a CPU is not locked: other threads may access it at the same time. So `T` must be shareable, as an
/// atomic is.
#[derive(Debug)]
pub struct PerCpu<'heap, T> {
    heap: &'heap PerCpuHeap,
    place: u32,
    values: PhantomData<&'heap T>,
}

impl<T> Clone for PerCpu<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PerCpu<'_, T> {}

impl<'heap, T: Zeroed> PerCpu<'heap, T> {
    const REQUEST: Request = Request::new(size_of::<T>() as u64).align(align_of::<T>() as u64);

    fn new(heap: &'heap PerCpuHeap, place: u32) -> Self {
        Self { heap, place, values: PhantomData }
    }

    /// The value of the CPU that this thread runs on, or ran on a moment ago. Cost: constant.
    #[inline]
    #[must_use]
    pub fn this_cpu(self) -> &'heap T {
        self.at(self.heap.adder.index())
    }

    /// The value of a CPU; `None` if no such CPU is possible. Cost: constant.
    #[must_use]
    pub fn cpu(self, cpu: u32) -> Option<&'heap T> {
        (cpu < self.heap.cpus()).then(|| self.at(cpu))
    }

    /// The values of all possible CPUs. Reading one takes no memory. Cost: constant for each CPU.
    pub fn iter(self) -> impl FusedIterator<Item = &'heap T> {
        (0..self.heap.cpus()).map(move |cpu| self.at(cpu))
    }

    /// The value in one of the heap's units.
    #[inline]
    fn at(self, unit: u32) -> &'heap T {
        let value = self.heap.units.at(unit, self.place).cast();
        // SAFETY:
        // - The place was allocated for a `T` in each unit. It is aligned for `T`, since units start at pages.
        // - It was zero then, which is a valid `T` (`Zeroed`, P11), and only shared references to it exist.
        // - The heap owns the memory while it lives, and the object is not freed while references exist
        //   (`PerCpuHeap::free`, `PerCpuBox`).
        unsafe { value.as_ref() }
    }
}

/// The request for a place, of the size of its class if it has one: a free may put the place into a magazine.
fn whole_class(request: &Request) -> Request {
    magazine::class_of(request).map_or(*request, magazine::request_of)
}

/// Objects that exist once per CPU.
impl PerCpuHeap {
    /// Allocates an object whose values are all zero.
    ///
    /// Cost: constant for sizes up to 64 bytes aligned to at most 8, of which 32 are fetched at a time; for others, and
    /// for those 32, an allocation ([`ChunkSet::alloc`](crate::ChunkSet::alloc)) under the heap's lock, and a
    /// [balance](crate::ChunkSet::balance) where that wants one. A refusal for lack of memory or capacity first frees what
    /// all magazines keep.
    ///
    /// ```
    /// use freehold_percpu::heap::PerCpuHeap;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// let heap = PerCpuHeap::new()?;
    /// let depth = heap.alloc::<AtomicU32>()?;
    /// depth.this_cpu().fetch_add(1, Relaxed);
    /// assert_eq!(depth.iter().map(|value| value.load(Relaxed)).sum::<u32>(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`AllocError`]: no memory, or `T` has no size, more than 32 KiB, or an alignment of more than a page.
    pub fn alloc<T: Zeroed>(&self) -> Result<PerCpu<'_, T>, AllocError> {
        Ok(PerCpu::new(self, self.alloc_place(&PerCpu::<T>::REQUEST)?))
    }

    /// Allocates an object whose values are all zero from populated memory: a heap has some once it has allocated, and
    /// for as many objects as were [prepared](Self::prepare). It makes no system call and waits for no lock and no `fork`.
    /// The first write to a page may still fault. Cost: as [`PerCpuHeap::alloc`], without waiting and without getting memory.
    ///
    /// # Errors
    /// See [`TryAllocError`].
    pub fn try_alloc<T: Zeroed>(&self) -> Result<PerCpu<'_, T>, TryAllocError> {
        // What is tried below enters it again, and does not wait.
        let _section = Section::try_enter().ok_or(TryAllocError::Busy)?;
        let request = PerCpu::<T>::REQUEST;
        if let Some(class) = magazine::class_of(&request)
            && let Some(place) = self.magazines.try_alloc(self.hint(), class, self)
        {
            return Ok(PerCpu::new(self, place));
        }
        let request = whole_class(&request);
        let found = match sync::try_lock(&self.core) {
            Some(mut core) => core.try_alloc(&request).map_err(TryAllocError::Alloc),
            None => Err(TryAllocError::Busy),
        };
        // Last, so that what was prepared is left for when there is nothing else.
        let place = found.or_else(|error| self.stock.try_take(&request).ok_or(error))?;
        Ok(PerCpu::new(self, place))
    }

    /// Sets zeroed objects aside until at least `count` of this size and alignment are, so that
    /// [`try_alloc`](Self::try_alloc) finds that many, also while other threads hold the heap's lock. Only that call takes
    /// them. They stay set aside, through [`trim`](Self::trim) as well, until they are taken. A thread that finds another
    /// one taking, setting aside or forking at that very moment may still get [`TryAllocError::Busy`].
    ///
    /// ```
    /// use freehold_percpu::heap::PerCpuHeap;
    /// use std::alloc::Layout;
    /// use std::sync::atomic::AtomicU32;
    /// let heap = PerCpuHeap::new()?;
    /// assert!(heap.try_alloc::<[AtomicU32; 100]>().is_err());
    /// heap.prepare(Layout::new::<[AtomicU32; 100]>(), 1000)?;
    /// for _ in 0..1000 {
    ///     heap.try_alloc::<[AtomicU32; 100]>()?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: as [`PerCpuHeap::alloc_bulk`] of what is missing.
    ///
    /// # Errors
    /// As [`PerCpuHeap::alloc`]. Nothing more was set aside.
    pub fn prepare(&self, layout: Layout, count: usize) -> Result<(), AllocError> {
        let request = whole_class(&request_of(layout));
        let missing = count.saturating_sub(self.stock.count(&request));
        let mut places = Vec::new();
        places.try_reserve_exact(missing).map_err(|_| AllocError::OutOfMemory)?;
        places.resize(missing, 0);
        self.alloc_places(&request, &mut places)?;
        self.stock.add(&request, &places).map_err(|OutOfMemory| {
            self.free_places(&request, &places);
            AllocError::OutOfMemory
        })
    }

    /// Allocates many objects whose values are all zero: all or none.
    ///
    /// Cost: one search for each page that the objects fill; if no run of that length is free, one for each object.
    ///
    /// # Errors
    /// As [`PerCpuHeap::alloc`].
    pub fn alloc_bulk<T: Zeroed>(&self, count: usize) -> Result<Vec<PerCpu<'_, T>>, AllocError> {
        let (mut places, mut objects) = (Vec::new(), Vec::new());
        if places.try_reserve_exact(count).is_err() || objects.try_reserve_exact(count).is_err() {
            return Err(AllocError::OutOfMemory);
        }
        places.resize(count, 0);
        self.alloc_places(&PerCpu::<T>::REQUEST, &mut places)?;
        objects.extend(places.into_iter().map(|place| PerCpu::new(self, place)));
        Ok(objects)
    }

    /// Frees an object.
    ///
    /// Cost: a step for each word of the object in each unit that was ever used. For sizes or alignments without a
    /// magazine, also a free ([`ChunkSet::free`](crate::ChunkSet::free)) under the heap's lock; a full magazine frees 64 objects
    /// at once. Where these want a [balance](crate::ChunkSet::balance), that too: pages return to the system, by a call for
    /// each unit.
    ///
    /// # Safety
    /// - The object is live and belongs to this heap.
    /// - No reference into it and no copy of the handle is used afterwards.
    pub unsafe fn free<T: Zeroed>(&self, object: PerCpu<'_, T>) {
        debug_assert!(std::ptr::eq(self, object.heap), "the object is of another heap");
        self.free_place(&PerCpu::<T>::REQUEST, object.place);
    }

    /// Frees many objects. Cost: as [`PerCpuHeap::free`] for each, with one lock for 64.
    ///
    /// # Safety
    /// - As [`PerCpuHeap::free`], for each object.
    /// - No object occurs twice.
    pub unsafe fn free_bulk<T: Zeroed>(&self, objects: &[PerCpu<'_, T>]) {
        let mut places = [0; 64];
        for objects in objects.chunks(places.len()) {
            for (place, object) in places.iter_mut().zip(objects) {
                *place = object.place;
            }
            self.free_places(&PerCpu::<T>::REQUEST, &places[..objects.len()]);
        }
    }

    /// Allocates an object that is freed when the returned owner is dropped. Cost: as [`PerCpuHeap::alloc`].
    ///
    /// # Errors
    /// As [`PerCpuHeap::alloc`].
    pub fn alloc_boxed<T: Zeroed>(&self) -> Result<PerCpuBox<'_, T>, AllocError> {
        self.alloc().map(PerCpuBox)
    }
}

/// Objects of a layout that is chosen at run time, found by address: for callers that are not Rust.
impl PerCpuHeap {
    /// Allocates an object of a layout, whose bytes are zero on every CPU. Returns the bytes of CPU 0; those of CPU `n` lie
    /// `n` times [`stride_bytes`](Self::stride_bytes) above. They are the caller's until [`free_at`](Self::free_at), or
    /// until the heap is dropped.
    ///
    /// ```
    /// use freehold_percpu::heap::PerCpuHeap;
    /// use std::alloc::Layout;
    /// let heap = PerCpuHeap::new()?;
    /// let first = heap.alloc_layout(Layout::new::<[u16; 100]>())?;
    /// let here = first.as_ptr().wrapping_add(heap.this_cpu() as usize * heap.stride_bytes());
    /// // SAFETY: the bytes of a possible CPU, which no other thread has, and which are not used after the free.
    /// unsafe {
    ///     here.write(7);
    ///     assert_eq!((here.read(), here.add(199).read()), (7, 0));
    ///     heap.free_at(first)?;
    ///     assert!(heap.free_at(first).is_err());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: an allocation ([`ChunkSet::alloc`](crate::ChunkSet::alloc)) under the heap's lock, and a
    /// [balance](crate::ChunkSet::balance) where that wants one.
    ///
    /// # Errors
    /// See [`AllocError`]: no memory, a size of 0 or of more than 32 KiB, or an alignment of more than a page.
    pub fn alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        // Not from a magazine, whose free places look live: `free_at` could not tell a second free of one.
        let place = self.or_drained(|| self.lock().alloc(&request_of(layout)))?;
        Ok(self.units.at(0, place))
    }

    /// Frees the object whose bytes of CPU 0 begin at an address. Its size is the heap's to know.
    ///
    /// Cost: a free ([`ChunkSet::free`](crate::ChunkSet::free)), and a step for each word of the object in each unit that was
    /// ever used, under the heap's lock, and a [balance](crate::ChunkSet::balance) where the free wants one.
    ///
    /// # Errors
    /// See [`FreeError`]: nothing is freed, and nothing was changed, if no object of the heap begins there.
    ///
    /// # Safety
    /// - If an object begins there, it came from [`alloc_layout`](Self::alloc_layout): the place of one that was freed may
    ///   be another's by now.
    /// - No thread accesses its bytes any more, on any CPU, and all of them are initialized, as they were at first.
    pub unsafe fn free_at(&self, first: NonNull<u8>) -> Result<(), FreeError> {
        let offset_bytes = first.addr().get().wrapping_sub(self.units.at(0, 0).addr().get());
        let mut core = self.lock();
        let taken_bytes = core.taken_bytes(offset_bytes)?;
        // An object lies there, so the place has 32 bits.
        let places = [offset_bytes as u32];
        self.clear_places(&places, taken_bytes as usize);
        core.free(&places);
        Ok(())
    }

    /// Bytes from an object on one CPU to the same object on the next. Cost: constant.
    #[must_use]
    pub fn stride_bytes(&self) -> usize {
        self.units.stride_bytes()
    }

    /// The CPU that this thread runs on, or ran on a moment ago, below [`cpus`](Self::cpus); in the third mode, the number
    /// of a CPU that stays with the thread. Cost: constant.
    #[inline]
    #[must_use]
    pub fn this_cpu(&self) -> u32 {
        self.adder.index()
    }
}

fn request_of(layout: Layout) -> Request {
    Request::new(layout.size() as u64).align(layout.align() as u64)
}

/// Owns an object with a value for each CPU. Dropping the owner frees the object and forgets its values. A forgotten
/// owner (`mem::forget`) leaks the object until the heap is dropped.
#[derive(Debug)]
pub struct PerCpuBox<'heap, T: Zeroed>(PerCpu<'heap, T>);

impl<T: Zeroed> PerCpuBox<'_, T> {
    /// As [`PerCpu::this_cpu`]. Cost: constant.
    #[inline]
    #[must_use]
    pub fn this_cpu(&self) -> &T {
        self.0.this_cpu()
    }

    /// As [`PerCpu::cpu`]. Cost: constant.
    #[must_use]
    pub fn cpu(&self, cpu: u32) -> Option<&T> {
        self.0.cpu(cpu)
    }

    /// As [`PerCpu::iter`]. Cost: constant for each CPU.
    pub fn iter(&self) -> impl FusedIterator<Item = &T> {
        self.0.iter()
    }
}

impl<T: Zeroed> Drop for PerCpuBox<'_, T> {
    fn drop(&mut self) {
        // SAFETY:
        // - This value owns the object, which is live.
        // - All references to its values borrow from this value, so none is left.
        unsafe { self.0.heap.free(self.0) }
    }
}
