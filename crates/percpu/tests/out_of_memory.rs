//! The failure of every single allocation: whichever request for memory is refused, the operation answers
//! `OutOfMemory`, leaves the objects as they were, and succeeds when it is tried again.
//!
//! A memory request that cannot be answered by an error ends the process.

#![allow(unsafe_code, reason = "a global allocator can be written in no other way")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use freehold_percpu::{
    AllocError, ChunkSet, Config, ConfigError, Exact, Linux, Linux2017, LinuxFixed, MIN_UNIT_BYTES, Place,
    Placement, Population, Request,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Requests that this thread is still granted while it is watched; the one after them is refused, and
    /// those after that one are granted again.
    static GRANTED: Cell<u64> = const { Cell::new(u64::MAX) };
    /// Requests made while the thread was watched.
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, but for the request that is to be refused.
struct Refusing;

impl Refusing {
    fn refuses() -> bool {
        if !WATCHED.get() {
            return false;
        }
        REQUESTS.set(REQUESTS.get() + 1);
        let granted = GRANTED.get();
        GRANTED.set(granted.wrapping_sub(1));
        granted == 0
    }
}

// SAFETY: every call is passed on as it came, or answered by a null pointer, which means that there is no
// memory. The thread-local cells need neither memory nor a destructor, so they can be used here.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        if Self::refuses() { core::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the pointer came from `System`, with this layout; the caller vouches for the size.
        if Self::refuses() {
            core::ptr::null_mut()
        } else {
            unsafe { System.realloc(pointer, layout, new_size) }
        }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs `operation` with the request after the first `granted` refused. Returns the number of requests, too.
fn watched<T>(granted: u64, operation: impl FnOnce() -> T) -> (T, u64) {
    GRANTED.set(granted);
    REQUESTS.set(0);
    WATCHED.set(true);
    let answer = operation();
    WATCHED.set(false);
    (answer, REQUESTS.get())
}

const NONE_REFUSED: u64 = u64::MAX;

fn objects<P: Placement>(set: &ChunkSet<P>) -> Vec<(Place, u32)> {
    set.validate().unwrap();
    set.objects().collect()
}

/// Objects that fill several chunks one after the other.
fn requests() -> impl Iterator<Item = Request> {
    (0..24).map(|at| Request::new(2000 + 900 * (at % 11)))
}

fn creation_survives<P: Placement>(config: Config) {
    for refused in 0.. {
        let (answer, requests) = watched(refused, || ChunkSet::<P>::new(config));
        match answer {
            Ok(set) => {
                assert!(requests <= refused && refused > 0);
                return set.validate().unwrap();
            }
            Err(error) => assert_eq!(error, ConfigError::OutOfMemory),
        }
    }
}

/// Refuses every request for memory of every allocation in turn. Returns how many there were.
fn allocations_survive<P: Placement>(config: Config) -> u64 {
    let mut set: ChunkSet<P> = ChunkSet::new(config).unwrap();
    let mut refusals = 0;
    for request in requests() {
        for refused in 0.. {
            let before = objects(&set);
            let (answer, _) = watched(refused, || set.alloc(&request));
            match answer {
                Ok(_) => break,
                Err(error) => assert_eq!(error, AllocError::OutOfMemory),
            }
            assert_eq!(objects(&set), before);
            refusals += 1;
        }
    }
    refusals
}

/// Frees never ask for memory, and balancing only for a chunk to keep pages ready in.
fn frees_and_balancing_survive<P: Placement>(config: Config) {
    let mut set: ChunkSet<P> = ChunkSet::new(config).unwrap();
    let places: Vec<Place> = requests().map(|request| set.alloc(&request).unwrap()).collect();
    for place in places {
        let (freed, requests) = watched(0, || set.free(place));
        assert!(freed.is_ok() && requests == 0);
        let refused = watched(0, || set.balance()).0.is_err();
        assert!(!refused || set.wants_balance(), "what was not done is wanted still");
        set.validate().unwrap();
        watched(NONE_REFUSED, || set.balance()).0.unwrap();
        set.validate().unwrap();
    }
    assert!(set.is_empty());
}

fn survives<P: Placement>() {
    for population in [Population::OnDemand, Population::Whole] {
        let config = Config::new(MIN_UNIT_BYTES, 2).population(population);
        creation_survives::<P>(config);
        let refusals = allocations_survive::<P>(config);
        assert!(refusals > 12, "only {refusals} requests for memory");
        frees_and_balancing_survive::<P>(config);
    }
}

#[test]
fn the_default_placement() {
    survives::<Exact>();
}

#[test]
fn the_kernels_placements() {
    survives::<Linux>();
    survives::<LinuxFixed>();
    survives::<Linux2017>();
}
