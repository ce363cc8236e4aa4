//! Pools of slots and stacks, vectors.
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_sys::failing;
use freehold_vmalloc::kva;
use freehold_vmalloc::{
    AllocError, PoolError, RetainPolicy, SlotLayout, Stack, StackLayout, StackPool, VirtualMemory, VmVec,
    Zero,
};

const MIB: usize = 1 << 20;
/// Under Miri there are none.
const GUARD: usize = if cfg!(miri) { 0 } else { 4096 };

fn vm() -> VirtualMemory {
    VirtualMemory::builder().reserve(256 * MIB).retain(RetainPolicy::bytes(64 << 20)).build().unwrap()
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|page| page == &[0; 4096][..page.len()])
}

#[test]
fn slots_are_zero_however_they_were_cleared() {
    const SLOT: usize = if cfg!(miri) { 16 << 10 } else { 128 << 10 };
    // More than are cleared at once.
    const COUNT: usize = if cfg!(miri) { 96 } else { 128 };
    // Under Miri, where nothing tells which pages are resident, two.
    for keep_resident in [usize::MAX, 0, SLOT / 2].into_iter().take(if cfg!(miri) { 2 } else { 3 }) {
        let vm = vm();
        let layout = SlotLayout::new(SLOT).count(COUNT as u64).guard(GUARD).keep_resident(keep_resident);
        let slots = vm.slots(&layout).unwrap();
        assert_eq!((slots.count(), slots.slot_bytes()), (COUNT as u64, SLOT));
        for round in 0..if cfg!(miri) { 2 } else { 8u8 } {
            // Some are dropped out of order, and single ones between held ones.
            let mut held: Vec<_> = (0..COUNT).map(|_| slots.get().unwrap()).collect();
            assert!(held.iter().all(|slot| is_zero(slot)), "round {round}, {keep_resident}");
            for (number, slot) in held.iter_mut().enumerate() {
                slot.iter_mut().skip(number * SLOT / 256).step_by(9000).for_each(|byte| *byte = round + 1);
            }
            let kept = held.split_off(COUNT * 3 / 4);
            while held.len() > 2 {
                held.swap_remove(held.len() / 2);
            }
            drop((held, kept));
            // Under Miri, which is slow, in the end alone.
            if !cfg!(miri) {
                vm.validate().unwrap();
            }
        }
        let stats = vm.stats();
        assert_eq!(stats.mapping.refused, if cfg!(miri) { stats.mapping.refused } else { 0 });
        assert_eq!(stats.zones[1].space.blocks * SLOT as u64, stats.residency.dropped_bytes);
        drop(slots);
        assert_eq!((vm.stats().residency.resident_bytes, vm.stats().zones.len()), (0, 1));
        #[cfg(all(target_os = "linux", not(miri)))]
        assert_eq!(vm.resident_bytes(), Ok(0));
        vm.validate().unwrap();
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn what_slots_keep_is_bounded() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(256 << 10).count(64).keep_resident(16 << 10)).unwrap();
    let mut held: Vec<_> = (0..64).map(|_| slots.get().unwrap()).collect();
    held.iter_mut().for_each(|slot| slot.fill(1));
    drop(held);
    // All 64 were cleared at once.
    assert_eq!(vm.stats().residency.dropped_bytes, 0);
    assert_eq!(
        (vm.resident_bytes().unwrap(), vm.stats().residency.resident_bytes),
        (64 * (16 << 10), 64 * (16 << 10))
    );
    assert_eq!(vm.stats().scrub.scans, 1 + 1, "one for the slots, one for the question");
    assert_eq!(vm.release_idle(), Ok(64 * (16 << 10)));
    assert_eq!(vm.resident_bytes(), Ok(0));
}

#[test]
fn slots_that_are_overwritten_anyway_come_back_as_they_were() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(8192).guard(0).zero(Zero::No).count(32)).unwrap();
    let mut slot = slots.get().unwrap();
    slot.fill(9);
    let number = slot.number();
    drop(slot);
    let slot = slots.get().unwrap();
    assert!(slot.number() == number && slot.iter().all(|&byte| byte == 9));
}

#[test]
fn pools_that_cannot_be_are_refused() {
    let vm = vm();
    let refused = |layout: SlotLayout| vm.slots(&layout).unwrap_err();
    assert_eq!(refused(SlotLayout::new(0)), PoolError::Empty);
    assert_eq!(refused(SlotLayout::new(4096).count(0)), PoolError::Empty);
    for size in [usize::MAX, isize::MAX as usize, 1 << 46] {
        assert!(matches!(refused(SlotLayout::new(size)), PoolError::TooLarge { .. }));
        assert!(matches!(refused(SlotLayout::new(4096).guard(size)), PoolError::TooLarge { .. }));
    }
    // No slot has so many bytes, whatever the reservation.
    assert_eq!(refused(SlotLayout::new(1 << 46)), PoolError::TooLarge { slot_bytes: None });
    // An eighth of the reservation has no room for 32.
    assert!(matches!(refused(SlotLayout::new(4 * MIB)), PoolError::TooLarge { slot_bytes: Some(_) }));
    assert!(matches!(refused(SlotLayout::new(4096).count(u64::MAX)), PoolError::TooLarge { .. }));
    let whole = SlotLayout::new(MIB).guard(0).count(150);
    let first = vm.slots(&whole).unwrap();
    assert!(matches!(vm.slots(&whole).unwrap_err(), PoolError::Addresses(kva::AllocError::NoSpace { .. })));
    drop(first);
    drop(vm.slots(&whole).unwrap());
    assert_eq!(StackPool::new(&vm, 4096).unwrap_err(), PoolError::Empty);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has not the call that makes a part accessible")]
fn bytes_that_were_declared_before_they_were_accessible_are_cleared() {
    let vm = vm();
    let pool = vm.slots(&SlotLayout::new(64 << 10).count(64).accessible(8192)).unwrap();
    let mut held: Vec<_> = (0..64).map(|_| pool.get().unwrap()).collect();
    for slot in &mut held {
        slot.used(20 << 10);
        slot.set_accessible(64 << 10).unwrap();
        slot[..20 << 10].fill(1);
    }
    drop(held);
    let held: Vec<_> = (0..64).map(|_| pool.get_accessible(64 << 10).unwrap()).collect();
    assert!(held.iter().all(|slot| is_zero(slot)));
}

/// A dropped slot is narrowed if its holder used more than the pool hands out, and more than it keeps. Otherwise its next
/// holder gets it as wide as it was without a call.
#[test]
#[cfg_attr(miri, ignore = "Miri has not the call that makes a part accessible")]
fn a_slot_that_was_hardly_used_stays_wide() {
    let vm = vm();
    for (keep, used, is_wide) in [(4096, 8192, true), (4096, 8193, false), (64 << 10, 8193, true)] {
        let layout = SlotLayout::new(64 << 10).count(1).accessible(8192).keep_resident(keep);
        let pool = vm.slots(&layout).unwrap();
        let mut slot = pool.get_accessible(64 << 10).unwrap();
        slot.used(used);
        drop(slot);
        let _failing = failing::after(0);
        assert_eq!(pool.get_accessible(64 << 10).is_ok(), is_wide, "{used} bytes used, {keep} kept");
    }
}

#[test]
fn what_is_forgotten_is_lost_with_its_pool_alone() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(8192).guard(GUARD).count(32)).unwrap();
    slots.get().unwrap().fill(1);
    let mut slot = slots.get().unwrap();
    slot.fill(1);
    std::mem::forget(slot);
    std::mem::forget(vm.alloc(8192, Zero::Yes).unwrap());
    drop(slots);
    let slots = vm.slots(&SlotLayout::new(8192).guard(GUARD).count(32)).unwrap();
    let held: Vec<_> = (0..32).map(|_| slots.get().unwrap()).collect();
    assert!(held.iter().all(|slot| is_zero(slot)));
    assert_eq!(vm.stats().zones[0].space.blocks, 1);
    drop(held);
    vm.validate().unwrap();
}

#[test]
#[cfg_attr(miri, ignore = "it leaks, as it is meant to")]
fn whatever_is_forgotten_leaves_the_memory_valid() {
    let vm = vm();
    for _ in 0..3 {
        let slots = vm.slots(&SlotLayout::new(8192).guard(GUARD).count(32)).unwrap();
        std::mem::forget(slots.get().unwrap());
        std::mem::forget(slots);
        let stacks = StackPool::with_count(&vm, 64 << 10, 32).unwrap();
        std::mem::forget(stacks.get().unwrap());
        vm.validate().unwrap();
        std::mem::forget(stacks);
        let mut rows = VmVec::with_reserve(&vm, 1000).unwrap();
        rows.push(String::from("leaked")).unwrap();
        std::mem::forget(rows);
        // A small block and an extent.
        std::mem::forget(vm.alloc(8192, Zero::No).unwrap());
        std::mem::forget(vm.alloc(4 * MIB, Zero::Yes).unwrap());
        vm.validate().unwrap();
    }
    vm.alloc(8192, Zero::Yes).unwrap().fill(1);
    drop(VmVec::<u8>::with_reserve(&vm, 1000).unwrap());
    drop(vm.slots(&SlotLayout::new(8192).guard(GUARD).count(32)).unwrap());
    vm.release_idle().unwrap();
    vm.validate().unwrap();
}

#[test]
fn a_full_pool_says_so_and_serves_again() {
    // Of two slabs or three.
    const COUNT: u64 = if cfg!(miri) { 64 } else { 96 };
    let vm = vm();
    for zero in [Zero::Yes, Zero::No] {
        let slots = vm.slots(&SlotLayout::new(20 << 10).count(COUNT).guard(GUARD).zero(zero)).unwrap();
        for _ in 0..if cfg!(miri) { 2 } else { 3 } {
            let held: Vec<_> = (0..COUNT).map(|_| slots.get().unwrap()).collect();
            let error = slots.get().unwrap_err();
            assert_eq!(error, AllocError::AllHeld { count: COUNT, slot_bytes: 20 << 10 });
            let mut numbers: Vec<u64> = held.iter().map(|slot| slot.number()).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..COUNT));
            for slot in &held {
                let address = slot.as_ptr().addr().get() as u64;
                assert_eq!(slots.locate(address), Some(slot.number()));
                assert_eq!(slots.locate(address + (20 << 10) - 1), Some(slot.number()));
            }
        }
        assert_eq!((slots.locate(0), slots.locate(u64::MAX)), (None, None));
        vm.validate().unwrap();
    }
}

#[test]
fn threads_clear_slots_at_once() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(32 << 10).count(1024).guard(GUARD)).unwrap();
    let rounds = if cfg!(miri) { 45 } else { 5000 };
    std::thread::scope(|scope| {
        for thread in 0..4usize {
            let slots = &slots;
            scope.spawn(move || {
                let mut held = Vec::new();
                for round in 0..rounds {
                    let mut slot = slots.get().unwrap();
                    assert!(is_zero(&slot), "round {round}");
                    slot[(round * 4096 + thread) % (32 << 10)] = 1;
                    held.push(slot);
                    if held.len() > 40 {
                        held.drain(..(round + thread) % 40);
                    }
                }
            });
        }
    });
    vm.validate().unwrap();
}

#[cfg(not(miri))]
#[test]
fn stacks_end_where_their_guards_are() {
    let vm = vm();
    let pool = StackPool::with_count(&vm, 64 << 10, 64).unwrap();
    let stacks: Vec<_> = (0..64).map(|_| pool.get().unwrap()).collect();
    for stack in &stacks {
        let (base, limit) = (stack.base().addr().get(), stack.limit().addr().get());
        assert_eq!((base - limit, limit - stack.guard().addr().get()), ((64 << 10) - 4096, 4096));
        assert_eq!(base % 4096, 0);
        assert_eq!(pool.locate(stack.guard().addr().get() as u64), Some(stack.number()));
        assert_eq!(pool.locate(base as u64 - 1), Some(stack.number()));
    }
    assert_eq!(pool.count(), 64);
}

/// A dropped slot counts with what it keeps, so large slots of which little is used stay under the threshold.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn large_slots_count_with_what_they_keep() {
    let retain = RetainPolicy::bytes(16 << 20);
    let vm = VirtualMemory::builder().reserve(1 << 38).retain(retain).build().unwrap();
    for slot_mib in [1, 64, 1024] {
        let layout = SlotLayout::new(slot_mib * MIB).count(64).keep_resident(64 << 10);
        let pool = vm.slots(&layout).unwrap();
        for _ in 0..100 {
            let mut held: Vec<_> = (0..8).map(|_| pool.get().unwrap()).collect();
            for slot in &mut held {
                assert!(slot[0] == 0 && slot[80 << 10] == 0);
                (slot[0], slot[80 << 10]) = (1, 1);
            }
        }
        let stats = vm.stats();
        assert_eq!((stats.residency.purges, stats.mapping.refused), (0, 0), "{slot_mib} MiB: {stats:?}");
        let resident = vm.resident_bytes().unwrap();
        assert!(resident <= 64 * 8192 + 16 * (84 << 10), "{slot_mib} MiB: {resident} bytes");
        drop(pool);
        vm.validate().unwrap();
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn only_what_was_used_is_cleared() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(256 << 10).count(32).keep_resident(64 << 10)).unwrap();
    let turn = |used: usize| {
        let mut held: Vec<_> = (0..32).map(|_| slots.get().unwrap()).collect();
        assert!(held.iter().all(|slot| is_zero(slot)));
        for slot in &mut held {
            slot[..used].fill(1);
            slot.used(used);
        }
        drop(held);
        let before = vm.stats().scrub.cleared_bytes;
        vm.release_idle().unwrap();
        before
    };
    turn(100 << 10);
    turn(8192);
    turn(0);
    turn(256 << 10);
    vm.validate().unwrap();
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_pool_that_does_not_zero_counts_nothing_as_cleared() {
    let vm = vm();
    let layout = SlotLayout::new(16 << 10).count(64).zero(Zero::No).keep_resident(8192);
    let slots = vm.slots(&layout).unwrap();
    let mut held: Vec<_> = (0..64).map(|_| slots.get().unwrap()).collect();
    held.iter_mut().for_each(|slot| slot.fill(1));
    drop(held);
    assert_eq!(vm.resident_bytes(), Ok(64 * 8192), "the 64 were looked through");
    assert!(slots.get().unwrap()[..8192].iter().all(|&byte| byte == 1));
    assert_eq!(vm.stats().scrub.cleared_bytes, 0);
}

/// Stacks that were once deep keep their highest pages alone.
#[cfg(all(target_os = "linux", not(miri)))]
#[allow(unsafe_code, reason = "words of stacks are written")]
#[test]
fn stacks_forget_their_deepest_day() {
    let vm = vm();
    let layout = StackLayout::new(64 << 10).count(256).keep_resident(8192);
    let pool = StackPool::with_layout(&vm, &layout).unwrap();
    let touch = |stack: &Stack<'_>, bytes: usize| {
        for at in (8..=bytes).step_by(4096) {
            // SAFETY: the word is of the stack, which is held.
            unsafe { stack.base().as_ptr().sub(at).cast::<u64>().write(7) };
        }
    };
    let mut stacks: std::collections::VecDeque<_> = (0..128).map(|_| pool.get().unwrap()).collect();
    stacks.iter().for_each(|stack| touch(stack, 64 << 10));
    assert_eq!(vm.resident_bytes(), Ok(128 * (64 << 10)));
    for _ in 0..4 * 128 {
        drop(stacks.pop_front());
        stacks.push_back(pool.get().unwrap());
        touch(stacks.back().unwrap(), 4096);
    }
    // 64 wait to be looked through.
    assert!(vm.resident_bytes().unwrap() <= 192 * 8192 + 64 * 4096, "{:?}", vm.resident_bytes());
    drop(stacks);
    vm.release_idle().unwrap();
    assert_eq!(vm.resident_bytes(), Ok(0));
    vm.validate().unwrap();
    let zeroed = StackPool::with_layout(&vm, &StackLayout::new(5000).count(32).zeroed()).unwrap();
    for _ in 0..3 {
        let stacks: Vec<_> = (0..32).map(|_| zeroed.get().unwrap()).collect();
        for stack in &stacks {
            assert_eq!(stack.base().addr().get() - stack.limit().addr().get(), 8192);
            // SAFETY: as above.
            assert_eq!(unsafe { stack.base().as_ptr().sub(8).cast::<u64>().read() }, 0);
            touch(stack, 8192);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "there are no guards")]
fn slots_are_aligned_as_asked_for() {
    let vm = vm();
    let aligned = |size: usize, align: usize, guard: usize| {
        let layout = SlotLayout::new(size).align(align).guard(guard).count(32);
        vm.slots(&layout).map(|pool| {
            let slots: Vec<_> = (0..3).map(|_| pool.get().unwrap()).collect();
            assert!(
                slots.iter().all(|slot| slot.as_ptr().addr().get().is_multiple_of(align)),
                "{size} {align}"
            );
            slots[1].as_ptr().addr().get() - slots[0].as_ptr().addr().get()
        })
    };
    assert_eq!(aligned(MIB, MIB, 0), Ok(MIB));
    assert_eq!(aligned(64 << 10, 64 << 10, 4096), Ok(128 << 10));
    // No more than they need, where nobody asks for an alignment.
    for (pages, guard) in [(1, 1), (9, 1), (100, 3), (1000, 1), (25, 0)] {
        assert_eq!(aligned(pages << 12, 4096, guard << 12), Ok((pages + guard) << 12));
    }
    // The largest power of two that divides the distance is promised, up to 64 KiB.
    for (size, guard, promised) in
        [(64 << 10, 0, 64 << 10), (60 << 10, 4096, 64 << 10), (20 << 10, 4096, 8192)]
    {
        let pool = vm.slots(&SlotLayout::new(size).guard(guard).count(32)).unwrap();
        let slots: Vec<_> = (0..32).map(|_| pool.get().unwrap()).collect();
        assert!(slots.iter().all(|slot| slot.as_ptr().addr().get().is_multiple_of(promised)), "{size}");
    }
    // The first begins off a multiple of what a page table covers.
    let pool = vm.slots(&SlotLayout::new(4096).guard(0).count(32)).unwrap();
    let slots: Vec<_> = (0..32).map(|_| pool.get().unwrap()).collect();
    let first = slots.iter().map(|slot| slot.as_ptr().addr().get()).min();
    assert_eq!(first.map(|first| first % (2 * MIB)), Some(64 << 10));
    drop(slots);
    assert_eq!(aligned(64 << 10, 4096, 0), Ok(64 << 10));
    assert_eq!(aligned(9 << 12, 32 << 10, 4096), Ok(64 << 10));
    assert!(aligned(4096, 1, 0).is_ok());
    for align in [0, 3, 128 << 10] {
        let refused = PoolError::Alignment { align_bytes: align as u64, slot_bytes: 64 << 10 };
        assert_eq!(vm.slots(&SlotLayout::new(64 << 10).align(align)).unwrap_err(), refused);
    }
    vm.validate().unwrap();
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn every_question_to_the_system_is_counted() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(4096).count(128)).unwrap();
    let held: Vec<_> = (0..128).map(|_| slots.get().unwrap()).collect();
    let before = vm.stats().scrub.scans;
    // No two of the 64 that are cleared together are neighbours.
    let (odd, even): (Vec<_>, Vec<_>) = held.into_iter().partition(|slot| slot.number() % 2 == 1);
    drop(odd);
    assert_eq!((vm.stats().residency.dropped_bytes, vm.stats().scrub.scans - before), (0, 64));
    drop(even);
}

#[test]
fn a_pool_has_the_name_that_it_was_given() {
    let vm = vm();
    let slots = vm.slots(&SlotLayout::new(4096).count(32).guard(GUARD).name("pages of a test")).unwrap();
    slots.get().unwrap()[0] = 1;
    assert_eq!(vm.stats().zones[1].name, "pages of a test");
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        // A kernel that knows no names shows none, that of the blocks neither.
        let has = |name: &str| maps.contains(&format!("[anon:{name}]"));
        assert_eq!(has("pages of a test"), has(&vm.stats().zones[0].name));
    }
}

/// What the kernel says that the process has in huge pages.
#[cfg(all(target_os = "linux", not(miri)))]
fn huge_bytes_of_the_process() -> u64 {
    let all = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = all.lines().find_map(|line| line.strip_prefix("AnonHugePages:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn huge_pages_come_where_they_are_asked_for_and_go_whole() {
    const HUGE: usize = 2 * MIB;
    let vm = vm();
    let plain = vm.slots(&SlotLayout::new(HUGE).guard(0).align(HUGE).count(32)).unwrap();
    plain.get().unwrap()[0] = 1;
    let huge = vm.slots(&SlotLayout::new(HUGE).guard(0).align(HUGE).count(32).huge_pages()).unwrap();
    let mut vector: VmVec<'_, u8> = VmVec::with_huge_pages(&vm, 8 * MIB).unwrap();
    let granted: Vec<bool> = vm.stats().zones.iter().map(|zone| zone.huge_pages).collect();
    assert!(!granted[0] && !granted[1]);
    // A kernel that has them takes the advice, whatever its mode is.
    let has_them = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
    assert!(granted[2] || !has_them, "{:?}", vm.stats().zones[2]);
    huge.get().unwrap()[0] = 1;
    vector.push(1).unwrap();
    let before = huge_bytes_of_the_process();
    let bytes = vm.huge_page_bytes().unwrap();
    // Where nobody else asked for huge pages, all of the process are these, unless more come meanwhile.
    let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if mode.contains("[madvise]") {
        assert!((before..=huge_bytes_of_the_process()).contains(&bytes), "{bytes} bytes");
    }
    eprintln!("huge pages are granted: {}, and there are {bytes} bytes of them", granted[2]);
    assert!(bytes <= 2 * HUGE as u64 && (granted[2] || bytes == 0));
    // Whatever came, all of it goes.
    vector.clear();
    vector.shrink_to_fit().unwrap();
    vm.release_idle().unwrap();
    assert_eq!((vm.resident_bytes(), vm.huge_page_bytes()), (Ok(0), Ok(0)));
    huge.get().unwrap()[0] = 1;
    drop((huge, vector));
    assert_eq!(vm.huge_page_bytes(), Ok(0));
    // Who comes next has small pages again.
    let next = vm.slots(&SlotLayout::new(HUGE).guard(0).align(HUGE).count(32)).unwrap();
    next.get().unwrap()[0] = 1;
    assert_eq!(vm.huge_page_bytes(), Ok(0));
    vm.validate().unwrap();
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn memory_comes_from_a_node_where_there_are_nodes() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).node(0).build().unwrap();
    let nowhere = vm.slots(&SlotLayout::new(8192).count(32).node(1023)).unwrap();
    let none = vm.slots(&SlotLayout::new(8192).count(32).node(u32::MAX)).unwrap();
    for pool in [&nowhere, &none] {
        assert!(is_zero(&pool.get().unwrap()));
    }
    let nodes: Vec<_> = vm.stats().zones.iter().map(|zone| zone.node).collect();
    eprintln!("nodes are {nodes:?}");
    assert_eq!(nodes[1..], [None, None]);
    // A kernel without nodes refuses the first, too.
    assert!(nodes[0].is_none_or(|node| node == 0));
}
