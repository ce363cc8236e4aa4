//! The global domain in a child made by `fork`, in a process of its own: guards of threads that the child does not have hold
//! nothing there, its own and owned ones do.

#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "it forks")]
#![cfg(all(unix, not(miri)))]

use freehold_rcu::{Backlog, Domain, read, read_owned};
use std::cell::Cell;
use std::sync::{Mutex, mpsc};

/// One test at a time: each looks at all guards of the process.
static ALONE: Mutex<()> = Mutex::new(());

/// How many of the records come back, by one that was retired now.
fn reclaimed_now() -> usize {
    reclaimed_in(Domain::global())
}

fn reclaimed_in(domain: &Domain) -> usize {
    let mut backlog = Backlog::new(domain, 1);
    backlog.reserve(1, drop).unwrap();
    backlog.retire(()).unwrap();
    let now = backlog.poll(drop).unwrap();
    // What is left is held back by guards of this test.
    std::mem::forget(backlog);
    now
}

/// Runs `check` in a child; true if it returned true there.
fn in_child(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs `check`, which takes no lock that another thread of the parent may hold, and exits.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let right = check();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: it waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    status == 0
}

/// Calls `check` in a thread-local destructor that runs after the thread's slot has ended.
struct AtEnd(Cell<Option<Box<dyn FnOnce()>>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.take().unwrap()();
    }
}

thread_local!(static AT_END: AtEnd = const { AtEnd(Cell::new(None)) });

#[test]
fn a_guard_that_a_thread_takes_at_its_end_holds_in_a_child_too() {
    let _alone = ALONE.lock();
    let (said, heard) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        AT_END.with(|at| {
            at.0.set(Some(Box::new(move || {
                let guard = read();
                said.send(in_child(|| reclaimed_now() == 0)).unwrap();
                drop(guard);
            })));
        });
        drop(read());
    });
    thread.join().unwrap();
    assert_eq!(heard.recv(), Ok(true));
}

/// In a domain of its own, each such guard has a slot of its own.
#[test]
fn a_guard_that_another_thread_takes_at_its_end_holds_nothing_in_a_child() {
    static DOMAIN: Domain = Domain::new();
    let _alone = ALONE.lock();
    let (began, wait_for_begin) = mpsc::channel();
    let (end, wait_for_end) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        AT_END.with(|at| {
            at.0.set(Some(Box::new(move || {
                let guard = DOMAIN.read();
                let held_by_itself = in_child(|| reclaimed_in(&DOMAIN) == 0);
                began.send(held_by_itself).unwrap();
                let _ = wait_for_end.recv();
                drop(guard);
            })));
        });
        drop(read());
    });
    assert_eq!(wait_for_begin.recv(), Ok(true));
    assert_eq!(reclaimed_in(&DOMAIN), 0);
    assert!(in_child(|| reclaimed_in(&DOMAIN) == 1), "the child has no such thread");
    end.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!((reclaimed_in(&DOMAIN), DOMAIN.stats().registered), (1, 0));
}

#[test]
fn a_child_waits_for_its_own_guards_only() {
    let _alone = ALONE.lock();
    drop(read());
    let (began, wait_for_begin) = mpsc::channel();
    let (end, wait_for_end) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let guard = read();
        began.send(()).unwrap();
        let _ = wait_for_end.recv();
        drop(guard);
    });
    wait_for_begin.recv().unwrap();
    assert_eq!(reclaimed_now(), 0, "the other thread's guard holds");
    assert!(in_child(|| reclaimed_now() == 1), "the child has no such thread");
    assert!(in_child(|| Domain::global().stats().reading == 0));

    let mine = read();
    assert!(in_child(|| reclaimed_now() == 0), "the child holds the guard of the thread that forked");
    assert!(in_child(|| {
        drop(mine);
        reclaimed_now() == 1
    }));
    // The closure took the guard along; the parent dropped it unused.
    let owned = read_owned().unwrap();
    assert!(in_child(|| reclaimed_now() == 0), "an owned guard is a value that the child has as well");
    drop(owned);
    end.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!(reclaimed_now(), 1);
}
