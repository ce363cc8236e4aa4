//! A number that stays with a thread: the index for programs without restartable sequences.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The next thread's number.
pub(crate) static NEXT: AtomicU64 = AtomicU64::new(0);

/// No thread has this number.
const NONE: u64 = u64::MAX;

thread_local! {
    // Without a destructor, so that it stays usable as long as the thread runs.
    pub(crate) static NUMBER: Cell<u64> = const { Cell::new(NONE) };
}

/// The number of this thread. Threads count from 0, in the order of their first calls. No two threads of a process have
/// the same number, and a child never reuses a number that its parent assigned before the [fork](crate::fork). Cost:
/// one load of a thread-local variable.
#[inline]
#[must_use]
pub fn id() -> u64 {
    #[cold]
    fn take() -> u64 {
        crate::fork::install();
        // Relaxed: only the number itself matters.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        NUMBER.set(number);
        number
    }
    match NUMBER.get() {
        NONE => take(),
        number => number,
    }
}

/// The low half of the [number](id), for an index: after 2^32 threads, numbers repeat.
#[inline]
#[must_use]
pub fn number() -> u32 {
    id() as u32
}

/// The system's number of this thread (`gettid`), which debuggers and `/proc` show; `None` where there is none to ask
/// for. Cost: a system call.
#[must_use]
pub fn tid() -> Option<u32> {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: the call has no arguments and cannot fail.
    return u32::try_from(unsafe { libc::gettid() }).ok();
    #[cfg(any(miri, not(target_os = "linux")))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_number_and_shares_it_with_none() {
        let mine = number();
        assert_eq!(number(), mine);
        let other = std::thread::spawn(|| (number(), number())).join().unwrap();
        assert_eq!(other.0, other.1);
        assert_ne!(other.0, mine);
    }
}
