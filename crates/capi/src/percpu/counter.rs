//! A counter: `fh_counter`.

use crate::error::{Failure, fh_error};
use crate::handle::hand_out;
use crate::memory::Aside;
use freehold::percpu::heap::PerCpuHeap;
use freehold::percpu::{Counter, snapshot};
use freehold_sys::fork;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// A sum modulo 2^64 with a slot for each CPU. Any number of threads.
#[repr(transparent)]
pub struct fh_counter(Counter);

impl fh_counter {
    /// A counter that someone else keeps, as a handle.
    pub(super) fn of(counter: &Counter) -> *const Self {
        // The types have one layout (`repr(transparent)`).
        std::ptr::from_ref(counter).cast()
    }
}

/// The process's heap of objects that exist once for each CPU. The first call makes it.
pub(super) fn heap() -> Result<&'static PerCpuHeap, Failure> {
    static HEAP: OnceLock<&PerCpuHeap> = OnceLock::new();
    if let Some(heap) = HEAP.get() {
        return Ok(heap);
    }
    // As many as are asked for up to the last one whose refusal no error tells: any may take one.
    let _aside = Aside::new(16, 4096)?;
    let made = PerCpuHeap::global()?;
    Ok(*fork::get_or_init(&HEAP, || made))
}

/// Makes a counter at 0: 8 bytes for each possible CPU, packed with others.
///
/// The caller owns the handle, and ends it by fh_counter_destroy. Any thread. Cost: constant, mostly; the first one makes the heap.
///
/// @return FH_OK; FH_ENULL; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_counter_new(counter: Option<&mut MaybeUninit<Box<fh_counter>>>) -> c_int {
    given!(counter);
    hand_out(counter, heap().and_then(|heap| Ok(fh_counter(Counter::in_heap(heap)?))))
}

/// Ends a counter from fh_counter_new that no thread uses any more. Cost: constant, mostly.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_counter_destroy(counter: Option<Box<fh_counter>>) -> c_int {
    given!(counter);
    drop(counter);
    fh_error::FH_OK as c_int
}

/// Adds to a counter. Any thread, and signal handlers. Cost: a nanosecond.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_counter_add(counter: Option<&fh_counter>, value: u64) -> c_int {
    given!(counter);
    counter.0.add(value);
    fh_error::FH_OK as c_int
}

/// Where the slots of a counter are, for FH_COUNTER_ADD of freehold/counter.h. Its fields are that macro's.
#[repr(C)]
pub struct fh_counter_place {
    counter: *const fh_counter,
    /// The slot of CPU 0, and the bytes from each slot to the next.
    first: *mut u64,
    stride_bytes: usize,
    /// From a thread's pointer to what the system keeps of it for restartable sequences; 0 if adds are none in this process.
    area_offset: isize,
    /// Slots.
    cpus: u32,
}

/// Gets the place of a counter, which is good as long as the counter. Adds by it and by fh_counter_add mix. `place`: gets it. Any
/// thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_counter_get_place(
    counter: Option<&fh_counter>,
    place: Option<&mut MaybeUninit<fh_counter_place>>,
) -> c_int {
    given!(counter, place);
    let slots = counter.0.sequence_slots();
    place.write(fh_counter_place {
        counter,
        first: slots.map_or(std::ptr::null_mut(), |slots| slots.first.as_ptr()),
        stride_bytes: slots.map_or(0, |slots| slots.stride_bytes),
        area_offset: slots.map_or(0, |slots| slots.area_offset),
        cpus: slots.map_or(0, |slots| slots.cpus),
    });
    fh_error::FH_OK as c_int
}

/// Reads the sum of all adds that happened before. `value`: gets it. Any thread. Cost: a load for each CPU.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_counter_get(
    counter: Option<&fh_counter>,
    value: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(counter, value);
    value.write(counter.0.get());
    fh_error::FH_OK as c_int
}

/// Sets a counter to 0, and loses no add. `value`: optional, gets what it was. Any thread. Cost: as fh_counter_get.
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_counter_reset(
    counter: Option<&fh_counter>,
    value: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(counter);
    let was = counter.0.reset();
    value.map(|value| value.write(was));
    fh_error::FH_OK as c_int
}

/// An array of counters, made and freed at once.
pub struct fh_counters(Vec<Counter>);

/// Makes `count` counters at 0, all or none.
///
/// The caller owns the handle, and ends it by fh_counters_destroy. Any thread. Cost: O(count).
///
/// @return FH_OK; FH_ENULL; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_counters_new(
    count: usize,
    counters: Option<&mut MaybeUninit<Box<fh_counters>>>,
) -> c_int {
    given!(counters);
    hand_out(counters, heap().and_then(|heap| Ok(fh_counters(Counter::bulk(heap, count)?))))
}

/// Ends an array of counters that no thread uses any more. Cost: O(count).
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_counters_destroy(counters: Option<Box<fh_counters>>) -> c_int {
    given!(counters);
    Counter::free_bulk(counters.0);
    fh_error::FH_OK as c_int
}

/// The counter at an index, which belongs to the array; NULL if there is none. Any thread. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn fh_counters_at(counters: Option<&fh_counters>, index: usize) -> *const fh_counter {
    let counter = counters.and_then(|counters| counters.0.get(index));
    counter.map_or(std::ptr::null(), fh_counter::of)
}

/// Reads all counters of an array, each CPU's slots together. `values`: `count` numbers, of which each is written. Any thread. Cost: a
/// load for each counter and CPU, in the order of memory.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL: `count` is not the array's
#[unsafe(no_mangle)]
pub extern "C" fn fh_counters_get(
    counters: Option<&fh_counters>,
    values: Option<&mut u64>,
    count: usize,
) -> c_int {
    given!(counters, values);
    if count != counters.0.len() {
        return fh_error::FH_EINVAL as c_int;
    }
    // An empty array has nothing to be written.
    if count > 0 {
        // SAFETY: the caller's array has `count` numbers, and is the call's alone.
        let values = unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(values), count) };
        attempt!(snapshot(&counters.0, values).map_err(|_| fh_error::FH_EINVAL));
    }
    fh_error::FH_OK as c_int
}
