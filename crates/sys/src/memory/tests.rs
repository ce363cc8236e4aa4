//! Reservations: what is committed, zero, guarded, refused.

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

/// Whether a read of the byte faults, seen by a child process.
#[cfg(not(miri))]
fn faults(at: *const u8) -> bool {
    // SAFETY: the child only reads a byte and exits, which is allowed after a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the default action of the signal ends the child, which is what is asked; `_exit` always may be called.
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
    // The way of older kernels, by hand.
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
