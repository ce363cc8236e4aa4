//! Where a filter refuses some of the calls on pages, from the start, as emulators lack them, or later. A filter is its
//! thread's for ever.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

#[path = "common/filter.rs"]
mod filter;

use filter::{GUARD_INSTALL, refuse};
use freehold_vmalloc::{Guard, SlotLayout, VirtualMemory};

const GUARD_REMOVE: i32 = 103;

/// The late one first, as what the system offers is asked once.
#[test]
fn what_is_refused_breaks_nothing() {
    for run in [a_pool_whose_marks_stay_keeps_no_memory, a_slot_whose_rest_is_protected_is_guarded_whole] {
        std::thread::spawn(run).join().unwrap();
    }
}

fn a_pool_whose_marks_stay_keeps_no_memory() {
    let vm = VirtualMemory::builder().reserve(64 << 20).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(64 << 10).count(32)).unwrap();
    pool.get().unwrap().fill(1);
    if vm.stats().mapping.guards != Some(Guard::Marked) {
        return eprintln!("not run: the kernel has no guard marks");
    }
    refuse([GUARD_REMOVE, GUARD_REMOVE]);
    drop(pool);
    assert!(vm.stats().lending.pending_release_bytes > 0);
    for _ in 0..2 {
        assert_eq!(vm.resident_bytes(), Ok(0));
        vm.release_idle().unwrap();
    }
}

fn a_slot_whose_rest_is_protected_is_guarded_whole() {
    refuse([GUARD_INSTALL, libc::MADV_DONTNEED]);
    let vm = VirtualMemory::builder().reserve(64 << 20).catch_use_after_free(0).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(16 << 10).count(32).accessible(4096)).unwrap();
    for _ in 0..3 {
        let mut slot = pool.get().unwrap();
        assert!(slot.len() == 4096 && slot.iter().all(|&byte| byte == 0));
        slot.fill(1);
        slot.set_accessible(16 << 10).unwrap();
        assert!(slot[4096..].iter().all(|&byte| byte == 0));
        slot.fill(1);
        slot.set_accessible(8192).unwrap();
    }
    assert_eq!(vm.stats().mapping.guards, Some(Guard::Protected));
}
