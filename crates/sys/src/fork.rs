//! `fork`: sections that no fork falls into, and threads that a child does not have.
//!
//! A child made by `fork` has one thread, a copy of the one that forked. A lock that another thread held stays held for ever
//! there, over data that is half changed. So every lock of this project is held in a [`Section`], and a fork waits until no
//! thread is in one.
//!
//! # What a child may do
//! | In a child made by `fork` | |
//! |---|---|
//! | read a map or a space: guards, look-ups, iterators, snapshots | always |
//! | write to a map, allocate from a space, a pooled space or a per-CPU heap, free | always. It gets copies: neither process sees what the other changes |
//! | count, read counters, render a registry | always; counters go on from what they had |
//! | use a guard of its own thread, an owned guard, a snapshot | yes: these are values that the child has, too |
//! | use a reference that another thread's guard protects | no: that guard has ended in the child |
//! | commit, drop or go on with its own thread's transaction | yes; the parent does the same with its own |
//! | write to a map in which another thread had a transaction open | yes: the transaction is undone; values that it had put in leak |
//! | read in a `Domain` of its own through a `Reader` that another thread used | no: that reader's guards stay |
//! | use memory of `vmalloc` | reads and writes always; allocation only if no other thread was inside while the process forked |
//!
//! After `vfork`, and after a `clone` that bypasses the C library, a child may do nothing of this. A signal handler must
//! not fork if it can interrupt an operation of this project.
//!
//! # Order of locks
//! 1. A thread enters a section while it holds no lock of this project, or is in a section already.
//! 2. It waits for a lock in a section only if each holder of that lock is in a section, too. So every section ends.
//! 3. `prepare` announces the fork and waits for the sections of all other threads. Who enters meanwhile waits for the fork.
//!
//! What outlives an operation, as a transaction does, is no lock but a note of the [thread](crate::thread_slot::id) that has
//! it, written in a section; a child tells by [`is_lost`] that nobody has it any more.

use crate::backoff::wait_while;
use crate::thread_slot;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Counters of sections. Threads share one only if there are more threads.
const COUNTERS: usize = 64;

/// Threads in a section, on a cache line of its own.
#[repr(align(64))]
struct Inside(AtomicU32);

static INSIDE: [Inside; COUNTERS] = [const { Inside(AtomicU32::new(0)) }; COUNTERS];
/// Forks that wait for sections, or are under way.
static FORKING: AtomicU32 = AtomicU32::new(0);
/// Forks between the first process of the program and this one, or more.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// Threads below this number are lost, except the survivor. Written by the hook in the child, its only thread.
static LOST_BELOW: AtomicU64 = AtomicU64::new(0);
static SURVIVOR: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Sections that this thread is in, nested. Without a destructor: usable as long as the thread runs.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A section of this thread that no fork falls into. Sections nest.
///
/// It must end soon, and no code of a caller runs in it: forks wait for it. A forgotten one stops all forks of other threads.
///
/// Cost: two atomic additions to a line that few threads share; nested ones, an addition.
#[derive(Debug)]
#[must_use = "the section ends when it is dropped"]
pub struct Section {
    _here: PhantomData<*const ()>,
}

impl Section {
    /// Enters a section. Waits for a fork that is under way.
    #[inline]
    pub fn enter() -> Self {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        if depth == 0 {
            // SeqCst, both: pairs with `prepare`. Either the forking thread sees this section, or this thread sees the fork.
            inside().fetch_add(1, Ordering::SeqCst);
            if FORKING.load(Ordering::SeqCst) != 0 {
                wait_for_forks();
            }
        }
        Self { _here: PhantomData }
    }
}

impl Drop for Section {
    #[inline]
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            // Release: pairs with the load in `prepare`. What the section changed is in the child.
            inside().fetch_sub(1, Ordering::Release);
        }
    }
}

/// This thread's counter.
#[inline]
fn inside() -> &'static AtomicU32 {
    &INSIDE[thread_slot::number() as usize % COUNTERS].0
}

#[cold]
fn wait_for_forks() {
    while FORKING.load(Ordering::SeqCst) != 0 {
        inside().fetch_sub(1, Ordering::SeqCst);
        wait_while(|| FORKING.load(Ordering::SeqCst) != 0);
        inside().fetch_add(1, Ordering::SeqCst);
    }
}

/// The guard of a lock, in a section that ends after it.
#[derive(Debug)]
pub struct Held<G> {
    // Dropped first.
    guard: G,
    _section: Section,
}

/// Takes a lock in a section.
#[inline]
pub fn hold<G>(lock: impl FnOnce() -> G) -> Held<G> {
    let section = Section::enter();
    Held { guard: lock(), _section: section }
}

impl<G: Deref> Deref for Held<G> {
    type Target = G::Target;

    #[inline]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Held<G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// The value of a cell, made by the first caller, in a section: no child finds the cell half filled.
#[inline]
pub fn get_or_init<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(value) => value,
        None => {
            let _section = Section::enter();
            cell.get_or_init(make)
        }
    }
}

/// Whether a [thread](thread_slot::id) is one that this process does not have, since it was made by a fork of another thread.
#[inline]
#[must_use]
pub fn is_lost(thread: u64) -> bool {
    // Relaxed, both: written before this process had a second thread.
    thread < LOST_BELOW.load(Ordering::Relaxed) && thread != SURVIVOR.load(Ordering::Relaxed)
}

/// A number that differs between a process and the children that it forks.
#[must_use]
pub fn generation() -> u64 {
    // The hooks are there once a thread has a number.
    let _ = thread_slot::id();
    FORKS.load(Ordering::Relaxed)
}

/// Installs the hooks, before the first thread gets a number. If there is no memory for them, the next thread tries again.
pub(crate) fn install() {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    // Relaxed: hooks that are installed twice do the same.
    if !INSTALLED.load(Ordering::Relaxed) && at_fork() {
        INSTALLED.store(true, Ordering::Relaxed);
    }
}

fn at_fork() -> bool {
    #[cfg(all(unix, not(miri)))]
    // SAFETY: the hooks are functions, which live as long as the program.
    return unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) == 0 };
    #[cfg(not(all(unix, not(miri))))]
    return [prepare as extern "C" fn(), parent, child].len() == 3;
}

/// 1 if this thread is in a section and the counter is its own.
fn own(counter: &AtomicU32) -> u32 {
    u32::from(DEPTH.get() > 0 && std::ptr::eq(counter, inside()))
}

extern "C" fn prepare() {
    FORKING.fetch_add(1, Ordering::SeqCst);
    for Inside(counter) in &INSIDE {
        wait_while(|| counter.load(Ordering::SeqCst) > own(counter));
    }
}

extern "C" fn parent() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

extern "C" fn child() {
    let (survivor, next) = thread_slot::known_and_next();
    SURVIVOR.store(survivor, Ordering::Relaxed);
    LOST_BELOW.store(next, Ordering::Relaxed);
    FORKS.fetch_add(1, Ordering::Relaxed);
    // Threads that are lost may have been about to see the fork.
    INSIDE.iter().for_each(|Inside(counter)| counter.store(own(counter), Ordering::Relaxed));
    FORKING.store(0, Ordering::SeqCst);
}

#[cfg(all(test, unix, not(miri)))]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::Ordering::Relaxed;

    /// Runs `check` in a child; true if it returned true there.
    fn in_child(check: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child runs the check and exits.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!check())) };
        }
        let mut status = 0;
        // SAFETY: it waits for the child that was just made.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        status == 0
    }

    #[test]
    fn a_child_finds_no_lock_held_and_no_half_of_a_change() {
        static PAIR: Mutex<(u32, u32)> = Mutex::new((0, 0));
        static STOP: AtomicBool = AtomicBool::new(false);
        let pair = || hold(|| PAIR.lock().unwrap());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !STOP.load(Relaxed) {
                        let _outer = Section::enter();
                        let mut held = pair();
                        held.0 += 1;
                        std::thread::yield_now();
                        held.1 += 1;
                    }
                });
            }
            for _ in 0..50 {
                let right = in_child(|| {
                    // As free as it looks: a lock that is held for ever would be held now.
                    PAIR.try_lock().is_ok_and(|held| held.0 == held.1)
                });
                assert!(right, "a fork fell into a section");
            }
            STOP.store(true, Relaxed);
        });
    }

    #[test]
    fn other_threads_are_lost_to_a_child_and_its_own_are_not() {
        let (here, generation_here) = (thread_slot::id(), generation());
        let other = std::thread::spawn(thread_slot::id).join().unwrap();
        assert!(!is_lost(here) && !is_lost(other));
        assert!(in_child(|| {
            let new = std::thread::spawn(thread_slot::id).join().unwrap();
            let once = !is_lost(here) && is_lost(other) && !is_lost(new) && generation() != generation_here;
            once && in_child(|| !is_lost(here) && is_lost(other) && is_lost(new))
        }));
        assert!(!is_lost(other));
    }

    #[test]
    fn a_thread_that_forks_in_its_own_section_stays_in_it() {
        let section = Section::enter();
        assert!(in_child(move || {
            let nested = DEPTH.get() == 1 && inside().load(Relaxed) == 1;
            drop(section);
            nested && inside().load(Relaxed) == 0 && in_child(|| true)
        }));
    }
}
