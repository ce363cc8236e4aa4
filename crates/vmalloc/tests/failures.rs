//! Every system call fails in turn, and all after it: an error, nothing lost, and zero is zero.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

use freehold_sys::failing;
use freehold_vmalloc::{
    AllocError, BuildError, Commit, PoolError, RetainPolicy, SlotLayout, StackPool, VirtualMemory, VmVec,
    Zero,
};
use std::sync::{Mutex, PoisonError};

const MIB: usize = 1 << 20;

/// Held by what changes mappings all the time: the kernel changes one at a time in a process, and threads that wait for each other
/// there take twice as long as one after the other.
static MAPPINGS: Mutex<()> = Mutex::new(());

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|page| page == &[0; 4096][..page.len()])
}

/// What came of the calls of a scenario.
#[derive(Default)]
struct Outcome {
    refused: u32,
}

impl Outcome {
    /// A call that may be refused by the system, and for no other reason.
    fn of<T>(&mut self, called: Result<T, impl Into<PoolError>>) -> Option<T> {
        match called.map_err(Into::into) {
            Ok(value) => Some(value),
            Err(PoolError::System(error)) => {
                assert!(error.is_out_of_memory(), "{error}");
                self.refused += 1;
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Uses all that there is, a little more than the threshold at times.
fn scenario(vm: &VirtualMemory, round: u8) -> Outcome {
    let mut seen = Outcome::default();
    // Blocks: decommitted, resident, cleared by a scan, past the threshold, extents.
    for len in [8192, 256 << 10, 3 * MIB] {
        for zero in [Zero::Yes, Zero::No, Zero::Yes] {
            let blocks: Vec<_> = (0..2).filter_map(|_| seen.of(vm.alloc(len, zero))).collect();
            for mut block in blocks {
                assert!(zero == Zero::No || is_zero(&block[..8192]));
                block[..8192].fill(round);
            }
        }
    }
    // Enough to be cleared together; and with guards.
    for (count, guard) in [(70, 0), (6, 4096)] {
        let layout = SlotLayout::new(16 << 10).count(count).guard(guard).keep_resident(4096);
        let Some(slots) = seen.of(vm.slots(&layout)) else { continue };
        for _ in 0..2 {
            let held: Vec<_> = (0..count).filter_map(|_| seen.of(slots.get())).collect();
            for mut slot in held {
                assert!(is_zero(&slot));
                slot[usize::from(round)] = 1;
                slot[5000..15_000].fill(round);
            }
        }
    }
    if let Some(stacks) = seen.of(StackPool::with_count(vm, 16 << 10, 32)) {
        drop((0..4).filter_map(|_| seen.of(stacks.get())).collect::<Vec<_>>());
    }
    if let Some(mut numbers) = seen.of(VmVec::with_reserve(vm, 1 << 20)) {
        let mut pushed = Vec::new();
        for part in [&[1; 2000][..], &[2; 400_000], &[3; 10]] {
            if seen.of(numbers.extend_from_slice(part)).is_some() {
                pushed.extend_from_slice(part);
            }
        }
        assert!(*numbers == *pushed);
        numbers.truncate(7);
        seen.of(numbers.shrink_to_fit());
        assert!(*numbers == pushed[..pushed.len().min(7)]);
    }
    seen.of(vm.release_idle().map_err(AllocError::from));
    seen
}

/// Nothing is held, all of it is whole, and what is zero is zero.
fn look(vm: &VirtualMemory) {
    vm.validate().unwrap();
    let stats = vm.stats();
    let held: u64 = stats.zones.iter().map(|zone| zone.space.held_bytes).sum();
    assert_eq!(held, stats.residency.quarantine_bytes, "{stats:?}");
    assert_eq!(stats.residency.dropped_bytes, 0);
    let blocks: Vec<_> = [8192, 512 << 10, 3 * MIB]
        .iter()
        .flat_map(|&len| (0..4).map(move |_| vm.alloc(len, Zero::Yes)))
        .collect();
    assert!(blocks.iter().all(|block| is_zero(block.as_ref().unwrap())));
    drop(blocks);
    vm.release_idle().unwrap();
    vm.validate().unwrap();
    assert_eq!(vm.stats().residency.resident_bytes, 0);
}

fn fail_each_call(commit: Commit, quarantine_bytes: Option<u64>) {
    let _mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut calls = 0;
    loop {
        let builder =
            VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(1 << 20)).commit(commit);
        let vm = match quarantine_bytes {
            Some(bytes) => builder.catch_use_after_free(bytes).build().unwrap(),
            None => builder.build().unwrap(),
        };
        let failing = failing::after(calls);
        let seen = scenario(&vm, 1);
        drop(failing);
        let refused = u64::from(seen.refused) + vm.stats().mapping.refused + vm.stats().residency.unguarded;
        assert_eq!(scenario(&vm, 2).refused, 0, "after the failure of call {calls}");
        look(&vm);
        if refused == 0 {
            break;
        }
        calls += 1;
    }
    assert!(calls > 20, "{calls}");
    eprintln!("{commit:?}: {calls} calls failed in turn");
}

#[test]
fn every_call_fails_in_turn() {
    fail_each_call(Commit::Lazy, None);
}

#[test]
fn every_call_fails_in_turn_strictly() {
    fail_each_call(Commit::Strict, None);
}

#[test]
fn every_call_fails_in_turn_while_freed_blocks_are_guarded() {
    fail_each_call(Commit::Lazy, Some(8 << 20));
}

#[test]
fn every_call_of_building_fails_in_turn() {
    for commit in [Commit::Lazy, Commit::Strict] {
        for calls in 0.. {
            let failing = failing::after(calls);
            let built = VirtualMemory::builder().reserve(64 * MIB).commit(commit).build();
            drop(failing);
            match built {
                // Names and advice are done without.
                Ok(vm) => {
                    assert!(is_zero(&vm.alloc(8192, Zero::Yes).unwrap()));
                    if calls > 6 {
                        break;
                    }
                }
                Err(error) => assert!(matches!(error, BuildError::NoAddresses { .. }), "{error}"),
            }
        }
    }
}

/// Whether a block came back twice to where one was that could neither be guarded nor given back. Threads that change their CPU
/// get others.
fn shorter_and_longer_again() -> bool {
    let vm = VirtualMemory::builder().reserve(64 * MIB).catch_use_after_free(0).build().unwrap();
    // Both are served by slots of ten pages.
    let (short, long) = (9 * 4096, 10 * 4096);
    let mut block = vm.alloc(long, Zero::Yes).unwrap();
    let place = block.address();
    block.fill(1);
    let failing = failing::after(0);
    drop(block);
    drop(failing);
    // It is resident. Its last page is not of the next block.
    let block = vm.alloc(short, Zero::Yes).unwrap();
    let came_back = block.address() == place;
    assert!(is_zero(&block));
    drop(block);
    let held: Vec<_> = (0..32).map(|_| vm.alloc(long, Zero::Yes).unwrap()).collect();
    assert!(held.iter().all(|block| is_zero(block)));
    came_back && held.iter().any(|block| block.address() == place)
}

#[test]
fn what_a_shorter_block_leaves_is_zero_in_the_debug_mode() {
    assert!((0..20).any(|_| shorter_and_longer_again()));
}

#[test]
fn a_refused_release_of_dropped_slots_is_said() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(8 << 20)).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    slots.get().unwrap().fill(1);
    let failing = failing::after(0);
    assert!(vm.release_idle().is_err());
    drop(failing);
    // It is cleared, free and resident.
    assert_eq!((vm.stats().residency.dropped_bytes, vm.stats().residency.resident_bytes), (0, 64 << 10));
    assert_eq!(vm.release_idle(), Ok(64 << 10));
    assert!(is_zero(&slots.get().unwrap()));
    vm.validate().unwrap();
}

#[test]
fn what_could_not_be_given_back_is_cleared() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::nothing()).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    let (mut block, mut slot) = (vm.alloc(64 << 10, Zero::Yes).unwrap(), slots.get().unwrap());
    block.fill(1);
    slot.fill(1);
    let failing = failing::after(0);
    drop((block, slot));
    assert!(vm.release_idle().is_err());
    drop(failing);
    // Each was refused when it was dropped, the block once more, and what lies beside the slots.
    assert_eq!(vm.stats().mapping.refused, 3 + 1 + 1);
    assert!(is_zero(&vm.alloc(64 << 10, Zero::Yes).unwrap()) && is_zero(&slots.get().unwrap()));
    vm.validate().unwrap();
}

/// A pool and a vector whose memory could not be given back keep their addresses, which are no vector's any more.
#[test]
fn addresses_that_stay_taken_are_no_vectors() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    slots.get().unwrap()[0] = 1;
    assert_eq!(vm.stats().lending.vector_bytes, 0);
    let mut first = VmVec::with_reserve(&vm, 1000).unwrap();
    first.push(1_u64).unwrap();
    let (first_at, bytes) = (first.as_ptr(), vm.stats().lending.vector_bytes);
    let other: VmVec<'_, u64> = VmVec::with_reserve(&vm, 1000).unwrap();
    assert_eq!(vm.stats().lending.vector_bytes, 2 * bytes);
    let failing = failing::after(0);
    drop(slots);
    assert_eq!(vm.stats().lending.vector_bytes, 2 * bytes);
    drop(first);
    drop(failing);
    assert_eq!(vm.stats().lending.vector_bytes, bytes);
    drop(other);
    assert_eq!(vm.stats().lending.vector_bytes, 0);
    let mut again = VmVec::with_reserve(&vm, 1000).unwrap();
    again.push(2_u64).unwrap();
    assert_ne!(again.as_ptr(), first_at);
    vm.validate().unwrap();
}

/// A slot whose accessible length cannot be changed is as before; one where that cannot be undone either is lost with its pool alone.
#[test]
fn what_cannot_be_made_accessible_is_said() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).build().unwrap();
    let slots = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    let mut slot = slots.get().unwrap();
    slot.set_accessible(8192).unwrap();
    slot.fill(1);
    let failing = failing::after(0);
    assert!(slot.set_accessible(16 << 10).is_err() && slot.is_empty());
    drop(failing);
    // What is accessible is not known any more.
    assert!(slot.set_accessible(8192).is_err() && slot.is_empty());
    let lost = slot.number();
    drop(slot);
    let held: Vec<_> = (0..31).map(|_| slots.get().unwrap()).collect();
    assert!(held.iter().all(|slot| slot.number() != lost && slot.len() == 64 << 10 && is_zero(slot)));
    assert!(matches!(slots.get().unwrap_err(), AllocError::AllHeld { count: 32, .. }));
    drop(held);
    vm.validate().unwrap();
    drop(slots);
    vm.alloc(48 * MIB, Zero::Yes).unwrap().fill(1);
}
