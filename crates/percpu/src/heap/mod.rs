//! A heap of memory that exists once per CPU, for counters and other objects.
//!
//! ```text
//!   base                  + stride              + 2 stride ...        cpus stride      (cpus + 1) stride
//!   | unit of CPU 0 |     | unit of CPU 1 |     ...                   | overflow|      | batches |
//!   |  a   b   c    |     |  a   b   c    |                           |  a b c  |      |  a b c  |
//!      place
//!
//!   stride   the capacity and one page: units start at different colours of a cache
//!   overflow the adds of threads that the kernel gives no CPU's number
//!   batches  whole batches that approximate counters passed on
//! ```
//!
//! An object is one place: an offset that is valid in every unit. A page gets memory when a CPU first writes to it, so
//! a CPU that never runs the program costs nothing. Pages return to the system when their chunk is empty, and on
//! [`PerCpuHeap::trim`].
//!
//! | AddMode | An add | Needs |
//! |---|---|---|
//! | [`AddMode::Sequence`] | a restartable sequence on the CPU's own slot: no lock prefix | glibc 2.35 on Linux, x86-64 or aarch64 |
//! | [`AddMode::Indexed`] | the CPU's number, then an atomic add: safe under debuggers | the same |
//! | [`AddMode::Sticky`] | a number that stays with the thread, then an atomic add | nothing |
//!
//! A heap's mode is chosen when it is made, and does not change.
//!
//! ```
//! use freehold_percpu::Counter;
//! use freehold_percpu::heap::PerCpuHeap;
//! static HITS: Counter = Counter::new();
//!
//! std::thread::scope(|scope| {
//!     for _ in 0..4 {
//!         scope.spawn(|| (0..1000).for_each(|_| HITS.add(1)));
//!     }
//! });
//! assert_eq!(HITS.get(), 4000);
//! println!("{}", PerCpuHeap::global()?.add_mode());
//! # Ok::<(), freehold_percpu::heap::HeapError>(())
//! ```
//!
//! # Fork
//! A child inherits a copy of the memory, so counters continue from their values. Adds and reads take no lock. A `fork`
//! waits for threads that are inside an allocation or a free, so the child can allocate from every heap
//! ([`freehold_sys::fork`]).
//!
//! # Invariants
//! - P10: in the first mode, only restartable sequences write the slots of CPUs. The overflow unit and that of batches
//!   are only written atomically.
//! - P11: free memory, and the clean places of magazines, are zero in every unit.
//! - P12: a place belongs to an object, to one magazine, to the stock, or is free in the set.
//! - P13: the sum over all units is the sum of all adds.
//! - P14: the shared sum of a batch counter is too low by less than a batch for each unit, plus less than a batch for
//!   each add in progress.
//!
//! Source: M. Desnoyers, "Waste-Free Per-CPU Userspace Memory Allocation", FOSDEM 2025.

mod add_mode;
mod build;
mod core_set;
mod error;
mod global;
mod handle;
mod magazine;
mod object;
mod stats;
mod stock;
mod sync;
#[cfg(test)]
pub(crate) mod tests;
mod units;

pub use add_mode::AddMode;
pub use build::{Builder, DEFAULT_CAPACITY_BYTES};
pub use error::{HeapError, TryAllocError};
pub use freehold_sys::SysError;
pub use freehold_sys::rseq::{Absent, Index};
pub use handle::{PerCpu, PerCpuBox, Zeroed};
pub use object::CounterSlots;
pub(crate) use object::{LazyObject, TOGETHER, Words, sum_together};
pub use stats::HeapStats;

use crate::{AllocError, Request};
use add_mode::Adder;
use core_set::CoreSet;
use magazine::{Magazines, Source};
use std::boxed::Box;
use std::fmt;
use stock::Stock;
use sync::Mutex;
use units::Units;

/// The memory of objects that exist once per CPU. Shared by all threads.
///
/// Allocations and frees try the lock of the CPU's shard, without waiting, and take the heap's own lock once for 32
/// objects. Sizes above 64 bytes, or alignments above 8, take the heap's lock each time.
pub struct PerCpuHeap {
    /// Read by every add, never written.
    adder: Adder,
    units: Units,
    magazines: Magazines,
    stock: Stock,
    /// Locked after a magazine, never before.
    core: Mutex<CoreSet>,
}

impl PerCpuHeap {
    /// A heap with the best mode of this machine, [`DEFAULT_CAPACITY_BYTES`] for each CPU. Cost: as [`Builder::build`].
    ///
    /// # Errors
    /// See [`HeapError`].
    pub fn new() -> Result<Self, HeapError> {
        Builder::new().build()
    }

    /// A builder for a heap. Cost: constant.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The mode of adds. Cost: constant.
    #[must_use]
    pub fn add_mode(&self) -> AddMode {
        self.adder.add_mode()
    }

    /// The number of CPUs that have a unit: those that the kernel may ever use. Cost: constant.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.units.cpus()
    }

    /// Returns all memory without objects to the system, including the places in magazines, but not what
    /// [`prepare`](Self::prepare) has set aside. Later allocations have to get memory again.
    ///
    /// Cost: a step for each page of the heap's chunks, and a system call for each unit of each range of pages that is
    /// returned. The heap's lock is held meanwhile.
    pub fn trim(&self) {
        self.magazines.drain(self);
        self.lock().trim();
    }

    /// A place for an object, zero in every unit.
    fn alloc_place(&self, request: &Request) -> Result<u32, AllocError> {
        self.or_drained(|| match magazine::class_of(request) {
            Some(class) => self.magazines.alloc(self.hint(), class, self),
            None => self.lock().alloc(request),
        })
    }

    /// Places for many equal objects, zero in every unit. Takes all or none.
    fn alloc_places(&self, request: &Request, into: &mut [u32]) -> Result<(), AllocError> {
        self.or_drained(|| match magazine::class_of(request) {
            Some(class) => self.magazines.alloc_bulk(self.hint(), class, into, self),
            None => self.lock().alloc_bulk(request, into),
        })
    }

    /// Calls `alloc` again if it is refused for lack of places, once the magazines' are free for any request.
    fn or_drained<T>(&self, mut alloc: impl FnMut() -> Result<T, AllocError>) -> Result<T, AllocError> {
        match alloc() {
            Err(AllocError::AtCapacity { .. } | AllocError::OutOfMemory) if self.magazines.drain(self) => {
                alloc()
            }
            done => done,
        }
    }

    /// Frees the place of a live object of that request, which is not used any more.
    fn free_place(&self, request: &Request, place: u32) {
        match magazine::class_of(request) {
            Some(class) => self.magazines.free(self.hint(), class, &[place], self),
            None => {
                self.clear_places(&[place], request.size_bytes as usize);
                self.lock().free(&[place]);
            }
        }
    }

    /// [`Self::free_place`] for many places.
    fn free_places(&self, request: &Request, places: &[u32]) {
        match magazine::class_of(request) {
            Some(class) => self.magazines.free(self.hint(), class, places, self),
            None => {
                self.clear_places(places, request.size_bytes as usize);
                self.lock().free(places);
            }
        }
    }

    /// Zeroes unused objects (P11) in the units that were ever written to.
    fn clear_places(&self, places: &[u32], size_bytes: usize) {
        self.adder.used_units().for_each(|unit| self.units.clear(unit, places, size_bytes));
    }

    /// The shard of magazines to try first.
    fn hint(&self) -> usize {
        self.adder.index() as usize
    }

    fn lock(&self) -> sync::Guard<'_, CoreSet> {
        sync::lock(&self.core)
    }
}

impl fmt::Debug for PerCpuHeap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shows nothing behind a lock: the formatter is the caller's code.
        f.debug_struct("PerCpuHeap").field("mode", &self.add_mode()).finish_non_exhaustive()
    }
}

/// Magazines are filled from the heap and emptied into it.
impl Source for PerCpuHeap {
    fn alloc(&self, class: usize, into: &mut [u32]) -> Result<(), AllocError> {
        self.lock().alloc_bulk(&magazine::request_of(class), into)
    }

    fn free(&self, places: &[u32]) {
        self.lock().free(places);
    }

    fn clear(&self, class: usize, places: &[u32]) {
        self.clear_places(places, magazine::bytes_of(class));
    }
}

/// Leaking a heap, so that it can hold counters.
impl PerCpuHeap {
    /// Leaks the heap: it lives as long as the program. Cost: constant.
    #[must_use]
    pub fn leak(self) -> &'static Self {
        Box::leak(Box::new(self))
    }
}
