//! A number that stays with a thread: the index of programs without restartable sequences.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of this thread: threads count from 0, in the order in which they first ask. Numbers wrap after 2^32 - 1
/// threads. Cost: one load of a thread-local variable.
#[inline]
#[must_use]
pub fn number() -> u32 {
    const NONE: u32 = u32::MAX;
    thread_local! {
        // Without a destructor, so that it can be asked for as long as the thread runs.
        static NUMBER: Cell<u32> = const { Cell::new(NONE) };
    }
    #[cold]
    fn take() -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: only the number itself matters.
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % NONE;
        NUMBER.set(number);
        number
    }
    match NUMBER.get() {
        NONE => take(),
        number => number,
    }
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
