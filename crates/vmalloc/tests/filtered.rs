//! Where a filter refuses some of the calls on pages, from the start, as emulators lack them, or later. A filter is its
//! thread's for ever.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "a thread is bound to a CPU")]

#[path = "common/filter.rs"]
mod filter;

use filter::{GUARD_INSTALL, IF_EQUAL, LOAD, RETURN, install, refuse, step};
use freehold_vmalloc::{Guard, SlotLayout, VirtualMemory};

const GUARD_REMOVE: i32 = 103;

/// The late one first, as what the system offers is asked once.
#[test]
fn what_is_refused_breaks_nothing() {
    for run in [
        a_pool_whose_marks_stay_keeps_no_memory,
        a_slot_whose_rest_is_protected_is_guarded_whole,
        a_slot_that_was_protected_has_the_advice_of_its_pool,
        guarded_slots_are_found_whoever_began_their_slab,
    ] {
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

fn a_slot_that_was_protected_has_the_advice_of_its_pool() {
    refuse([GUARD_INSTALL; 2]);
    let vm = VirtualMemory::builder().reserve(64 << 20).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(1 << 20).count(32).guard(0).huge_pages()).unwrap();
    let mut slot = pool.get().unwrap();
    let is_advised = |address: usize| {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_here = false;
        maps.lines().any(|line| {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let ends = range.map(|(first, end)| [first, end].map(|hex| usize::from_str_radix(hex, 16)));
            if let Some([Ok(first), Ok(end)]) = ends {
                is_here = (first..end).contains(&address);
            }
            is_here && line.starts_with("VmFlags:") && line.contains(" hg")
        })
    };
    let last = slot.as_ptr().addr().get() + slot.len() - 1;
    if !is_advised(last) {
        return eprintln!("not run: the kernel has no huge pages");
    }
    slot.set_accessible(4096).unwrap();
    slot.set_accessible(1 << 20).unwrap();
    assert_eq!(vm.stats().mapping.guards, Some(Guard::Protected));
    assert!(is_advised(last), "the pool asked for huge pages");
}

/// Refuses this thread to change the access to pages from now on, as kernels do to a process with too many mappings.
fn refuse_access() {
    install(&[
        step(LOAD, 0, 0, 0),
        step(IF_EQUAL, 0, 1, libc::SYS_mprotect as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOMEM as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]);
}

/// Runs this thread on one CPU alone. False if it may not run there.
fn pin(cpu: usize) -> bool {
    // SAFETY: a set of bits.
    let mut cpus: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: sets a bit of it, and tells the system, which copies it.
    unsafe {
        libc::CPU_SET(cpu, &mut cpus);
        libc::sched_setaffinity(0, size_of_val(&cpus), &raw const cpus) == 0
    }
}

fn guarded_slots_are_found_whoever_began_their_slab() {
    let vm = VirtualMemory::builder().reserve(64 << 20).build().unwrap();
    let pool = vm.slots(&SlotLayout::new(16 << 10).count(128)).unwrap();
    // A slab of each CPU, both with slots that have no guard.
    if !pin(0) || !pin(1) {
        return eprintln!("not run: this process may not run on two CPUs");
    }
    let _other: Vec<_> = (0..8).map(|_| pool.get().unwrap()).collect();
    assert!(pin(0));
    let guarded: Vec<_> = (0..20).map(|_| pool.get().unwrap()).collect();
    refuse([GUARD_INSTALL; 2]);
    refuse_access();
    // They wait to be cleared.
    drop(guarded);
    let again: Vec<_> = (0..20).map_while(|_| pool.get().ok()).collect();
    assert_eq!((again.len(), pool.get().is_err()), (20, true));
}
