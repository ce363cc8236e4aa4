//! Handles that own what they are from, are taken apart, grow, and give a part of their memory back.
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "handles are put together again")]

use freehold_vmalloc::{
    AllocError, Block, RetainPolicy, SlotLayout, Stack, StackLayout, StackPool, VirtualMemory, Zero,
};
use std::sync::Arc;

const MIB: usize = 1 << 20;

fn vm() -> VirtualMemory {
    VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(8 << 20)).build().unwrap()
}

#[test]
fn owned_handles_outlive_what_they_are_from() {
    let vm = Arc::new(vm());
    let weak = Arc::downgrade(&vm);
    let slots = vm.slots_owned(&SlotLayout::new(8192).count(32)).unwrap();
    let stacks = vm.stacks_owned(&StackLayout::new(8192).count(32)).unwrap();
    let mut block = vm.alloc_owned(8192, Zero::Yes).unwrap();
    let (mut slot, stack) = (slots.get().unwrap(), stacks.get().unwrap());
    assert_eq!(slots.pool().slot_bytes(), slot.len());
    drop((slots, stacks, vm));
    std::thread::spawn(move || {
        block[0] = 1;
        slot[0] = 2;
        slot.used(1);
        assert_eq!(stack.base().addr().get() - stack.limit().addr().get(), 8192);
        assert_eq!((block[0], slot[0], slot.number(), slot.slots().pool().count()), (1, 2, 0, 32));
        let again = block.memory().alloc_owned(8192, Zero::Yes).unwrap();
        drop((stack, block));
        assert!(again.iter().all(|&byte| byte == 0));
        drop((slot, again));
    })
    .join()
    .unwrap();
    assert!(weak.upgrade().is_none(), "the last handle ends the memory");
}

#[test]
fn blocks_are_put_together_again() {
    let vm = vm();
    for len in [1, 4096, 20 << 12, MIB, 3 * MIB] {
        let mut block = vm.alloc(len, Zero::Yes).unwrap();
        block[0] = 7;
        let bytes = block.into_raw();
        vm.validate().unwrap();
        assert_eq!(vm.stats().zones[0].space.blocks, 1);
        // SAFETY: the bytes are those of the block above.
        let block = unsafe { Block::from_raw(&vm, bytes) };
        assert_eq!((block[0], block.len()), (7, len.next_multiple_of(4096)));
        drop(block);
        assert_eq!(vm.stats().zones[0].space.blocks, 0);
        vm.validate().unwrap();
    }
}

#[test]
fn stacks_are_put_together_again() {
    let vm = vm();
    let pool = StackPool::with_count(&vm, 64 << 10, 32).unwrap();
    let bases: Vec<_> = (0..32).map(|_| pool.get().unwrap().into_raw()).collect();
    assert_eq!(pool.get().unwrap_err(), AllocError::AllHeld { count: 32, slot_bytes: (64 << 10) - 4096 });
    for base in bases {
        // SAFETY: the base is that of a stack above.
        let stack = unsafe { Stack::from_raw(&pool, base) };
        assert_eq!((stack.base(), pool.locate(base.addr().get() as u64 - 1)), (base, Some(stack.number())));
    }
    assert_eq!((0..32).map_while(|_| pool.get().ok()).collect::<Vec<_>>().len(), 32);
    vm.validate().unwrap();
}

#[test]
fn a_block_grows_within_its_place() {
    let vm = vm();
    for (len, most) in [(17 << 12, 20 << 12), (MIB + 4096, MIB + (256 << 10))] {
        vm.alloc(most, Zero::No).unwrap().fill(9);
        let mut block = vm.alloc(len, Zero::Yes).unwrap();
        block.fill(1);
        block.grow(most - 4096, Zero::Yes).unwrap();
        assert!(block[..len].iter().all(|&byte| byte == 1) && block[len..].iter().all(|&byte| byte == 0));
        block.grow(most, Zero::No).unwrap();
        assert_eq!(block.len(), most);
        block.grow(1, Zero::No).unwrap();
        assert_eq!(block.len(), most, "it does not become shorter");
        assert!(matches!(block.grow(most + 1, Zero::No).unwrap_err(), AllocError::Addresses(_)));
        drop(block);
        vm.validate().unwrap();
    }
}

#[test]
fn a_block_grows_over_what_an_earlier_holder_had_guarded() {
    let vm = VirtualMemory::builder().reserve(64 << 20).catch_use_after_free(0).build().unwrap();
    // A slot of 16 pages, and a large block.
    for (len, most) in [(57 << 10, 64 << 10), (9 << 18, 10 << 18)] {
        // Not the same slot each time, but often.
        for mark in 1..8 {
            let mut block = vm.alloc(most, Zero::Yes).unwrap();
            block.fill(mark);
            drop(block);
            let mut block = vm.alloc(len, Zero::Yes).unwrap();
            block.grow(most, Zero::Yes).unwrap();
            assert!(block.len() == most && block.iter().all(|&byte| byte == 0));
            block.fill(mark);
            drop(block);
        }
    }
    vm.validate().unwrap();
}

#[test]
fn a_part_of_a_handle_is_given_back() {
    let vm = vm();
    let pool = vm.slots(&SlotLayout::new(16 << 10).count(32)).unwrap();
    let (mut block, mut slot) = (vm.alloc(16 << 10, Zero::No).unwrap(), pool.get().unwrap());
    block.fill(1);
    slot.fill(1);
    block.release(4000..9000).unwrap();
    slot.release(8192..usize::MAX).unwrap();
    slot.release(100..200).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "it is refused nothing")]
    slot.release(9..0).unwrap();
    assert!(block.iter().enumerate().all(|(at, &byte)| (byte == 0) == (4096..8192).contains(&at)));
    assert!(slot.iter().enumerate().all(|(at, &byte)| (byte == 0) == (8192..16_384).contains(&at)));
    drop((block, slot));
    vm.validate().unwrap();
}

#[test]
fn owned_handles_do_what_borrowed_ones_do() {
    let vm = Arc::new(vm());
    let mut block = vm.alloc_owned(9 << 12, Zero::Yes).unwrap();
    block.fill(1);
    block.release(4096..8192).unwrap();
    assert_eq!((block[4095], block[4096], block[8191], block[8192]), (1, 0, 0, 1));
    // The slot has ten pages.
    block.grow(10 << 12, Zero::Yes).unwrap();
    assert_eq!((block.len(), block[9 << 12]), (10 << 12, 0));
    assert!(matches!(block.grow(11 << 12, Zero::Yes), Err(AllocError::Addresses(_))));
    assert_eq!(block.as_ptr().addr().get() as u64, block.address());
    assert!(vm.locate(block.address()).is_some());
    let mut slot = vm.slots_owned(&SlotLayout::new(8192).count(32)).unwrap().get().unwrap();
    slot.fill(1);
    slot.release(0..4096).unwrap();
    assert_eq!((slot[4095], slot[4096]), (0, 1));
}
