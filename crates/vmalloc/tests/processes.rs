//! What only shows in a process of its own: faults, forks, limits of addresses and mappings.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "processes are made, limited and seen to fault")]

use freehold_vmalloc::{
    AllocError, BuildError, Guard, PoolError, RetainPolicy, SlotLayout, StackPool, VirtualMemory, VmVec, Zero,
};
use std::process::Command;
use std::sync::Arc;

const MIB: usize = 1 << 20;

/// Runs one of the ignored tests below in a process of its own.
fn alone(test: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
}

/// How a child ends that does this: what it returns, or the signal that ends it.
fn in_child(run: impl FnOnce() -> bool) -> Result<bool, i32> {
    // SAFETY: the tests that fork have one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the default action of the signal ends the child, which is what is asked.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        let right = run();
        // SAFETY: ends the child without what the parent set up for its end.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if libc::WIFSIGNALED(status) { Err(libc::WTERMSIG(status)) } else { Ok(libc::WEXITSTATUS(status) == 0) }
}

fn faults(address: *const u8) -> bool {
    let read = || {
        // SAFETY: whether it can be read is what the child finds out.
        std::hint::black_box(unsafe { address.read_volatile() });
        true
    };
    in_child(read) == Err(libc::SIGSEGV)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|page| page == &[0; 4096][..page.len()])
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

#[test]
fn guards_fault_and_what_was_freed_faults_in_the_debug_mode() {
    alone("faults_where_it_should");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn faults_where_it_should() {
    let vm =
        VirtualMemory::builder().reserve(256 * MIB).retain(RetainPolicy::bytes(64 << 20)).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    let stacks = StackPool::with_count(&vm, 64 << 10, 32).unwrap();
    for _ in 0..2 {
        let (slot, stack) = (slots.get().unwrap(), stacks.get().unwrap());
        let end = slot.as_ptr().as_ptr().wrapping_add(slot.len());
        assert!(faults(end) && faults(end.wrapping_add(4095)) && !faults(end.wrapping_sub(1)));
        assert!(!faults(stack.limit().as_ptr()) && faults(stack.limit().as_ptr().wrapping_sub(1)));
        assert!(faults(stack.guard().as_ptr()) && !faults(stack.base().as_ptr().wrapping_sub(1)));
        drop((slot, stack));
        // Guards stay where their memory goes.
        vm.release_idle().unwrap();
    }
    // On both sides, whatever was handed out before beside them: nothing was beside the first.
    for align in [4096, 128 << 10] {
        let layout = SlotLayout::new(128 << 10).guard_both_sides(8192).align(align).count(64);
        let pool = vm.slots(&layout).unwrap();
        for slot in [pool.get().unwrap(), pool.get().unwrap()] {
            let (first, end) = (slot.as_ptr().as_ptr(), slot.as_ptr().as_ptr().wrapping_add(slot.len()));
            assert!(faults(first.wrapping_sub(1)) && faults(first.wrapping_sub(8192)) && !faults(first));
            assert!(faults(end) && faults(end.wrapping_add(8191)) && !faults(end.wrapping_sub(1)));
        }
    }
    eprintln!("guards are {:?}", vm.stats().mapping.guards);

    assert!((0..20).any(|_| freed_faults_until_it_comes_back()));
}

/// Looks at what was freed in the debug mode. Says whether its addresses came back after a while, as they do unless the thread
/// changes its CPU.
fn freed_faults_until_it_comes_back() -> bool {
    let vm = VirtualMemory::builder().reserve(256 * MIB).catch_use_after_free(1 << 20).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    let (block, slot) = (vm.alloc(64 << 10, Zero::Yes).unwrap(), slots.get().unwrap());
    let (freed, dropped) = (block.as_ptr().as_ptr(), slot.as_ptr().as_ptr());
    assert!(!faults(freed) && !faults(dropped));
    drop((block, slot));
    assert!(faults(freed) && faults(freed.wrapping_add(40_000)) && faults(dropped));
    assert_eq!(vm.stats().residency.unguarded, 0);
    let mut others = 0;
    let came_back = loop {
        // What comes after is not at the same place until as much was freed again.
        let block = vm.alloc(64 << 10, Zero::Yes).unwrap();
        if block.as_ptr().as_ptr() == freed {
            assert!(others >= 14 && is_zero(&block) && !faults(freed), "{others}");
            break true;
        }
        assert!(faults(freed));
        others += 1;
        if others == 100 {
            break false;
        }
    };
    drop(slots);
    vm.validate().unwrap();
    came_back
}

#[test]
fn many_stacks_take_few_mappings() {
    alone("two_hundred_thousand_stacks");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn two_hundred_thousand_stacks() {
    const STACKS: u64 = 200_000;
    let before = mappings();
    let vm = VirtualMemory::builder().reserve(1 << 40).retain(RetainPolicy::bytes(1 << 30)).build().unwrap();
    let pool = StackPool::with_count(&vm, 256 << 10, STACKS).unwrap();
    let mut stacks = Vec::with_capacity(STACKS as usize);
    for _ in 0..STACKS {
        match pool.get() {
            Ok(stack) => stacks.push(stack),
            Err(error) => {
                // Where each guard is a mapping, there is an end, and it is said.
                assert!(matches!(error, AllocError::System(_)), "{error}");
                assert_eq!(vm.stats().mapping.guards, Some(Guard::Protected));
                eprintln!("{} stacks, then: {error}", stacks.len());
                return;
            }
        }
        let top = stacks[stacks.len() - 1].base().as_ptr().wrapping_sub(8);
        // SAFETY: the highest word of the stack is the holder's.
        unsafe { top.cast::<u64>().write(stacks.len() as u64) };
    }
    for (number, stack) in (1u64..).zip(&stacks) {
        // SAFETY: as above.
        assert_eq!(unsafe { stack.base().as_ptr().wrapping_sub(8).cast::<u64>().read() }, number);
    }
    // The program's own, which differ from build to build, do not count.
    let count = mappings() - before;
    eprintln!("{} stacks in {count} mappings", stacks.len());
    assert!(count <= 10, "{count}");
    for stack in stacks.iter().step_by(20_000) {
        assert!(faults(stack.guard().as_ptr()) && !faults(stack.limit().as_ptr()));
    }
    drop(stacks);
    vm.release_idle().unwrap();
    assert_eq!(vm.stats().residency.resident_bytes, 0);
    vm.validate().unwrap();
}

#[test]
fn without_addresses_there_is_an_error() {
    alone("addresses_are_limited");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn addresses_are_limited() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(1 << 20)).build().unwrap();
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let used: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    let limit = libc::rlimit { rlim_cur: used * 4096 + (8 << 20), rlim_max: libc::RLIM_INFINITY };
    // SAFETY: sets a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let refused = VirtualMemory::builder().reserve(1 << 40).build().unwrap_err();
    assert!(
        matches!(refused, BuildError::NoAddresses { error, .. } if error.is_out_of_memory()),
        "{refused}"
    );
    // What is reserved serves on: its addresses are counted already.
    let blocks: Vec<_> = (0..200).map(|_| vm.alloc(64 << 10, Zero::Yes).unwrap()).collect();
    assert!(blocks.iter().all(|block| is_zero(block)));
    drop(blocks);
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(64)).unwrap();
    assert!((0..64).map(|_| slots.get().unwrap()).all(|slot| is_zero(&slot)));
    vm.validate().unwrap();
}

#[test]
fn a_child_has_zeros_where_its_parent_had() {
    alone("forks_with_warm_memory");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forks_with_warm_memory() {
    let vm =
        VirtualMemory::builder().reserve(1 << 30).retain(RetainPolicy::bytes(256 << 20)).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(256 << 10).count(128)).unwrap();
    let use_all = |mark: u8| {
        // Some are cleared by writing, some by looking which pages have memory.
        let sizes = [4096, 64 << 10, 512 << 10, 2 << 20];
        let mut blocks: Vec<_> =
            (0..20).flat_map(|_| sizes.map(|len| vm.alloc(len, Zero::Yes).unwrap())).collect();
        let mut held: Vec<_> = (0..100).map(|_| slots.get().unwrap()).collect();
        let zero = blocks.iter().all(|block| is_zero(block)) && held.iter().all(|slot| is_zero(slot));
        blocks.iter_mut().for_each(|block| block.fill(mark));
        held.iter_mut().for_each(|slot| slot[..100_000].fill(mark));
        zero
    };
    assert!(use_all(1) && use_all(2));
    let held = vm.alloc(8192, Zero::Yes).unwrap();
    for round in 0..10 {
        let child = in_child(|| {
            let right = use_all(3) && use_all(4) && vm.release_idle().is_ok() && use_all(5);
            right && is_zero(&held) && vm.validate().is_ok()
        });
        assert_eq!(child, Ok(true), "round {round}");
        assert!(use_all(6), "round {round}");
    }
    vm.validate().unwrap();
}

#[test]
fn a_child_ends_what_its_parent_made() {
    alone("a_child_drops_everything");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn a_child_drops_everything() {
    let retain = RetainPolicy::bytes(256 << 20).decay(std::time::Duration::from_millis(8));
    let vm = Arc::new(VirtualMemory::builder().reserve(1 << 30).retain(retain).build().unwrap());
    let layout = SlotLayout::new(64 << 10).zero(Zero::No).keep_resident(64 << 10).count(64);
    // Several zones, between which the thread of the decay lets a fork happen.
    let pools: Vec<_> = (0..8).map(|_| vm.slots_owned(&layout).unwrap()).collect();
    let mut all = Some((vm, pools));
    for round in 0..40 {
        let (vm, pools) = all.as_ref().unwrap();
        for pool in pools {
            let slots: Vec<_> = (0..64).map(|_| pool.get().unwrap()).collect();
            slots.into_iter().for_each(|mut slot| slot.fill(1));
        }
        let address = pools[0].get().unwrap().as_ptr().as_ptr();
        let resident = vm.stats().residency.resident_bytes;
        while vm.stats().residency.resident_bytes >= resident {
            std::thread::yield_now();
        }
        let child = in_child(|| {
            // SAFETY: a child that waits for a thread of its parent's is ended.
            unsafe { libc::alarm(20) };
            let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(all.take())));
            dropped.is_ok() && faults(address)
        });
        assert_eq!(child, Ok(true), "round {round}: it is dropped, and its addresses are free");
    }
}

#[test]
fn swapped_pages_are_zero_again() {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    if swaps.lines().count() < 2 {
        eprintln!("not run: the machine has no swap");
        return;
    }
    let vm =
        VirtualMemory::builder().reserve(1 << 30).retain(RetainPolicy::bytes(256 << 20)).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(MIB).count(64)).unwrap();
    for round in 0..3 {
        let mut held: Vec<_> = (0..64).map(|_| slots.get().unwrap()).collect();
        assert!(held.iter().all(|slot| is_zero(slot)), "round {round}");
        let mut block = vm.alloc(MIB, Zero::Yes).unwrap();
        assert!(is_zero(&block), "round {round}");
        held.iter_mut().for_each(|slot| slot.iter_mut().step_by(9000).for_each(|byte| *byte = 1));
        block.fill(1);
        for bytes in held.iter().map(|slot| &**slot).chain([&*block]) {
            // SAFETY: the advice changes nothing that is seen.
            let paged =
                unsafe { libc::madvise(bytes.as_ptr().cast_mut().cast(), bytes.len(), libc::MADV_PAGEOUT) };
            assert_eq!(paged, 0);
        }
    }
}

/// Other threads are inside all the time: in blocks, pools that zero, vectors, purges and the thread of the decay.
#[test]
fn children_of_a_busy_process_use_all_of_it() {
    alone("a_busy_process_forks");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn a_busy_process_forks() {
    let retain = RetainPolicy::bytes(1 << 20).decay(std::time::Duration::from_millis(8));
    let vm = VirtualMemory::builder().reserve(1 << 30).retain(retain).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(16 << 10).count(256)).unwrap();
    let turn = || {
        for len in [4096, 64 << 10, 3 << 20] {
            let mut block = vm.alloc(len, Zero::Yes).unwrap();
            assert!(block[0] == 0 && block[len - 1] == 0);
            block[len - 1] = 1;
        }
        let mut slots: Vec<_> = (0..20).map(|_| pool.get().unwrap()).collect();
        assert!(slots.iter().all(|slot| slot[0] == 0));
        slots.iter_mut().for_each(|slot| slot[0] = 1);
        let mut vector = VmVec::<u64>::with_reserve(&vm, 10_000).unwrap();
        vector.push(1).unwrap();
        vm.release_idle().unwrap();
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    turn();
                }
            });
        }
        for _ in 0..100 {
            // SAFETY: the child uses the memory and exits. If it hangs, a signal ends it.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: as above.
                unsafe { libc::alarm(20) };
                let done =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (0..3).for_each(|_| turn())));
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(i32::from(done.is_err())) };
            }
            let mut status = 0;
            // SAFETY: it waits for the child that was just made.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "a child hung or failed");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_locked_process_reserves_and_gives_back() {
    alone("nothing_is_faulted_in_under_mlockall");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn nothing_is_faulted_in_under_mlockall() {
    // SAFETY: locks pages of this process alone.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } != 0 {
        eprintln!("this process may lock no memory: nothing is tested");
        return;
    }
    let retain = RetainPolicy::bytes(4 << 20);
    let uses_it = |vm: &VirtualMemory| {
        assert_eq!(vm.resident_bytes(), Ok(0));
        vm.alloc(MIB, Zero::Yes).unwrap().fill(7);
        assert!(vm.resident_bytes().unwrap() <= 4 << 20);
        vm.release_idle().unwrap();
        let pool = vm.slots(&SlotLayout::new(64 << 10).count(64).keep_resident(8192)).unwrap();
        for _ in 0..3 {
            let mut slots: Vec<_> = (0..64).map(|_| pool.get().unwrap()).collect();
            assert!(slots.iter().all(|slot| slot.iter().all(|&byte| byte == 0)));
            slots.iter_mut().for_each(|slot| slot.fill(1));
        }
        drop(pool);
        vm.release_idle().unwrap();
        vm.validate().unwrap();
    };
    let vm = VirtualMemory::builder().reserve(1 << 30).retain(retain).build().unwrap();
    uses_it(&vm);
    assert_eq!((vm.resident_bytes(), vm.stats().mapping.refused), (Ok(0), 0));
    let locked = VirtualMemory::builder().reserve(1 << 30).retain(retain).mlock().build().unwrap();
    uses_it(&locked);
    // Before Linux 5.18 what is locked cannot be given back.
    assert!(locked.resident_bytes() == Ok(0) || locked.stats().mapping.refused > 0);
}

#[test]
fn what_is_not_accessible_faults() {
    alone("slots_fault_behind_what_is_accessible");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn slots_fault_behind_what_is_accessible() {
    const SLOT: usize = 64 << 10;
    let vm = VirtualMemory::builder().reserve(64 * MIB).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(SLOT).count(32).accessible(8192)).unwrap();
    for round in 0..3 {
        let mut slots: Vec<_> = (0..32).map(|_| pool.get().unwrap()).collect();
        for slot in &mut slots {
            assert!(slot.len() == 8192 && is_zero(slot));
            slot.fill(1);
        }
        let slot = &mut slots[round];
        let at = |slot: &freehold_vmalloc::Slot<'_>, byte: usize| {
            slot.as_ptr().as_ptr().wrapping_add(byte).cast_const()
        };
        assert!(
            !faults(at(slot, 8191))
                && faults(at(slot, 8192))
                && faults(at(slot, SLOT - 1))
                && faults(at(slot, SLOT))
        );
        slot.set_accessible(20_000).unwrap();
        assert!(slot.len() == 20_480 && slot[8191] == 1 && is_zero(&slot[8192..]));
        slot.fill(2);
        slot.set_accessible(4096).unwrap();
        assert!(faults(at(slot, 4096)) && slot.len() == 4096 && slot[4095] == 2);
        slot.set_accessible(usize::MAX).unwrap();
        assert!(slot.len() == SLOT && is_zero(&slot[4096..]) && faults(at(slot, SLOT)));
        slot.set_accessible(0).unwrap();
        assert!(slot.is_empty() && faults(at(slot, 0)));
    }
    drop(pool);
    // A slot that grew is narrowed as it is dropped, and what it grew by goes back at once.
    let pool = vm.slots(&SlotLayout::new(SLOT).count(32).accessible(8192).keep_resident(8192)).unwrap();
    let mut grown = pool.get().unwrap();
    grown.set_accessible(SLOT).unwrap();
    grown.fill(1);
    let (start, before) = (grown.as_ptr().as_ptr().cast_const(), vm.resident_bytes().unwrap());
    drop(grown);
    assert!(faults(start.wrapping_add(8192)) && faults(start.wrapping_add(SLOT - 1)) && !faults(start));
    assert_eq!(before - vm.resident_bytes().unwrap(), (SLOT - 8192) as u64);
    drop(pool);
    // Guards that are mappings of their own.
    let pool = vm.slots(&SlotLayout::new(4096).guard(2 * MIB).count(20)).unwrap_err();
    assert!(matches!(pool, PoolError::TooLarge { .. } | PoolError::Addresses(_)), "{pool}");
    let wide = VirtualMemory::builder().reserve(1 << 30).build().unwrap();
    let pool = wide.slots(&SlotLayout::new(4096).guard(4 * MIB).count(32)).unwrap();
    let slots: Vec<_> = (0..32).map(|_| pool.get().unwrap()).collect();
    let behind = |slot: &freehold_vmalloc::Slot<'_>, byte: usize| {
        slot.as_ptr().as_ptr().wrapping_add(byte).cast_const()
    };
    assert!(slots.iter().step_by(9).all(|slot| faults(behind(slot, 4096)) && faults(behind(slot, 4 * MIB))));
    assert_eq!(wide.stats().mapping.guards, Some(Guard::Protected));
    drop(slots);
    drop(pool);
    wide.alloc(1000 * MIB, Zero::No).unwrap().iter_mut().step_by(MIB).for_each(|byte| *byte = 1);
    vm.validate().unwrap();
    // What was a pool is memory like any other.
    vm.alloc(48 * MIB, Zero::Yes).unwrap().fill(1);
}

/// A huge page reaches beyond the slots of a small pool, and all of it goes back with the pool.
#[test]
fn pools_give_huge_pages_back() {
    let vm = VirtualMemory::builder().reserve(1 << 30).retain(RetainPolicy::nothing()).build().unwrap();
    let mut pools: Vec<_> =
        (0..10).map(|_| vm.slots(&SlotLayout::new(4096).guard(0).count(32)).unwrap()).collect();
    let all = vm.stats().addresses;
    let start = std::ptr::without_provenance_mut(all.first() as usize);
    // SAFETY: an advice about the reservation, which is not unmapped meanwhile.
    if unsafe { libc::madvise(start, all.size_saturating() as usize, libc::MADV_HUGEPAGE) } != 0 {
        eprintln!("this kernel has no huge pages: nothing is tested");
        return;
    }
    pools.iter().for_each(|pool| pool.get().unwrap()[0] = 1);
    eprintln!("{} bytes are resident of 10 pools", vm.resident_bytes().unwrap());
    pools.clear();
    assert_eq!(vm.resident_bytes(), Ok(0));
}
