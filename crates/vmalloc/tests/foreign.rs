//! Other crates' collections and coroutines in memory of ours.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(unsafe_code, reason = "the trait of allocators is unsafe")]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use allocator_api2::alloc::{Allocator, Layout};
use allocator_api2::vec::Vec as ForeignVec;
use corosensei::{Coroutine, CoroutineResult};
use freehold_vmalloc::{StackLayout, StackPool, VirtualMemory};
use hashbrown::HashMap;
use std::sync::Arc;

fn memory() -> VirtualMemory {
    VirtualMemory::builder().reserve(1 << 30).build().unwrap()
}

/// Bytes that anybody holds.
fn held(vm: &VirtualMemory) -> u64 {
    vm.stats().zones[0].space.held_bytes
}

#[test]
fn a_vector_grows_in_it() {
    let vm = memory();
    let mut numbers = ForeignVec::new_in(&vm);
    let mut moves = 0;
    let mut last = std::ptr::null();
    for number in 0..1_000_000u64 {
        numbers.push(number);
        moves += u64::from(last != numbers.as_ptr());
        last = numbers.as_ptr();
    }
    assert!(numbers.iter().copied().eq(0..1_000_000));
    assert!(vm.locate(last.addr() as u64).is_some());
    // 8 MB in doublings from a page on: what fits its place does not move.
    assert!(moves <= 13, "{moves} places");
    numbers.truncate(1000);
    numbers.shrink_to_fit();
    assert!(numbers.iter().copied().eq(0..1000) && held(&vm) <= 8192);
    drop(numbers);
    assert_eq!(held(&vm), 0);
    vm.validate().unwrap();
}

#[test]
fn a_map_lives_in_it() {
    let vm = memory();
    let mut map: HashMap<u64, [u64; 4], _, _> = HashMap::new_in(&vm);
    for key in 0..200_000 {
        map.insert(key, [key; 4]);
    }
    for key in (0..200_000).step_by(2) {
        assert_eq!(map.remove(&key), Some([key; 4]));
    }
    map.shrink_to_fit();
    assert!((0..200_000).all(|key| map.get(&key).copied() == (key % 2 == 1).then_some([key; 4])));
    assert!(held(&vm) >= 100_000 * 40);
    drop(map);
    assert_eq!(held(&vm), 0);
    vm.validate().unwrap();
}

#[test]
fn layouts_are_as_they_say() {
    let vm = memory();
    let allocator: &dyn Allocator = &vm;
    for (size, align) in
        [(1, 1), (4096, 64), (5000, 4096), (1, 8192), (3 << 20, 4 << 20), (0, 16), (0, 1 << 20)]
    {
        let layout = Layout::from_size_align(size, align).unwrap();
        let used = allocator.allocate(layout).unwrap();
        assert!(used.len() >= size && used.cast::<u8>().addr().get().is_multiple_of(align), "{layout:?}");
        // SAFETY: the bytes were just allocated, and are nobody else's.
        unsafe { used.cast::<u8>().write_bytes(0xa5, used.len()) };
        // SAFETY: the allocation is this layout's, and not used any more.
        unsafe { allocator.deallocate(used.cast(), layout) };
        let zeroed = allocator.allocate_zeroed(layout).unwrap();
        // SAFETY: the first bytes of an allocation that is zero.
        let bytes = unsafe { std::slice::from_raw_parts(zeroed.cast::<u8>().as_ptr(), size) };
        assert!(bytes.iter().all(|&byte| byte == 0), "{layout:?}");
        // SAFETY: as above.
        unsafe { allocator.deallocate(zeroed.cast(), layout) };
    }
    assert!(allocator.allocate(Layout::from_size_align(2 << 30, 1).unwrap()).is_err());
    assert_eq!(held(&vm), 0);
    vm.validate().unwrap();
}

#[test]
fn growing_keeps_what_was_written() {
    let vm = memory();
    let small = Layout::from_size_align(5 << 10, 8).unwrap();
    let start = vm.allocate(small).unwrap().cast::<u8>();
    // SAFETY: so many bytes are the allocation's.
    unsafe { start.write_bytes(7, small.size()) };
    // To a larger size, and to an alignment that its place has not.
    for new in [(8 << 10, 8), (9 << 10, 8), (3 << 20, 8), (3 << 20, 2 << 20)] {
        let new = Layout::from_size_align(new.0, new.1).unwrap();
        // SAFETY: the allocation has the old layout, and the new one is as large or larger.
        let start = unsafe {
            let old = vm.allocate(small).unwrap().cast::<u8>();
            old.copy_from_nonoverlapping(start, small.size());
            vm.grow(old, small, new).unwrap().cast::<u8>()
        };
        // SAFETY: the first bytes are those of the old allocation.
        let bytes = unsafe { std::slice::from_raw_parts(start.as_ptr(), small.size()) };
        assert!(
            bytes.iter().all(|&byte| byte == 7) && start.addr().get().is_multiple_of(new.align()),
            "{new:?}"
        );
        // SAFETY: the allocation has the new layout.
        unsafe { vm.deallocate(start, new) };
    }
    // SAFETY: the allocation has this layout.
    unsafe { vm.deallocate(start, small) };
    assert_eq!(held(&vm), 0);
    vm.validate().unwrap();
}

#[test]
#[should_panic(expected = "needs a guard")]
fn a_coroutine_needs_a_guard() {
    let vm = Arc::new(memory());
    let stacks = vm.stacks_owned(&StackLayout::new(64 << 10).count(32).guard(0)).unwrap();
    let _ = Coroutine::<(), (), (), _>::with_stack(stacks.get().unwrap(), |_, ()| ());
}

#[test]
fn coroutines_run_on_its_stacks() {
    // Coroutines take stacks that outlive everything: of a pool that is never dropped, or that they keep alive.
    let vm = Box::leak(Box::new(Arc::new(memory())));
    let borrowed = Box::leak(Box::new(StackPool::with_count(vm, 64 << 10, 32).unwrap()));
    let owned = vm.stacks_owned(&StackLayout::new(64 << 10).count(32)).unwrap();
    for round in 0..100u64 {
        let mut first = Coroutine::with_stack(borrowed.get().unwrap(), |yielder, start: u64| {
            (0..10).fold(start, |sum, number| sum + number + yielder.suspend(sum))
        });
        let mut second = Coroutine::with_stack(owned.get().unwrap(), |yielder, start: u64| {
            yielder.suspend(start + 1);
            start + 2
        });
        assert_eq!(second.resume(round), CoroutineResult::Yield(round + 1));
        let mut asked = round;
        let sum = loop {
            match first.resume(asked) {
                CoroutineResult::Yield(_) => asked = 1,
                CoroutineResult::Return(sum) => break sum,
            }
        };
        assert_eq!(sum, round + 45 + 10);
        assert_eq!(second.resume(0), CoroutineResult::Return(round + 2));
    }
}
