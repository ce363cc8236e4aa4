//! What happens after something was refused: what is free is found, what waits is given back, and the words are the caller's.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_sys::failing;
use freehold_vmalloc::{
    AllocError, Block, Commit, RetainPolicy, SlotLayout, StackPool, VirtualMemory, VmVec, Zero,
};
use std::collections::HashMap;

const MIB: usize = 1 << 20;

fn vm(commit: Commit) -> VirtualMemory {
    let retain = RetainPolicy::bytes(64 << 20);
    VirtualMemory::builder().reserve(256 * MIB).commit(commit).retain(retain).build().unwrap()
}

#[test]
fn a_refused_commit_does_not_stick() {
    const LEN: usize = 64 << 10;
    for is_released in [false, true] {
        let vm = vm(Commit::Strict);
        let mut held: Vec<Block<'_>> = (0..200).map(|_| vm.alloc(LEN, Zero::No).unwrap()).collect();
        let failing = failing::after(0);
        let error = loop {
            match vm.alloc(LEN, Zero::No) {
                Ok(block) => held.push(block),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, AllocError::System(_)), "{error}");
        let all = held.len();
        held.clear();
        drop(failing);
        if is_released {
            vm.release_idle().unwrap();
        }
        let _failing = failing::after(0);
        // One at a time, and all at once.
        assert!((0..100).all(|_| vm.alloc(LEN, Zero::No).is_ok()));
        held.extend((0..all).map_while(|_| vm.alloc(LEN, Zero::No).ok()));
        assert_eq!(held.len(), all, "after release_idle: {is_released}");
        assert!(vm.alloc(LEN, Zero::No).is_err());
        held.clear();
        vm.validate().unwrap();
    }
}

#[test]
fn committed_memory_of_other_sizes_serves_after_a_refusal() {
    let vm = vm(Commit::Strict);
    drop((0..64).map(|_| vm.alloc(64 << 10, Zero::No).unwrap()).collect::<Vec<_>>());
    vm.release_idle().unwrap();
    let _failing = failing::after(0);
    assert!(vm.alloc(2 * MIB, Zero::Yes).is_ok() && vm.alloc(4096, Zero::Yes).is_ok());
}

#[test]
fn committed_memory_of_dropped_pools_and_vectors_serves_after_a_refusal() {
    for with_pool in [false, true] {
        let vm = vm(Commit::Strict);
        if with_pool {
            let pool = vm.slots(&SlotLayout::new(MIB).guard(0).count(32)).unwrap();
            drop((0..32).map(|_| pool.get().unwrap()).collect::<Vec<_>>());
        } else {
            let mut bytes = VmVec::<u8>::with_reserve(&vm, 128 * MIB).unwrap();
            bytes.resize_zeroed(32 * MIB).unwrap();
        }
        let _failing = failing::after(0);
        let mut held: Vec<Block<'_>> = Vec::new();
        for (len, count) in [(4 * MIB, 4), (MIB, 4), (64 << 10, 64), (4096, 16)] {
            held.extend((0..count).map(|_| vm.alloc(len, Zero::Yes).unwrap()));
        }
        held.iter_mut().for_each(|block| block.fill(1));
        held.clear();
        assert!(vm.alloc(64 * MIB, Zero::No).is_err());
        vm.validate().unwrap();
    }
}

#[test]
fn guarded_slots_are_found_after_a_refused_guard() {
    for (is_released, zero) in [(false, Zero::Yes), (true, Zero::Yes), (false, Zero::No), (true, Zero::No)] {
        let vm = vm(Commit::Lazy);
        let pool = vm.slots(&SlotLayout::new(8192).count(512).zero(zero)).unwrap();
        let mut held: Vec<_> = (0..100).map(|_| pool.get().unwrap()).collect();
        let failing = failing::after(0);
        held.extend(std::iter::from_fn(|| pool.get().ok()));
        let all = held.len();
        assert!((100..512).contains(&all));
        held.clear();
        assert!(pool.get().is_ok(), "slots that wait to be cleared are found");
        drop(failing);
        if is_released {
            vm.release_idle().unwrap();
        }
        let failing = failing::after(0);
        held.extend(std::iter::from_fn(|| pool.get().ok()));
        assert_eq!(held.len(), all, "after release_idle: {is_released}");
        drop(failing);
        held.extend(std::iter::from_fn(|| pool.get().ok()));
        assert_eq!(held.len(), 512);
        held.clear();
        vm.validate().unwrap();
    }
}

#[test]
fn what_could_not_be_given_back_is_given_back_later() {
    for by_release in [false, true] {
        let vm = vm(Commit::Lazy);
        let failing = failing::after(0);
        let made = (0..100).take_while(|_| {
            let vector = VmVec::<u8>::with_reserve(&vm, 16 * MIB);
            vector.is_ok_and(|mut vector| vector.extend_from_slice(&[1; MIB]).is_ok())
        });
        assert_eq!(made.count(), 256 / 16);
        drop(failing);
        assert_eq!(vm.stats().lending.pending_release_bytes, 256 << 20);
        if by_release {
            vm.release_idle().unwrap();
            assert_eq!((vm.stats().lending.pending_release_bytes, vm.resident_bytes().unwrap()), (0, 0));
        }
        let mut vector = VmVec::<u8>::with_reserve(&vm, 200 * MIB).unwrap();
        vector.extend_from_slice(&[1; MIB]).unwrap();
        assert!(vm.slots(&SlotLayout::new(MIB).guard(0).count(32)).is_ok());
        assert!(StackPool::with_count(&vm, 256 << 10, 64).is_ok());
        assert!(vm.alloc(8 * MIB, Zero::Yes).unwrap().iter().all(|&byte| byte == 0));
        assert_eq!(vm.stats().lending.pending_release_bytes, 0);
        vm.validate().unwrap();
    }
}

#[test]
fn a_refusal_breaks_no_invariant() {
    let vm = vm(Commit::Strict);
    let failing = failing::after(0);
    assert!(matches!(vm.alloc(MIB, Zero::Yes).unwrap_err(), AllocError::System(_)));
    drop(failing);
    vm.validate().unwrap();
}

#[test]
fn one_live_block_of_each_size_pins_little() {
    const GRANULES: [usize; 24] =
        [5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256];
    for mib in [256, 1024, 4096] {
        let builder = VirtualMemory::builder().reserve(mib * MIB).retain(RetainPolicy::nothing());
        let vm = builder.build().unwrap();
        let small: Vec<_> =
            (0..28).map(|class| vm.alloc((class % 4 + 5) << (10 + class / 4), Zero::No).unwrap()).collect();
        // Each keeps a slab of 2 MiB at most.
        let mut room = mib * MIB - small.len() * 2 * MIB;
        let mut held = Vec::new();
        for len in GRANULES.map(|granules| granules << 18).into_iter().filter(|&len| len < 256 * MIB) {
            match vm.alloc(len, Zero::No) {
                Ok(block) => held.push(block),
                Err(error) => assert!(len > room, "{len} of {room} bytes: {error}"),
            }
            room = room.saturating_sub(len);
        }
        assert!(mib == 256 || held.len() == GRANULES.len());
    }
}

/// The longest run of addresses that no held block keeps from others: with a small block, its slab.
fn longest_run(vm: &VirtualMemory, held: &[Block<'_>]) -> u64 {
    let all = vm.stats().addresses;
    let mut kept: Vec<(u64, u64)> = held
        .iter()
        .map(|block| {
            let span = vm.locate(block.address()).unwrap();
            let slab = if block.len() <= MIB { 2 << 20 } else { 0 };
            (span.first().saturating_sub(slab), span.last() + (64 << 10) + slab)
        })
        .collect();
    kept.sort_unstable();
    let mut longest = 0;
    let mut free_from = all.first();
    for (first, end) in kept {
        longest = longest.max(first.saturating_sub(free_from));
        free_from = free_from.max(end);
    }
    longest.max(all.last().saturating_sub(free_from))
}

/// Blocks of 4 KiB to a quarter of the reservation, half of it live: a refused length is longer than every free run.
#[test]
fn a_refusal_means_that_no_run_is_as_long() {
    let vm =
        VirtualMemory::builder().reserve(1024 * MIB).retain(RetainPolicy::bytes(32 << 20)).build().unwrap();
    let mut random = 1u64;
    let mut below = |most: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (random >> 33) as usize % most
    };
    let (mut held, mut live, mut refused): (Vec<Block<'_>>, usize, u32) = (Vec::new(), 0, 0);
    for _ in 0..10_000 {
        let len = (4096 << below(17)) * (4 + below(5)) / 8;
        match vm.alloc(len, Zero::No) {
            Ok(block) => {
                live += block.len();
                held.push(block);
            }
            Err(error) => {
                refused += 1;
                let longest = longest_run(&vm, &held);
                assert!(
                    longest < len as u64 + (64 << 10),
                    "{len} bytes were refused beside a run of {longest}: {error}"
                );
            }
        }
        while live > 512 * MIB {
            let block = held.swap_remove(below(held.len()));
            live -= block.len();
        }
    }
    eprintln!("{refused} of 10,000 were refused");
    drop(held);
    assert!(vm.alloc(1024 * MIB, Zero::No).is_ok(), "all of it is one run again");
    vm.validate().unwrap();
}

#[test]
fn a_pool_ends_its_own_quarantine_alone() {
    const QUARANTINE: u64 = 64 << 20;
    for with_pool in [false, true] {
        let vm = VirtualMemory::builder().reserve(1 << 30).catch_use_after_free(QUARANTINE).build().unwrap();
        let pool = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
        let (mut freed_at, mut freed): (HashMap<u64, u64>, u64) = (HashMap::new(), 0);
        let mut came_back = false;
        for _ in 0..400 {
            if with_pool {
                drop(pool.get().unwrap());
                freed += 68 << 10;
            }
            let block = vm.alloc(MIB, Zero::No).unwrap();
            if let Some(before) = freed_at.insert(block.address(), freed) {
                came_back = true;
                assert!(freed - before >= QUARANTINE, "{} bytes after it was freed", freed - before);
            }
            drop(block);
            freed += MIB as u64;
        }
        assert!(came_back);
    }
}

#[test]
fn refusals_speak_of_what_was_asked_for() {
    let vm = vm(Commit::Lazy);
    let pool = vm.slots(&SlotLayout::new(12 << 10).count(32)).unwrap();
    let held: Vec<_> = (0..32).map(|_| pool.get().unwrap()).collect();
    assert_eq!(pool.get().unwrap_err().to_string(), "all 32 slots of 12 KiB are held");
    drop(held);
    #[derive(Debug)]
    #[repr(align(8388608))]
    struct Wide;
    let error = VmVec::<Wide>::with_reserve(&vm, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "elements aligned to 8 MiB cannot be stored: 4 MiB is the largest alignment"
    );
}
