//! Guards that end with what they guard, and stacks that have none.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "a byte of a stack is written")]

use freehold_vmalloc::{
    Commit, Guard, RetainPolicy, SlotLayout, StackLayout, StackPool, VirtualMemory, VmVec, Zero,
};

const MIB: usize = 1 << 20;

fn vm() -> VirtualMemory {
    VirtualMemory::builder().reserve(256 * MIB).retain(RetainPolicy::bytes(64 << 20)).build().unwrap()
}

#[test]
fn a_vector_has_no_guards_of_blocks_that_were_freed_at_its_place() {
    for (commit, len) in [(Commit::Lazy, 64 << 10), (Commit::Lazy, 4 * MIB), (Commit::Strict, 2 * MIB)] {
        let builder = VirtualMemory::builder().reserve(16 * MIB).commit(commit);
        let vm = builder.catch_use_after_free(0).build().unwrap();
        let blocks: Vec<_> = std::iter::from_fn(|| vm.alloc(len, Zero::No).ok()).collect();
        assert_eq!(blocks.len(), 16 * MIB / len);
        drop(blocks);
        let mut bytes: VmVec<'_, u8> = VmVec::with_reserve(&vm, 15 * MIB).unwrap();
        bytes.resize_zeroed(15 * MIB).unwrap();
        bytes.chunks_mut(4096).for_each(|page| page[0] = 1);
        drop(bytes);
        vm.validate().unwrap();
    }
}

#[test]
fn stacks_without_guards_keep_their_highest_bytes() {
    for guard in [0, 4096] {
        let vm = vm();
        let layout = StackLayout::new(64 << 10).count(64).keep_resident(8 << 10).guard(guard);
        let pool = StackPool::with_layout(&vm, &layout).unwrap();
        let stacks: Vec<_> = (0..64).map(|_| pool.get().unwrap()).collect();
        for stack in &stacks {
            // SAFETY: the byte is the stack's highest.
            unsafe { stack.base().sub(1).write(1) };
        }
        drop(stacks);
        assert_eq!(vm.stats().residency.dropped_bytes, 0, "all 64 were looked at");
        assert_eq!(vm.resident_bytes(), Ok(64 << 12), "guards of {guard} bytes");
    }
}

#[test]
fn the_end_of_a_strict_pool_commits_nothing() {
    // Other tests of this process map less.
    const POOL: usize = 8 << 30;
    let data_bytes = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split_whitespace().nth(5).unwrap().parse::<usize>().unwrap() << 12
    };
    let builder = VirtualMemory::builder().reserve(2 * POOL).commit(Commit::Strict);
    let vm = builder.build().unwrap();
    let before = data_bytes();
    // Guards of that length are mappings of their own.
    let layout = SlotLayout::new(2 * MIB).guard(2 * MIB).count((POOL / (4 * MIB)) as u64);
    let pool = vm.slots(&layout).unwrap();
    pool.get().unwrap()[0] = 1;
    assert_eq!(vm.stats().mapping.guards, Some(Guard::Protected));
    drop(pool);
    let more = data_bytes().saturating_sub(before);
    assert!(more < POOL / 2, "{more} bytes became writable");
    assert_eq!(vm.stats().lending.pending_release_bytes, 0);
    vm.validate().unwrap();
}
