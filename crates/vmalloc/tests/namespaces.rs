//! A child may have the process id of its parent: each is process 1 of its namespace. It still knows that it is a fork. Needs root.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "processes are made, in namespaces of their own")]

use freehold_vmalloc::{VirtualMemory, Zero};

/// Status of a child that runs this in a namespace of its own, as process 1; `None` if there can be no such namespace.
fn as_process_1(run: impl FnOnce() -> bool) -> Option<libc::c_int> {
    // SAFETY: only children of this thread are in the namespace.
    if unsafe { libc::unshare(libc::CLONE_NEWPID) } != 0 {
        return None;
    }
    // SAFETY: the child runs what it was given and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        assert_eq!(std::process::id(), 1);
        let right = run();
        // SAFETY: ends the child without what the parent set up for its end.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    Some(status)
}

#[test]
fn process_1_that_is_a_fork_of_process_1_waits_for_no_thread_of_its_parent() {
    let first = as_process_1(|| {
        // It has a thread that gives memory back.
        let memory = VirtualMemory::builder().reserve(1 << 28).build().unwrap();
        drop(memory.alloc(8192, Zero::No).unwrap());
        let second = as_process_1(|| {
            // SAFETY: a signal ends the child if it waits.
            unsafe { libc::alarm(5) };
            drop(memory);
            true
        });
        second == Some(0)
    });
    match first {
        Some(status) => assert_eq!(status, 0, "it took its parent's thread for its own"),
        None => eprintln!("not run: {}; only root makes namespaces", std::io::Error::last_os_error()),
    }
}
