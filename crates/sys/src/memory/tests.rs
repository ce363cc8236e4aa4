//! Reservations: committed, zero, guarded and refused memory.

use super::*;
use crate::failing;

fn pages(count: usize) -> usize {
    count * page_bytes()
}

#[test]
fn committed_pages_are_zero_and_keep_what_is_written() {
    let memory = Reservation::new(pages(8)).unwrap();
    memory.commit(pages(2)..pages(4)).unwrap();
    // SAFETY: the page is committed, and the test's own.
    unsafe {
        let at = memory.base().add(pages(3));
        assert_eq!(at.read(), 0);
        at.write(7);
        memory.commit(pages(2)..pages(5)).unwrap();
        assert_eq!(at.read(), 7);
        memory.decommit(pages(3)..pages(4)).unwrap();
        assert_eq!(at.read(), 0);
        memory.populate(pages(2)..pages(5)).unwrap();
        assert_eq!(at.read(), 0);
    }
}

/// Where the kernel lacks the call, or a filter refuses it.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn pages_that_are_populated_by_writes_have_memory() {
    let memory = Reservation::new(pages(8)).unwrap();
    memory.commit(0..pages(8)).unwrap();
    // SAFETY: the pages are committed, and the test's own.
    unsafe { system::write_nothing(memory.base(), pages(4)) };
    assert_eq!(memory.resident_bytes(0..pages(8)), Ok(pages(4) as u64));
}

#[test]
fn ranges_that_are_no_pages_of_it_are_refused() {
    assert_eq!(Reservation::new(0).unwrap_err(), SysError::invalid("mmap"));
    assert_eq!(Reservation::new(100).unwrap_err(), SysError::invalid("mmap"));
    let memory = Reservation::new(pages(2)).unwrap();
    let reversed = Range { start: pages(2), end: pages(1) };
    for range in [1..pages(1), 0..1, 0..pages(3), reversed, pages(3)..pages(3)] {
        assert_eq!(memory.commit(range), Err(SysError::invalid("mprotect")));
    }
    assert_eq!(memory.commit(pages(1)..pages(1)), Ok(()));
}

#[test]
fn a_call_that_shall_fail_fails_and_the_next_thread_does_not() {
    let memory = Reservation::new(pages(2)).unwrap();
    {
        let _failing = failing::after(1);
        assert_eq!(memory.commit(0..pages(1)), Ok(()));
        let refused = memory.commit(0..pages(1)).unwrap_err();
        assert!(refused.is_out_of_memory());
        assert!(refused.to_string().starts_with("mprotect: "), "{refused}");
        assert!(Reservation::new(pages(1)).is_err());
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(memory.commit(0..pages(2)), Ok(())));
        });
    }
    assert_eq!(memory.commit(0..pages(1)), Ok(()));
}

/// Whether a read of the byte faults, tried in a child process.
#[cfg(not(miri))]
fn faults(at: *const u8) -> bool {
    // SAFETY: the child only reads a byte and exits, which is allowed after a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the default action of the signal ends the child, as intended; `_exit` may always be called.
        unsafe {
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            std::hint::black_box(at.read_volatile());
            libc::_exit(0);
        }
    }
    let mut status = 0;
    // SAFETY: it waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV
}

#[cfg(not(miri))]
#[test]
fn guards_fault_until_they_are_removed() {
    let memory = Reservation::new(pages(4)).unwrap();
    let at = |page: usize| memory.base().as_ptr().wrapping_add(pages(page)).cast_const();
    assert!(faults(at(0)), "not committed");
    memory.commit(0..pages(4)).unwrap();
    // SAFETY: nobody uses the page.
    let guard = unsafe { memory.guard(pages(1)..pages(2)) }.unwrap();
    assert!(!faults(at(0)) && faults(at(1)) && !faults(at(2)));
    memory.unguard(pages(1)..pages(2), guard).unwrap();
    assert!(!faults(at(1)));
    // The fallback of older kernels, by hand.
    // SAFETY: nobody uses the page.
    unsafe { system::decommit(memory.base().add(pages(2)), pages(1)) }.unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { libc::mprotect(at(2).cast_mut().cast(), pages(1), libc::PROT_NONE) }, 0);
    assert!(faults(at(2)));
    memory.unguard(pages(2)..pages(3), Guard::Protected).unwrap();
    assert!(!faults(at(2)));
}

#[cfg(not(miri))]
#[test]
fn resident_pages_are_those_written() {
    let memory = Reservation::new(pages(16)).unwrap();
    memory.commit(0..pages(16)).unwrap();
    // SAFETY: the pages are committed.
    unsafe {
        memory.base().add(pages(3)).write(1);
        memory.base().add(pages(4)).write(1);
        memory.base().add(pages(9)).write(1);
    }
    let mut runs = Vec::new();
    memory.resident(pages(1)..pages(16), |run| runs.push(run)).unwrap();
    // A fallback may report neighbours one by one.
    let found: usize = runs.iter().map(Range::len).sum();
    assert_eq!((runs[0].start, found), (pages(3), pages(3)));
}

#[cfg(not(miri))]
#[test]
fn a_place_is_taken_once() {
    let free = Reservation::new(pages(4)).unwrap();
    let address = free.base().addr().get();
    drop(free);
    let memory = match Reservation::at(address, pages(2)) {
        Ok(memory) => memory,
        // Another test took the address first.
        Err(error) => return assert_eq!(error.errno, libc::EEXIST),
    };
    assert_eq!(memory.base().addr().get(), address);
    let taken = Reservation::at(address + pages(1), pages(2)).unwrap_err();
    assert_eq!(taken, SysError { call: "mmap", errno: libc::EEXIST });
    for (address, len) in
        [(0, pages(1)), (1, pages(1)), (address, 0), (address, 1), (pages(1).wrapping_neg(), pages(1))]
    {
        assert_eq!(Reservation::at(address, len).unwrap_err(), SysError::invalid("mmap"));
    }
}

#[cfg(not(miri))]
#[test]
fn parts_have_names_where_the_kernel_has_them() {
    let memory = Reservation::new(pages(4)).unwrap();
    assert_eq!(memory.name(0..pages(5), c"x"), Err(SysError::invalid("prctl")));
    if let Err(error) = memory.name(pages(1)..pages(2), c"freehold test") {
        eprintln!("not run: {error}; the kernel has no names for memory");
        return assert_eq!(error, SysError::invalid("prctl"));
    }
    let first = memory.base().addr().get() as u64;
    let mut named = 0;
    crate::mappings::each(|range, name| {
        named += usize::from(name == "[anon:freehold test]" && range.start == first + pages(1) as u64);
    })
    .unwrap();
    assert_eq!(named, 1);
}

#[cfg(all(not(miri), target_arch = "x86_64"))]
#[test]
fn code_runs_once_it_is_executable() {
    let memory = Reservation::new(pages(1)).unwrap();
    memory.commit(0..pages(1)).unwrap();
    // mov eax, 42; ret
    let code = [0xb8_u8, 42, 0, 0, 0, 0xc3];
    // SAFETY: the page is committed and the test's own, nobody writes to it afterwards, and the function is what the
    // instructions are.
    let answer = unsafe {
        memory.base().copy_from_nonoverlapping(NonNull::from(&code).cast(), code.len());
        memory.make_executable(0..pages(1)).unwrap();
        let function: extern "C" fn() -> u32 = std::mem::transmute(memory.base().as_ptr());
        function()
    };
    assert_eq!(answer, 42);
    assert!(!faults(memory.base().as_ptr()));
}

#[cfg(not(miri))]
#[test]
fn a_page_map_that_is_kept_speaks_of_the_child_after_a_fork() {
    let memory = Reservation::new(pages(8)).unwrap();
    memory.commit(0..pages(8)).unwrap();
    let mut scan = PageScan::open().unwrap();
    let resident = |scan: &mut PageScan| {
        let mut bytes = 0;
        scan.resident(&memory, 0..pages(8), |run| bytes += run.len()).map(|()| bytes)
    };
    assert_eq!(resident(&mut scan), Ok(0));
    // SAFETY: the child writes to a page of its own, asks the kernel and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the page is committed.
        unsafe { memory.base().write(1) };
        let right = resident(&mut scan) == Ok(pages(1));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: it waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child was told of its parent's pages");
    assert_eq!(resident(&mut scan), Ok(0));
    let _failing = failing::after(0);
    assert!(resident(&mut scan).is_err() && PageScan::open().is_err());
}

/// Memory and swap of these addresses in bytes, as in `/proc/self/smaps`.
#[cfg(not(miri))]
fn smaps(addresses: Range<usize>) -> usize {
    let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut inside, mut kib) = (false, 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(first), second) = (words.next(), words.next()) else { continue };
        if let Some((start, _)) = first.split_once('-') {
            inside = usize::from_str_radix(start, 16).is_ok_and(|start| addresses.contains(&start));
        }
        if inside && (first == "Rss:" || first == "Swap:") {
            kib += second.unwrap().parse::<usize>().unwrap();
        }
    }
    kib << 10
}

#[cfg(not(miri))]
#[test]
fn each_run_counts_once_whatever_their_number_and_guards_count_nothing() {
    for guard in [Guard::Marked, Guard::Protected] {
        for runs in [10, 64, 65, 513, 10_000] {
            let memory = Reservation::new(pages(4 * runs)).unwrap();
            memory.commit(0..pages(4 * runs)).unwrap();
            memory.without_huge_pages(0..pages(4 * runs)).unwrap();
            for run in 0..runs {
                let first = pages(4 * run);
                // SAFETY: the pages are committed, and nobody else uses them.
                unsafe {
                    memory.base().add(first).write(1);
                    memory.base().add(first + pages(1)).write(1);
                    let page = memory.base().add(first + pages(3));
                    match guard {
                        Guard::Marked => drop(memory.guard(first + pages(3)..first + pages(4)).unwrap()),
                        Guard::Protected => {
                            let done = libc::mprotect(page.as_ptr().cast(), pages(1), libc::PROT_NONE);
                            assert_eq!(done, 0);
                        }
                    }
                }
            }
            let first = memory.base().addr().get();
            let mut kept = PageScan::open().unwrap();
            let (mut once, mut again) = (0, 0);
            memory.resident(0..pages(4 * runs), |run| once += run.len()).unwrap();
            kept.resident(&memory, 0..pages(4 * runs), |run| again += run.len()).unwrap();
            let told = smaps(first..first + pages(4 * runs));
            assert_eq!(
                (once, again, told),
                (pages(2 * runs), pages(2 * runs), pages(2 * runs)),
                "{runs} runs, {guard:?}"
            );
        }
    }
}

/// In a child, as the locking applies to the whole process.
#[cfg(not(miri))]
#[test]
fn reservations_are_not_locked_in_a_process_that_locks_all_it_maps() {
    // SAFETY: the child uses memory of its own, asks the kernel and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let run = || {
            // SAFETY: locks what this process maps from now on.
            if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
                return 2;
            }
            let memory = Reservation::new(64 << 20).unwrap();
            memory.commit(0..64 << 20).unwrap();
            let resident = |memory: &Reservation| {
                let mut bytes = 0;
                memory.resident(0..64 << 20, |run| bytes += run.len()).map(|()| bytes)
            };
            let at_first = resident(&memory);
            // SAFETY: the page is committed, and nobody else uses it.
            let given_back = unsafe {
                memory.base().write(1);
                memory.decommit(0..pages(1))
            };
            i32::from((at_first, given_back, resident(&memory)) != (Ok(0), Ok(()), Ok(0)))
        };
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(run()) };
    }
    let mut status = 0;
    // SAFETY: it waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    match libc::WEXITSTATUS(status) {
        2 => eprintln!("not run: this process may lock nothing"),
        code => assert_eq!((libc::WIFEXITED(status), code), (true, 0), "locked, or populated"),
    }
}
