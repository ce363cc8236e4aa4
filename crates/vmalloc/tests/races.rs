//! Pools while other threads clear slots and give memory back.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_vmalloc::{RetainPolicy, SlotLayout, Slots, VirtualMemory, VmVec, Zero};
use std::sync::atomic::{AtomicBool, Ordering};

const MIB: usize = 1 << 20;

fn vm() -> VirtualMemory {
    VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(8 << 20)).build().unwrap()
}

/// Ends a thread, also if the test panics.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs while another thread gives all that is free back, again and again.
fn beside_releases(vm: &VirtualMemory, run: impl FnOnce()) {
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !end.load(Ordering::Relaxed) {
                vm.release_idle().unwrap();
            }
        });
        let _end = End(&end);
        run();
    });
}

/// Takes and drops a slot, again and again.
fn use_slots(slots: &Slots<'_>, count: u32) {
    for _ in 0..count {
        slots.get().unwrap()[0] = 1;
    }
}

#[test]
fn slots_that_are_given_back_are_not_held() {
    for zero in [Zero::Yes, Zero::No] {
        let vm = vm();
        let slots = vm.slots(&SlotLayout::new(4096).count(32).zero(zero)).unwrap();
        beside_releases(&vm, || use_slots(&slots, 20_000));
        vm.validate().unwrap();
    }
}

#[test]
fn slots_that_are_cleared_are_not_held() {
    for (size, count) in [(4096, 32), (64 << 10, 64)] {
        let vm = vm();
        let slots = vm.slots(&SlotLayout::new(size).count(count)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| use_slots(&slots, 10_000));
            }
        });
        vm.validate().unwrap();
    }
}

#[test]
fn a_pool_ends_when_its_slots_are_given_back() {
    let (vm, sevens) = (vm(), vec![7; MIB]);
    beside_releases(&vm, || {
        for _ in 0..1000 {
            let slots = vm.slots(&SlotLayout::new(8192).count(64)).unwrap();
            let held: Vec<_> = (0..40).map(|_| slots.get().unwrap()).collect();
            drop(held);
            drop(slots);
            // The same addresses, which nobody else gives back.
            let mut bytes: VmVec<'_, u8> = VmVec::with_reserve(&vm, MIB).unwrap();
            bytes.extend_from_slice(&sevens).unwrap();
            std::thread::yield_now();
            // As a whole, not byte by byte, which takes ThreadSanitizer a minute.
            assert!(*bytes == *sevens);
        }
    });
    vm.validate().unwrap();
}
