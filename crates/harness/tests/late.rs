//! What `sys` does when a filter comes late, and on kernels whose page scan does not tell guards.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_harness::memory::{peek, poke};
use freehold_harness::supervisor::{answered, is_possible};
use freehold_harness::systems::{Refusable, System, prepare_refusals, pretend, refuse};
use freehold_maple::MapleTree;
use freehold_maple::maple_tree::WriteError;
use freehold_sys::{Ability, Guard, PageScan, Reservation, page_bytes};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, mpsc};

/// One test at a time: each refuses calls, and the process has one count of what is refused.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs on a thread whose filter ends with it.
fn on_thread(run: impl FnOnce() + Send + 'static) {
    if !is_possible() {
        return eprintln!("not run: no seccomp filter with a listener can be installed");
    }
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::thread::spawn(run).join().unwrap();
}

/// The start of a page.
fn page(memory: &Reservation, number: usize) -> NonNull<u8> {
    NonNull::new(memory.base().as_ptr().wrapping_add(number * page_bytes())).unwrap()
}

fn bytes(pages: std::ops::Range<usize>) -> std::ops::Range<usize> {
    pages.start * page_bytes()..pages.end * page_bytes()
}

fn refusable(name: &str) -> Refusable {
    Refusable::ALL.into_iter().find(|refusable| refusable.name == name).unwrap()
}

/// Guards of the first two pages, one made before the advice is refused, one after; both go again.
#[test]
#[allow(unsafe_code, reason = "guards are unsafe: nobody may use the pages, and nobody does")]
fn guards_are_made_in_the_other_way_and_both_ways_are_undone() {
    for errno in [libc::EPERM, libc::ENOSYS, libc::EINVAL, libc::ENOTTY, libc::EACCES] {
        on_thread(move || {
            prepare_refusals(refusable("madvise"), errno).unwrap();
            let memory = Reservation::new(bytes(0..4).end).unwrap();
            memory.commit(bytes(0..4)).unwrap();
            assert!((0..4).all(|number| poke(page(&memory, number), 7)));
            // SAFETY: nobody uses the page.
            let early = unsafe { memory.guard(bytes(0..1)) }.unwrap();
            refuse(u32::MAX);
            // SAFETY: nobody uses the page.
            let late = unsafe { memory.guard(bytes(1..2)) }.unwrap();
            assert_eq!(late, Guard::Protected);
            assert!((0..2).all(|number| !poke(page(&memory, number), 1)) && poke(page(&memory, 2), 1));
            // What was made in the other way can be undone in it; a mark cannot.
            memory.unguard(bytes(1..2), late).unwrap();
            assert_eq!(peek(page(&memory, 1)), Some(0));
            if early == Guard::Marked {
                assert_eq!(memory.unguard(bytes(0..1), late).map_err(|error| error.errno), Err(errno));
            }
            refuse(0);
            memory.unguard(bytes(0..2), late).unwrap();
            assert!((0..2).all(|number| peek(page(&memory, number)) == Some(0)), "zero, {early:?}, {errno}");
            assert!(poke(page(&memory, 0), 1) && poke(page(&memory, 1), 1));
        });
    }
}

#[test]
fn a_page_scan_that_is_refused_reads_words() {
    for errno in [libc::EPERM, libc::ENOSYS, libc::EINVAL, libc::ENOTTY] {
        on_thread(move || {
            prepare_refusals(refusable("ioctl"), errno).unwrap();
            let memory = Reservation::new(bytes(0..64).end).unwrap();
            memory.commit(bytes(0..64)).unwrap();
            let _ = memory.without_huge_pages(bytes(0..64));
            assert!([3, 4, 5, 20, 63].into_iter().all(|number| poke(page(&memory, number), 1)));
            let mut scan = PageScan::open().unwrap();
            for calls in [0, 1, u32::MAX, 0] {
                refuse(calls);
                let (mut kept, mut opened) = (0, 0);
                scan.resident(&memory, bytes(0..64), |run| kept += run.len()).unwrap();
                memory.resident(bytes(0..64), |run| opened += run.len()).unwrap();
                assert_eq!((kept, opened), (bytes(0..5).end, bytes(0..5).end), "{calls} calls, {errno}");
            }
        });
    }
}

#[test]
#[allow(unsafe_code, reason = "guards are unsafe: nobody may use the pages, and nobody does")]
fn guards_count_nothing_on_kernels_whose_scan_does_not_tell_them() {
    on_thread(|| {
        if Ability::GuardMarks.is_there().is_err() || Ability::PageScan.is_there().is_err() {
            return eprintln!("not run: this kernel has no guards that are marks, or no page scan");
        }
        pretend(System::Linux(6, 13)).unwrap();
        let memory = Reservation::new(bytes(0..1000).end).unwrap();
        memory.commit(bytes(0..1000)).unwrap();
        let _ = memory.without_huge_pages(bytes(0..1000));
        for number in (0..1000).step_by(4) {
            assert!(poke(page(&memory, number), 1));
            // SAFETY: nobody uses the page.
            let guard = unsafe { memory.guard(bytes(number + 2..number + 3)) }.unwrap();
            assert_eq!(guard, Guard::Marked);
        }
        // Nothing of this process is in swap, or guards count.
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let swaps = !status.contains("VmSwap:\t       0 kB");
        let before = answered();
        for _ in 0..4 {
            let pages = if swaps { 500 } else { 250 };
            assert_eq!(memory.resident_bytes(bytes(0..1000)), Ok(bytes(0..pages).end as u64));
        }
        assert!(answered() > before, "the kernel was taken for an older one");
    });
}

/// A thread that has read once and is idle may still have its stamp on its way: nothing comes back before it tells otherwise.
#[test]
fn stores_that_an_idle_reader_holds_up_name_the_call_and_go_on_once_it_reads() {
    on_thread(|| {
        prepare_refusals(refusable("membarrier"), libc::EPERM).unwrap();
        let map: &'static MapleTree<Arc<u64>> = Box::leak(Box::default());
        map.store(0..=99, Arc::new(0)).unwrap();
        let (read, asked) = mpsc::channel::<()>();
        let (done, has_read) = mpsc::channel();
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                done.send(map.get_owned(7).is_some()).unwrap();
            }
        });
        let idle_reads = || {
            read.send(()).unwrap();
            assert!(has_read.recv().unwrap());
        };
        idle_reads();
        let store = |number: u64| {
            map.store(number % 100..=number % 100, Arc::new(number)).map_err(|rejected| rejected.cause)
        };
        refuse(u32::MAX);
        let refused =
            (0..100_000).find_map(|number| store(number).err()).expect("nobody knows whether it reads");
        assert!(
            matches!(refused, WriteError::NoGracePeriod(error) if error.errno == libc::EPERM),
            "{refused}"
        );
        let text = refused.to_string();
        assert!(
            text.contains("membarrier: Operation not permitted") && text.contains("use_fences"),
            "{text}"
        );
        // The first guard takes the flag, and leaves it behind.
        idle_reads();
        (0..100_000).for_each(|number| store(number).unwrap());
        map.validate().unwrap();
    });
}
