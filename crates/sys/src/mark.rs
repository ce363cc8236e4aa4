//! A number that a process has and its children do not: it answers whether this process is a fork.
//!
//! The number is in a page that the kernel clears in children (`MADV_WIPEONFORK`, Linux 4.14), even in those that are
//! made without the C library. The hooks of `fork` clear it as well, which is enough where the kernel does not. Process
//! ids cannot tell: a child may be process 1 of its namespace, as its parent is of another.

use crate::fork::get_or_init;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers taken so far, by this process and its ancestors.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// The address of the number, after the first call. The number is 0 in a child that has none yet.
static PLACE: OnceLock<&'static AtomicU64> = OnceLock::new();

/// The number. Two threads that ask at the same time get the same one.
pub(crate) fn number() -> u64 {
    let place = get_or_init(&PLACE, place);
    // Relaxed, all: only the number itself matters.
    match place.load(Ordering::Relaxed) {
        0 => {
            let new = TAKEN.fetch_add(1, Ordering::Relaxed) + 1;
            let taken = place.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
            taken.map_or_else(|other| other, |_| new)
        }
        number => number,
    }
}

/// Called in a child, by its only thread.
pub(crate) fn clear() {
    if let Some(place) = PLACE.get() {
        place.store(0, Ordering::Relaxed);
    }
}

/// A word that the kernel clears in children, or else one that the hooks clear.
fn place() -> &'static AtomicU64 {
    static BY_HOOKS: AtomicU64 = AtomicU64::new(0);
    crate::memory::wiped_word().unwrap_or(&BY_HOOKS)
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    /// A child made by the bare system call, which no hook sees. It may have its parent's process id, in another
    /// namespace.
    #[test]
    fn a_child_has_another_number_without_the_hooks() {
        let mine = number();
        assert_eq!(number(), mine);
        if crate::memory::wiped_word().is_none() {
            return eprintln!("not run: the kernel clears no pages in children");
        }
        // SAFETY: the child has a copy of all memory, and only asks and exits.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } as libc::pid_t;
        if child == 0 {
            let right = number() != mine && number() == number();
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        let mut status = 0;
        // SAFETY: it waits for the child that was just made.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!((status, number()), (0, mine));
    }
}
