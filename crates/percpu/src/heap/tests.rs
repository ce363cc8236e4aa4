//! The heap: objects are disjoint and zero, a lack of memory is an error, memory returns to the system.

use super::*;
use crate::ends::all_of;
use crate::{AllocError, FreeError};
use freehold_sys::failing;
use std::alloc::Layout;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::vec::Vec;

fn small() -> Builder {
    PerCpuHeap::builder().capacity(if cfg!(miri) { 1 << 18 } else { 1 << 20 })
}

/// Its invariants, each bit of its chunks. Not under Miri: nothing that looks at them is unsafe, and it takes seconds.
pub(crate) fn valid(heap: &PerCpuHeap) {
    if !cfg!(miri) {
        heap.validate().unwrap();
    }
}

/// Few where each step is watched.
const MANY: usize = if cfg!(miri) { 64 } else { 20_000 };

#[test]
fn objects_are_apart_and_zero_and_are_freed() {
    let heap = small().build().unwrap();
    let mut boxes = Vec::new();
    for round in 0..if cfg!(miri) { 2 } else { 3 } {
        for at in 0..if cfg!(miri) { 40 } else { 200 } {
            let object = heap.alloc_boxed::<[AtomicU32; 3]>().unwrap();
            for values in object.iter() {
                assert!(values.iter().all(|value| value.swap(at + 1, Relaxed) == 0), "round {round}");
            }
            boxes.push((at + 1, object));
        }
        for (at, object) in &boxes {
            assert!(all_of(object.iter()).into_iter().flatten().all(|value| value.load(Relaxed) == *at));
            assert!(object.this_cpu()[0].load(Relaxed) == *at);
        }
        valid(&heap);
        boxes.clear();
    }
    assert!(heap.alloc_boxed::<AtomicU64>().unwrap().cpu(heap.cpus()).is_none());
    let stats = heap.stats();
    assert_eq!(stats.placed, stats.kept);
    heap.trim();
    valid(&heap);
    assert_eq!(heap.stats().placed, 0);
}

#[test]
fn places_that_a_magazine_keeps_serve_other_sizes() {
    type Largest = [AtomicU64; 4096];
    let heap = PerCpuHeap::builder().capacity(1 << 18).build().unwrap();
    let most: Vec<_> = (0..7).map(|_| heap.alloc_boxed::<Largest>().unwrap()).collect();
    let leave_places = || drop(heap.alloc_boxed::<AtomicU64>().unwrap());
    leave_places();
    drop(heap.alloc_boxed::<Largest>().unwrap());
    leave_places();
    assert_eq!(heap.alloc_bulk::<Largest>(1).map(|last| last.len()), Ok(1));
    assert_eq!(heap.alloc::<AtomicU64>().map(drop), Err(AllocError::AtCapacity { capacity_bytes: 1 << 18 }));
    drop(most);
    valid(&heap);
}

#[test]
fn a_forgotten_object_leaves_the_heap_valid() {
    let heap = small().build().unwrap();
    std::mem::forget(heap.alloc_boxed::<AtomicU64>().unwrap());
    valid(&heap);
    drop(heap.alloc_boxed::<AtomicU64>().unwrap());
    heap.trim();
    valid(&heap);
    assert_eq!(heap.stats().placed, 1);
}

#[test]
fn large_and_aligned_objects_take_the_lock() {
    #[repr(align(256))]
    struct Wide([AtomicU64; 32]);
    // SAFETY: made of atomics; nothing is owned.
    #[allow(unsafe_code)]
    unsafe impl Zeroed for Wide {}

    let heap = small().build().unwrap();
    for _ in 0..3 {
        let objects: Vec<_> = (0..20).map(|_| heap.alloc_boxed::<Wide>().unwrap()).collect();
        for object in &objects {
            assert_eq!((&raw const object.this_cpu().0).addr() % 256, 0);
            assert!(object.iter().flat_map(|wide| &wide.0).all(|value| value.swap(7, Relaxed) == 0));
        }
    }
    valid(&heap);
    assert_eq!(heap.stats().placed, 0);
    assert!(matches!(heap.alloc::<[AtomicU64; 5000]>(), Err(AllocError::TooLarge { .. })));
    assert!(matches!(heap.alloc::<[AtomicU64; 0]>(), Err(AllocError::ZeroSize)));
}

/// Objects by address lie apart beside others, are zero again after a free, and a free of anything else is an error.
#[test]
#[allow(unsafe_code)]
fn objects_of_any_layout_are_found_by_address() {
    let heap = small().build().unwrap();
    let counters = heap.alloc_bulk::<AtomicU64>(100).unwrap();
    let layouts = [
        (1, 1),
        (8, 8),
        (12, 4),
        (64, 64),
        (100, 2),
        (4096, 4096),
        (if cfg!(miri) { 5000 } else { 32_768 }, 16),
    ];
    for round in 0..2 {
        let mut objects = Vec::new();
        for (size, align) in layouts.into_iter().chain(layouts) {
            let first = heap.alloc_layout(Layout::from_size_align(size, align).unwrap()).unwrap();
            assert_eq!(first.addr().get() % align, 0);
            for cpu in 0..heap.cpus() as usize {
                // SAFETY: the object is live, has `size` bytes on each possible CPU, and is this thread's.
                let bytes = unsafe {
                    std::slice::from_raw_parts_mut(first.as_ptr().add(cpu * heap.stride_bytes()), size)
                };
                assert!(bytes.iter().all(|&byte| byte == 0), "round {round}, {size} bytes");
                bytes.fill(0xab);
            }
            objects.push((first, size));
        }
        assert!(counters.iter().flat_map(|counter| counter.iter()).all(|value| value.load(Relaxed) == 0));
        valid(&heap);
        for (first, size) in objects {
            // SAFETY: live objects of this heap, by their addresses, and none after its free.
            unsafe {
                if size > 4 {
                    assert!(matches!(heap.free_at(first.add(4)), Err(FreeError::Interior { .. })));
                }
                assert!(matches!(heap.free_at(first.add(1)), Err(FreeError::NoObjectOffset { .. })));
                heap.free_at(first).unwrap();
                assert!(matches!(heap.free_at(first), Err(FreeError::AlreadyFree { .. })));
            }
        }
    }
    // SAFETY: no objects begin there.
    unsafe {
        assert!(matches!(heap.free_at(std::ptr::NonNull::dangling()), Err(FreeError::UnknownChunk { .. })));
    }
    // SAFETY: each is live, and used no more.
    unsafe { heap.free_bulk(&counters) };
    heap.trim();
    valid(&heap);
    assert_eq!(heap.stats().placed, 0);
    assert!(heap.this_cpu() < heap.cpus());
    let refused = |size, align| heap.alloc_layout(Layout::from_size_align(size, align).unwrap()).unwrap_err();
    assert_eq!(refused(0, 1), AllocError::ZeroSize);
    assert_eq!(refused(32769, 1), AllocError::TooLarge { size_bytes: 32769 });
    assert_eq!(refused(8, 8192), AllocError::AlignTooLarge { align_bytes: 8192 });
}

#[test]
#[allow(unsafe_code)]
fn bulk_and_single_mix() {
    let heap = small().build().unwrap();
    let bulk = heap.alloc_bulk::<AtomicU64>(MANY).unwrap();
    let single: Vec<_> = (0..MANY).map(|_| heap.alloc::<AtomicU64>().unwrap()).collect();
    let all: BTreeSet<usize> =
        bulk.iter().chain(&single).map(|object| object.cpu(0).unwrap().as_ptr().addr()).collect();
    assert_eq!(all.len(), 2 * MANY);
    for object in bulk.iter().chain(&single) {
        assert_eq!(object.cpu(0).unwrap().fetch_add(1, Relaxed), 0);
    }
    valid(&heap);
    // Every second one goes alone, the others together.
    let (odd, even): (Vec<_>, Vec<_>) = bulk.iter().zip(0..).partition(|(_, at)| at % 2 == 1);
    for (object, _) in odd {
        // SAFETY: it is live, and named nowhere else that is used.
        unsafe { heap.free(*object) };
    }
    let even: Vec<_> = even.into_iter().map(|(object, _)| *object).collect();
    // SAFETY: as above.
    unsafe { heap.free_bulk(&even) };
    valid(&heap);
    let again = heap.alloc_bulk::<AtomicU64>(MANY).unwrap();
    assert!(again.iter().all(|object| object.cpu(0).unwrap().load(Relaxed) == 0));
    // SAFETY: as above.
    unsafe {
        heap.free_bulk(&again);
        heap.free_bulk(&single);
    }
    heap.trim();
    valid(&heap);
    assert_eq!(heap.stats().placed, 0);
}

#[test]
#[allow(unsafe_code)]
fn the_lock_is_taken_once_for_many_operations() {
    let heap = small().build().unwrap();
    let objects: Vec<_> = (0..MANY).map(|_| heap.alloc::<AtomicU64>().unwrap()).collect();
    let allocs = heap.stats().lock_visits;
    assert!(allocs as usize * 16 <= MANY, "{allocs} visits for {MANY} allocations");
    for object in objects {
        // SAFETY: it is live, and named nowhere else.
        unsafe { heap.free(object) };
    }
    let frees = heap.stats().lock_visits - allocs;
    assert!(frees as usize * 16 <= MANY, "{frees} visits for {MANY} frees");
}

/// What a thread has freed it hands out again, zeroed, and asks nobody for more.
#[test]
#[allow(unsafe_code)]
fn an_object_that_was_freed_is_handed_out_again_without_the_lock() {
    let heap = small().build().unwrap();
    let first = heap.alloc::<AtomicU64>().unwrap();
    // SAFETY: it is live, and named nowhere else.
    unsafe { heap.free(first) };
    let visits = heap.stats().lock_visits;
    for _ in 0..MANY {
        let object = heap.alloc::<AtomicU64>().unwrap();
        // SAFETY: as above.
        unsafe { heap.free(object) };
    }
    // A thread that moves to another CPU may find nothing there.
    let more = heap.stats().lock_visits - visits;
    assert!(more as usize * 16 <= MANY, "{more} visits for {MANY} pairs");
}

#[test]
#[allow(unsafe_code)]
fn what_cannot_wait_makes_no_call() {
    let heap = small().build().unwrap();
    {
        let _failing = failing::after(0);
        let refused = heap.try_alloc::<AtomicU64>().unwrap_err();
        assert_eq!(refused, TryAllocError::Alloc(AllocError::NoPopulatedRoom { size_bytes: 8 }));
    }
    let first = heap.alloc::<AtomicU64>().unwrap();
    let _failing = failing::after(0);
    let objects: Vec<_> = (0..100).map(|_| heap.try_alloc::<AtomicU64>().unwrap()).collect();
    let other = heap.try_alloc::<[AtomicU64; 20]>().unwrap();
    let held = heap.core.lock().unwrap();
    assert_eq!(heap.try_alloc::<[AtomicU64; 20]>().unwrap_err(), TryAllocError::Busy);
    drop(held);
    // SAFETY: each is live, and used no more.
    unsafe {
        heap.free(first);
        heap.free(other);
        heap.free_bulk(&objects);
    }
    valid(&heap);
}

#[test]
#[allow(unsafe_code)]
fn what_was_prepared_is_found_without_waiting() {
    let heap = small().build().unwrap();
    let few = if cfg!(miri) { 60 } else { 300 };
    let large = Layout::new::<[AtomicU64; 20]>();
    assert!(heap.try_alloc::<AtomicU32>().is_err() && heap.try_alloc::<[AtomicU64; 20]>().is_err());
    heap.prepare(Layout::new::<AtomicU32>(), few).unwrap();
    heap.prepare(large, 40).unwrap();
    heap.prepare(large, 50).unwrap();
    heap.trim();
    assert_eq!((heap.stats().placed, heap.stats().kept), (few as u64 + 50, few as u64 + 50));
    valid(&heap);
    // While another thread has every other lock, and without a system call.
    let core = heap.core.lock().unwrap();
    let _failing = failing::after(0);
    let small: Vec<_> = (0..few).map(|_| heap.try_alloc::<AtomicU32>().unwrap()).collect();
    let large: Vec<_> = (0..50).map(|_| heap.try_alloc::<[AtomicU64; 20]>().unwrap()).collect();
    assert_eq!(heap.try_alloc::<AtomicU32>().unwrap_err(), TryAllocError::Busy);
    drop((core, _failing));
    small
        .iter()
        .flat_map(|object| object.iter())
        .for_each(|value| assert_eq!(value.fetch_add(1, Relaxed), 0));
    large
        .iter()
        .flat_map(|object| object.iter())
        .for_each(|value| assert_eq!(value[19].fetch_add(1, Relaxed), 0));
    valid(&heap);
    // SAFETY: live objects of this heap, each once, which are not used again.
    unsafe {
        heap.free_bulk(&small);
        heap.free_bulk(&large);
    }
    valid(&heap);
    assert!(heap.prepare(Layout::new::<[AtomicU64; 8000]>(), 1).is_err(), "larger than an object may be");
    // An interpreter takes minutes to fill a heap.
    if !cfg!(miri) {
        let capacity_bytes = heap.stats().capacity_bytes;
        let full = Err(AllocError::AtCapacity { capacity_bytes });
        assert_eq!(heap.prepare(Layout::new::<[AtomicU64; 20]>(), 1 << 20), full);
        valid(&heap);
    }
    assert_eq!(heap.stock.kept(), []);
}

#[test]
fn a_heap_without_a_capacity_asks_for_half_until_it_has_the_smallest() {
    let _failing = failing::after(0);
    let refusal = PerCpuHeap::builder().build().unwrap_err();
    let HeapError::Reserve { reserve_bytes, capacity_bytes, error } = refusal else { panic!("{refusal}") };
    assert!(error.is_out_of_memory());
    assert_eq!(capacity_bytes, build::MIN_CAPACITY_BYTES);
    assert!(reserve_bytes >= capacity_bytes);
}

/// What was taken from a magazine before the heap had no more goes back.
#[test]
#[cfg_attr(miri, ignore = "fills a heap")]
#[allow(unsafe_code)]
fn a_bulk_that_is_refused_takes_nothing() {
    let heap = small().build().unwrap();
    let one = heap.alloc::<[AtomicU64; 8]>().unwrap();
    // SAFETY: it is live, and used no more.
    unsafe { heap.free(one) };
    let refused = heap.alloc_bulk::<[AtomicU64; 8]>(1 << 15).unwrap_err();
    assert!(matches!(refused, AllocError::AtCapacity { .. }), "{refused}");
    heap.trim();
    valid(&heap);
    assert_eq!(heap.stats().placed, 0);
}

/// Addresses that no machine has are as many whole pages as there can be.
#[test]
fn reserved_bytes_saturate() {
    let page_bytes = freehold_sys::page_bytes().max(crate::PAGE_BYTES as usize);
    let bytes = Units::reserved_bytes(1 << 62, 8);
    assert_eq!((bytes % page_bytes, bytes.wrapping_add(page_bytes)), (0, 0));
}

/// A heap is made, and two chunks are filled, with the n-th memory call refused, for each n until all succeed.
#[test]
#[allow(unsafe_code)]
fn each_refusal_is_an_error_and_a_retry_works() {
    // With an explicit capacity: otherwise a smaller one is tried.
    let builder = small();
    let mut refused = 0;
    for calls in 0.. {
        let failing = failing::after(calls);
        let heap = match builder.build() {
            Ok(heap) => heap,
            Err(refusal @ HeapError::Reserve { error, .. }) => {
                assert!(
                    error.is_out_of_memory() && std::format!("{refusal}").contains("`capacity`"),
                    "{refusal}"
                );
                refused += 1;
                drop(failing);
                builder.build().unwrap();
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let mut objects = Vec::new();
        let mut out = false;
        while objects.len() < 10 {
            match heap.alloc_bulk::<[AtomicU64; 512]>(8) {
                Ok(some) => objects.push(some),
                Err(AllocError::OutOfMemory) => {
                    out = true;
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        }
        // Magazines return the same error when there is no memory.
        let single = heap.alloc::<AtomicU64>();
        assert!(matches!(single, Ok(_) | Err(AllocError::OutOfMemory)));
        valid(&heap);
        drop(failing);
        valid(&heap);
        if out && !cfg!(miri) {
            objects.push(heap.alloc_bulk(8).unwrap());
        }
        assert!(
            objects.iter().flatten().flat_map(|object| object.cpu(0)).flatten().all(|v| v.load(Relaxed) == 0)
        );
        // SAFETY: each is live, and used no more.
        objects.iter().for_each(|some| unsafe { heap.free_bulk(some) });
        if let Ok(single) = single {
            // SAFETY: as above.
            unsafe { heap.free(single) };
        }
        heap.trim();
        valid(&heap);
        assert_eq!(heap.stats().placed, 0);
        if !out || cfg!(miri) {
            break;
        }
        refused += 1;
    }
    assert!(refused >= 3 || cfg!(miri), "{refused} calls were refused");
}

#[cfg(not(miri))]
#[test]
fn untouched_units_and_trimmed_pages_have_no_memory() {
    if freehold_sys::Ability::PageScan.is_there().is_err() {
        std::eprintln!("not run: the kernel does not tell pages of zeros from others");
        return;
    }
    let heap = PerCpuHeap::new().unwrap();
    let objects = heap.alloc_bulk::<AtomicU64>(100_000).unwrap();
    assert!(heap.resident_bytes().unwrap().iter().all(|&bytes| bytes == 0));
    for object in &objects {
        object.cpu(0).unwrap().store(1, Relaxed);
    }
    // Reading all values takes no memory either.
    assert_eq!(
        objects.iter().flat_map(|object| object.iter()).map(|value| value.load(Relaxed)).sum::<u64>(),
        100_000
    );
    let resident = heap.resident_bytes().unwrap();
    assert!((800_000..=1_000_000).contains(&resident[0]), "{resident:?}");
    assert!(resident[1..].iter().all(|&bytes| bytes == 0), "{resident:?}");
    // SAFETY: each is live, and used no more.
    #[allow(unsafe_code)]
    unsafe {
        heap.free_bulk(&objects);
    }
    heap.trim();
    assert!(heap.resident_bytes().unwrap().iter().all(|&bytes| bytes == 0));
    valid(&heap);
}

#[test]
fn bad_descriptions_are_refused() {
    for capacity_bytes in [0, 1, 3 << 20, 1 << 17, 1 << 33] {
        let refused = PerCpuHeap::builder().capacity(capacity_bytes).build().unwrap_err();
        assert_eq!(refused, HeapError::Capacity { capacity_bytes });
    }
    assert_eq!(small().add_mode(AddMode::Sticky).build().unwrap().add_mode(), AddMode::Sticky);
    match freehold_sys::rseq::detect() {
        Ok(_) => assert_eq!(small().build().unwrap().add_mode(), AddMode::Sequence),
        Err(absent) => {
            assert_eq!(
                small().add_mode(AddMode::Sequence).build().unwrap_err(),
                HeapError::AddMode { absent }
            );
            assert_eq!(small().build().unwrap().add_mode(), AddMode::Sticky);
        }
    }
}

#[test]
fn threads_share_a_heap() {
    let heap = small().build().unwrap();
    let rounds = if cfg!(miri) { 30 } else { 20_000 };
    std::thread::scope(|scope| {
        for seed in 0..4_usize {
            let heap = &heap;
            scope.spawn(move || {
                let mut live = Vec::new();
                for round in 0..rounds {
                    if (round * 7 + seed) % 13 < 7 || live.len() < 3 {
                        let object = heap.alloc_boxed::<AtomicU64>().unwrap();
                        let mark = (seed * rounds + round + 1) as u64;
                        assert!(object.iter().all(|value| value.swap(mark, Relaxed) == 0));
                        live.push((mark, object));
                    } else {
                        let (mark, object) = live.swap_remove(round % live.len());
                        assert!(object.iter().all(|value| value.load(Relaxed) == mark));
                    }
                }
            });
        }
    });
    valid(&heap);
    heap.trim();
    assert_eq!(heap.stats().placed, 0);
}

/// What is added in a program's own sequence goes to the place that a counter names.
#[test]
#[allow(unsafe_code)]
fn slots_for_sequences_hold_what_was_added() {
    // So that no leak check reports them.
    static ALL: std::sync::RwLock<Vec<&'static PerCpuHeap>> = std::sync::RwLock::new(Vec::new());
    let mut found = 0;
    for index in [Index::CpuId, Index::MmCid] {
        let builder = PerCpuHeap::builder().capacity(1 << 18).add_mode(AddMode::Sequence).index(index);
        let Ok(heap) = builder.build().map(PerCpuHeap::leak) else { continue };
        ALL.write().unwrap().push(heap);
        let counter = crate::count::Counter::in_heap(heap).unwrap();
        let Some(slots) = counter.sequence_slots() else { continue };
        assert_eq!((slots.cpus, index), (heap.cpus(), Index::CpuId));
        counter.add(7);
        counter.add(5);
        let slot = |cpu: u32| {
            let slot = slots.first.as_ptr().wrapping_byte_add(cpu as usize * slots.stride_bytes);
            // SAFETY: the slot of a possible CPU, of a counter that lives.
            unsafe { AtomicU64::from_ptr(slot) }
        };
        assert_eq!((0..slots.cpus).map(|cpu| slot(cpu).load(Relaxed)).sum::<u64>(), 12);
        found += 1;
    }
    let is_default = PerCpuHeap::builder().build().unwrap().add_mode() == AddMode::Sequence;
    // Not of the heap that is indexed by `mm_cid`.
    assert_eq!(found, u32::from(is_default));
}
