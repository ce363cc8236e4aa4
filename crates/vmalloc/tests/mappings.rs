//! Where guards are mappings, as before Linux 6.13, an eighth of all mappings is left to the process. One test, as mappings are the
//! process's.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

#[path = "common/filter.rs"]
mod filter;

use filter::{GUARD_INSTALL, refuse};
use freehold_vmalloc::{AllocError, Guard, Slot, SlotLayout, VirtualMemory};

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

#[test]
fn guards_leave_an_eighth_of_the_mappings() {
    let most: usize = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    if most > 1 << 20 {
        eprintln!("not run: vm.max_map_count is {most}, which would take minutes");
        return;
    }
    refuse([GUARD_INSTALL; 2]);
    let vm = VirtualMemory::builder().reserve(1 << 38).build().unwrap();
    let count = most as u64 / 2;
    let pool = vm.slots(&SlotLayout::new(8192).count(count)).unwrap();
    let take = || {
        let mut held: Vec<Slot<'_>> = Vec::with_capacity(most);
        loop {
            match pool.get() {
                Ok(slot) => held.push(slot),
                Err(error) => break (held, error),
            }
        }
    };
    let (held, error) = take();
    assert_eq!(vm.stats().mapping.guards, Some(Guard::Protected));
    assert!(
        matches!(error, AllocError::System(_)) && error.to_string().contains("vm.max_map_count"),
        "{error}"
    );
    let (now, share) = (mappings(), most / 8);
    assert!(now <= most - share && now >= most - share - share / 8, "{now} of {most} mappings");
    std::thread::spawn(|| ()).join().unwrap();
    // Slots that have their guard are always found.
    let all = held.len();
    drop(held);
    let (held, _) = take();
    assert_eq!(held.len(), all);
    drop(held);
    // What a dropped pool had is another's.
    drop(pool);
    let other = vm.slots(&SlotLayout::new(64 << 10).count(10_000)).unwrap();
    let held: Vec<_> = (0..10_000).map(|_| other.get().unwrap()).collect();
    assert!(mappings() <= most - share);
    drop(held);
    vm.validate().unwrap();
}
