//! The pointer layer of counters: an object of words, which a static may hold before the object exists.

#![allow(unsafe_code, reason = "objects are found by address")]

use super::{HeapError, PerCpuHeap};
use crate::{AllocError, Request};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::vec::Vec;

/// An object of `WORDS` words, or none yet, in a heap that lives as long as the program.
///
/// # Invariants
/// If `first` is not null, it points to the first word, in the first unit, of a live object of `heap` that this value
/// owns. `heap` is then a `&'static PerCpuHeap`. Neither changes again.
#[derive(Debug)]
pub(crate) struct LazyObject<const WORDS: usize> {
    /// Written by `make`, with Release, after `heap`; pairs with the Acquire in `get`.
    first: AtomicPtr<u64>,
    heap: AtomicPtr<PerCpuHeap>,
}

/// The words of an existing object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<const WORDS: usize> {
    heap: &'static PerCpuHeap,
    first: NonNull<u64>,
}

/// The slots of a counter, for a restartable sequence that is written elsewhere, as in another language.
///
/// P10: nothing else may write the slots. The sequence commits by one store of a slot's whole word, to the slot of the
/// `cpu_id` that it read, if that is below `cpus`. A negative one, of a thread without a registered area, is not.
#[derive(Clone, Copy, Debug)]
pub struct CounterSlots {
    /// The slot of CPU 0, live as long as the counter.
    pub first: NonNull<u64>,
    /// Bytes from the slot of one CPU to that of the next.
    pub stride_bytes: usize,
    /// The number of slots.
    pub cpus: u32,
    /// Offset in bytes of a thread's area of restartable sequences from its thread pointer.
    pub area_offset: isize,
}

impl<const WORDS: usize> LazyObject<WORDS> {
    const REQUEST: Request = Request::new(8 * WORDS as u64).align(8);

    /// No object yet. The first use makes it in the global heap.
    pub(crate) const fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()), heap: AtomicPtr::new(ptr::null_mut()) }
    }

    /// An object in a heap.
    pub(crate) fn in_heap(heap: &'static PerCpuHeap) -> Result<Self, AllocError> {
        Ok(Self::owning(heap, heap.alloc_place(&Self::REQUEST)?))
    }

    /// Many objects in a heap, each wrapped by `with`: all or none.
    pub(crate) fn bulk<T>(
        heap: &'static PerCpuHeap,
        count: usize,
        with: impl Fn(Self) -> T,
    ) -> Result<Vec<T>, AllocError> {
        let mut all = Vec::new();
        all.try_reserve_exact(count).map_err(|_| AllocError::OutOfMemory)?;
        // The capacity of a magazine.
        let mut places = [0; 64];
        while all.len() < count {
            let some = places.len().min(count - all.len());
            // On an error, the objects made so far are dropped with the list.
            heap.alloc_places(&Self::REQUEST, &mut places[..some])?;
            all.extend(places[..some].iter().map(|&place| with(Self::owning(heap, place))));
        }
        Ok(all)
    }

    /// The owner of an allocated place.
    fn owning(heap: &'static PerCpuHeap, place: u32) -> Self {
        let first = heap.units.at(0, place).cast().as_ptr();
        Self { first: AtomicPtr::new(first), heap: AtomicPtr::new(ptr::from_ref(heap).cast_mut()) }
    }

    /// The object, if it exists.
    #[inline]
    pub(crate) fn get(&self) -> Option<Words<WORDS>> {
        let first = NonNull::new(self.first.load(Ordering::Acquire))?;
        // SAFETY:
        // - `first` is not null, so `heap` is a `&'static PerCpuHeap` (invariant above).
        let heap = unsafe { NonNull::new_unchecked(self.heap.load(Ordering::Relaxed)).as_ref() };
        Some(Words { heap, first })
    }

    /// The object; made in the global heap if there is none.
    #[cold]
    #[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
    pub(crate) fn make(&self) -> Result<Words<WORDS>, HeapError> {
        if let Some(words) = self.get() {
            return Ok(words);
        }
        let heap = PerCpuHeap::global()?;
        let place = heap.alloc_place(&Self::REQUEST)?;
        let first = heap.units.at(0, place).cast::<u64>();
        // Other threads may do this concurrently. All store the same heap.
        self.heap.store(ptr::from_ref(heap).cast_mut(), Ordering::Relaxed);
        let stored =
            self.first.compare_exchange(ptr::null_mut(), first.as_ptr(), Ordering::AcqRel, Ordering::Acquire);
        let Err(other) = stored else { return Ok(Words { heap, first }) };
        heap.free_place(&Self::REQUEST, place);
        let first = NonNull::new(other).expect("P12: who was first stored an object");
        Ok(Words { heap, first })
    }

    /// The place, if there is an object.
    fn place(&self) -> Option<(&'static PerCpuHeap, u32)> {
        let Words { heap, first } = self.get()?;
        // Places have 32 bits.
        Some((heap, (first.addr().get() - heap.units.at(0, 0).addr().get()) as u32))
    }

    /// Frees many objects. Adjacent objects of one heap are freed together.
    pub(crate) fn free_bulk(objects: impl Iterator<Item = Self>) {
        let mut places = [0; 64];
        let mut kept = 0;
        let mut heap: Option<&'static PerCpuHeap> = None;
        for mut object in objects {
            let Some((of, place)) = object.place() else { continue };
            if let Some(other) = heap.filter(|heap| kept == places.len() || !ptr::eq(*heap, of)) {
                other.free_places(&Self::REQUEST, &places[..kept]);
                kept = 0;
            }
            *object.first.get_mut() = ptr::null_mut();
            (heap, places[kept]) = (Some(of), place);
            kept += 1;
        }
        if let Some(heap) = heap {
            heap.free_places(&Self::REQUEST, &places[..kept]);
        }
    }
}

impl<const WORDS: usize> Drop for LazyObject<WORDS> {
    fn drop(&mut self) {
        if let Some((heap, place)) = self.place() {
            heap.free_place(&Self::REQUEST, place);
        }
    }
}

impl<const WORDS: usize> Words<WORDS> {
    /// A word in the first unit.
    #[inline]
    fn word(self, index: usize) -> *mut u64 {
        assert!(index < WORDS, "the object has {WORDS} words");
        // SAFETY: the word is one of the object's.
        unsafe { self.first.add(index).as_ptr() }
    }

    /// The slots of the first word, if sequences of the caller's may add to them.
    pub(crate) fn slots(self) -> Option<CounterSlots> {
        let heap = self.heap;
        let area_offset = heap.adder.area_offset()?;
        Some(CounterSlots {
            first: self.first,
            stride_bytes: heap.stride_bytes(),
            cpus: heap.cpus(),
            area_offset,
        })
    }

    /// Adds to a word, modulo 2^64.
    #[inline]
    pub(crate) fn add(self, index: usize, value: u64) {
        // SAFETY: a word of a live object of this heap.
        unsafe { self.heap.adder.add(self.word(index), value) }
    }

    /// Adds to two words, each modulo 2^64.
    #[inline]
    pub(crate) fn add_two(self, (index, value): (usize, u64), (other, more): (usize, u64)) {
        // SAFETY: words of a live object of this heap.
        unsafe { self.heap.adder.add_two((self.word(index), value), (self.word(other), more)) }
    }

    /// Adds to a word, and returns the previous value of its slot.
    #[inline]
    pub(crate) fn fetch_add(self, index: usize, value: u64) -> u64 {
        // SAFETY: a word of a live object of this heap.
        unsafe { self.heap.adder.fetch_add(self.word(index), value) }
    }

    /// The sum of a word over all units.
    pub(crate) fn sum(self, index: usize) -> u64 {
        let first = self.word(index);
        let adder = &self.heap.adder;
        // SAFETY: a word of a live object of this heap, in units that it has.
        let slot = |unit| unsafe { adder.slot(first, unit) }.load(Ordering::Relaxed);
        (0..adder.summed_units()).map(slot).fold(0, u64::wrapping_add)
    }

    /// Writes to each of `sums` the sum of the word with the same index over all units. Memory is read in order.
    pub(crate) fn sum_each(self, sums: &mut [u64]) {
        assert!(sums.len() <= WORDS, "the object has {WORDS} words");
        let adder = &self.heap.adder;
        sums.fill(0);
        for unit in 0..adder.summed_units() {
            for (index, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a word of a live object of this heap, in a unit that it has.
                let slot = unsafe { adder.slot(self.word(index), unit) };
                *sum = sum.wrapping_add(slot.load(Ordering::Relaxed));
            }
        }
    }

    /// Adds whole batches to the slot that all CPUs share.
    pub(crate) fn add_batches(self, index: usize, value: u64) {
        // SAFETY: a word of a live object of this heap.
        unsafe { self.heap.adder.add_batches(self.word(index), value) }
    }

    /// The sum of the added batches.
    pub(crate) fn batches(self, index: usize) -> u64 {
        // SAFETY: a word of a live object of this heap.
        unsafe { self.heap.adder.batches(self.word(index)) }
    }

    /// The number of CPUs that have a slot.
    pub(crate) fn cpus(self) -> u32 {
        self.heap.cpus()
    }
}

/// The most objects that are summed together.
pub(crate) const TOGETHER: usize = 256;
/// The most units that are read object by object: a processor prefetches that many streams. More units are read unit by
/// unit.
const STREAMS: u32 = 4;

/// Writes to each of `sums`, at most [`TOGETHER`], the sum of the one-word object with the same index, plus the number
/// paired with the object.
pub(crate) fn sum_together<'a>(objects: impl Iterator<Item = (&'a LazyObject<1>, u64)>, sums: &mut [u64]) {
    let mut firsts = [const { ptr::null_mut() }; TOGETHER];
    let mut heap: Option<&'static PerCpuHeap> = None;
    for (((object, kept), first), sum) in objects.zip(&mut firsts).zip(&mut *sums) {
        *sum = kept;
        let Some(words) = object.get() else { continue };
        if !ptr::eq(words.heap, *heap.get_or_insert(words.heap)) {
            *sum = sum.wrapping_add(words.sum(0));
            continue;
        }
        *first = words.first.as_ptr();
        for unit in 0..words.heap.adder.summed_units().min(STREAMS) {
            // SAFETY: a word of a live object of this heap, in a unit that it has.
            *sum = sum.wrapping_add(unsafe { words.heap.adder.slot(*first, unit) }.load(Ordering::Relaxed));
        }
    }
    let Some(heap) = heap else { return };
    for unit in STREAMS..heap.adder.summed_units() {
        for (&first, sum) in firsts.iter().zip(&mut *sums) {
            if !first.is_null() {
                // SAFETY: as above.
                *sum = sum.wrapping_add(unsafe { heap.adder.slot(first, unit) }.load(Ordering::Relaxed));
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The kernel gives a thread without a registered area no CPU's number.
    #[test]
    fn what_threads_without_a_cpus_number_add_is_summed() {
        let objects = [LazyObject::<1>::new(), LazyObject::new()];
        for object in &objects {
            let words = object.make().unwrap();
            words.add(0, 5);
            // SAFETY: a word of a live object of this heap.
            unsafe { words.heap.adder.add_to_overflow(words.word(0), 2) };
            let mut each = [0];
            words.sum_each(&mut each);
            assert_eq!((words.sum(0), each), (7, [7]));
        }
        let mut sums = [0; 2];
        sum_together(objects.iter().zip([0, 10]), &mut sums);
        assert_eq!(sums, [7, 17]);
    }
}
