//! Safety of `fork`: a fork waits until no thread is in a critical section, and a child knows which threads it lacks.
//!
//! A child made by `fork` has one thread, a copy of the one that forked. A lock that another thread held stays locked
//! for ever there, over half-changed data. So every lock of this project is held in a [`Section`].
//!
//! # What a child may do
//! | In a child made by `fork` | |
//! |---|---|
//! | read a map or a space: guards, look-ups, iterators, snapshots | always |
//! | write to a map, allocate from a space, a pooled space or a per-CPU heap, free | yes: it has a copy, and neither process sees what the other changes; what another thread was taking or freeing leaks, which `validate` of a pooled space may report (S3) |
//! | the same, if another thread held an owned guard, a snapshot or a guard of a `Reader` | until as much waits for readers as a map may keep: nothing in the child drops that guard |
//! | write to a map in which another thread had a transaction open | yes: the transaction is undone, and values that it had put in leak |
//! | count, read counters, render a registry | always; counters go on from what they had |
//! | use a guard of its own thread, its own owned guard or snapshot | yes: these are values that the child has, too |
//! | commit, drop or go on with its own thread's transaction | yes; the parent does the same with its own |
//! | use a reference that another thread's guard or transaction protects | no: both have ended in the child |
//! | use memory of `vmalloc`, allocate and free it | yes; what another thread was about to hand out or free leaks, and may count as resident (S6) |
//!
//! After `vfork`, or after a `clone` that bypasses the C library, a child may do nothing of this. A process must not
//! fork in a signal handler that can interrupt an operation of this project, nor in the closure that encodes the values of
//! a shared space, nor before its first such operation has returned.
//!
//! Hooks of `pthread_atfork` may use all of this, but no child hook may write while another thread has a transaction
//! open. The first operation installs the hooks of this project. If there is no memory for them, threads that come later
//! try again, and until then a fork is as unsafe as without them. A hook that takes a lock under which other threads use
//! this project must be installed after the first operation: hooks before a fork run in the reverse order, and those
//! threads wait for the fork while they hold that lock.
//!
//! # Order of locks
//! 1. A thread is in a section before it takes a lock that a section may wait for.
//! 2. In a section, a thread waits only for locks whose holders are in sections, too, and never for a transaction. So
//!    every section ends.
//! 3. The hook before a fork announces the fork and waits for the sections of all other threads. Threads that enter
//!    meanwhile wait until the fork is done.
//!
//! A transaction outlives an operation, so it is not a lock: the map records the [id](crate::thread_slot::id) of its
//! thread, in a section. [`is_lost`] tells a child that this thread does not exist there.

use crate::backoff::wait_while;
use crate::thread_slot;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{LockResult, OnceLock, PoisonError};

/// Counters of sections. Up to 64 threads each have their own.
const COUNTERS: usize = 64;

/// Threads in a section, on a cache line of its own.
#[repr(align(64))]
struct Inside(AtomicU32);

static INSIDE: [Inside; COUNTERS] = [const { Inside(AtomicU32::new(0)) }; COUNTERS];
/// Forks that wait for sections, or are under way.
static FORKING: AtomicU32 = AtomicU32::new(0);
/// Threads below this number are lost, except the survivor. Written by the hook in the child, its only thread.
static LOST_BELOW: AtomicU64 = AtomicU64::new(0);
static SURVIVOR: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Sections that this thread is in, nested. Without a destructor: usable as long as the thread runs.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A section of this thread that excludes `fork`. Sections nest.
///
/// It must end soon: forks wait for it. Callers' code does not run in it, except for the allocator,
/// `StoredValue::split`, the predicate of `PooledSpace::alloc_ready` and what encodes the values of an image. So a `fork`
/// hook must not hold a lock that these need. In a section, a thread waits for no transaction. A leaked section (`mem::forget`) blocks the forks of all other threads for ever.
/// Two threads that fork at the same time, each in a section, wait for each other.
///
/// Cost: two atomic additions to a line that few threads share; for a nested section, an addition.
#[derive(Debug)]
#[must_use = "the section ends when it is dropped"]
pub struct Section {
    _here: PhantomData<*const ()>,
}

impl Section {
    /// Enters a section. Waits for a fork that is under way.
    #[inline]
    pub fn enter() -> Self {
        loop {
            if let Some(section) = Self::try_enter() {
                return section;
            }
            wait_for_fork();
        }
    }

    /// Enters a section without waiting. `None` while another thread forks.
    #[inline]
    pub fn try_enter() -> Option<Self> {
        let depth = DEPTH.get();
        if depth == 0 {
            // SeqCst, both: pairs with `prepare`. Either the forking thread sees this section, or this thread sees the
            // fork.
            inside().fetch_add(1, Ordering::SeqCst);
            if FORKING.load(Ordering::SeqCst) != 0 {
                inside().fetch_sub(1, Ordering::SeqCst);
                return None;
            }
        }
        DEPTH.set(depth + 1);
        Some(Self { _here: PhantomData })
    }
}

impl Drop for Section {
    #[inline]
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            // Release: pairs with the load in `prepare`. The child sees what the section changed.
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
fn wait_for_fork() {
    wait_while(|| FORKING.load(Ordering::SeqCst) != 0);
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

/// Takes a lock in a section, poisoned or not: under the locks of these crates only broken invariants panic, and `validate` finds
/// those.
#[inline]
pub fn lock<G>(lock: impl FnOnce() -> LockResult<G>) -> Held<G> {
    hold(|| lock().unwrap_or_else(PoisonError::into_inner))
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

/// The value of a cell. The first caller initializes it in a section, so a child never inherits a half-initialized
/// cell.
#[inline]
pub fn get_or_init<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    cell.get().unwrap_or_else(|| {
        let _section = Section::enter();
        cell.get_or_init(make)
    })
}

/// Whether this process lacks a [thread](thread_slot::id), because another thread's fork made the process.
#[inline]
#[must_use]
pub fn is_lost(thread: u64) -> bool {
    // Relaxed, both: written before this process had a second thread.
    thread < LOST_BELOW.load(Ordering::Relaxed) && thread != SURVIVOR.load(Ordering::Relaxed)
}

/// A number that differs between a process and the children that it forks after its first use of this project, whatever
/// their process ids. A program that stores it with a thread, a handle or a file can tell whether that is the parent's.
///
/// Cost: three loads.
#[must_use]
pub fn generation() -> u64 {
    // The hooks are installed once a thread has a number.
    let _ = thread_slot::id();
    crate::mark::number()
}

/// Installs the hooks, before the first thread gets a number. Without memory for them, the next thread tries again.
pub(crate) fn install() {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    // Relaxed: installing the hooks twice has the same effect.
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
    // Taken now, or both processes might take the same.
    let _ = crate::mark::number();
    if DEPTH.get() > 0 {
        // Another thread's fork may wait for this section, so this one does not wait for that fork.
        FORKING.fetch_add(1, Ordering::SeqCst);
    } else {
        // One fork at a time: hooks of the program run in it, whose sections nobody counts.
        wait_while(|| FORKING.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_err());
    }
    for Inside(counter) in &INSIDE {
        wait_while(|| counter.load(Ordering::SeqCst) > own(counter));
    }
    // Hooks of the program that run between these may use the project: their sections are nested in the fork.
    DEPTH.set(DEPTH.get() + 1);
}

extern "C" fn parent() {
    DEPTH.set(DEPTH.get() - 1);
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

extern "C" fn child() {
    DEPTH.set(DEPTH.get() - 1);
    SURVIVOR.store(thread_slot::NUMBER.get(), Ordering::Relaxed);
    LOST_BELOW.store(thread_slot::NEXT.load(Ordering::Relaxed), Ordering::Relaxed);
    crate::mark::clear();
    // Lost threads may have counted themselves before they saw the fork.
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
                    // The lock is really free: a lock that was held at the fork would fail here.
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

    /// The child asks before its parent does.
    #[test]
    fn a_child_has_another_generation_than_a_parent_that_never_asked() {
        // A use that does not ask installs the hooks.
        let _ = thread_slot::id();
        assert!(in_child(|| {
            let number = || i32::try_from(generation() % 100).unwrap();
            // SAFETY: the child of this child asks and exits.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                // SAFETY: ends it at once.
                unsafe { libc::_exit(number()) };
            }
            let mut status = 0;
            // SAFETY: it waits for the child that was just made.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            libc::WEXITSTATUS(status) != number()
        }));
    }

    /// Hooks of a program that were installed before those of this module run within a fork, where they may use locks.
    #[test]
    fn hooks_of_the_program_may_enter_sections() {
        static ENTERED: AtomicU32 = AtomicU32::new(0);
        extern "C" fn enter() {
            let _section = Section::enter();
            ENTERED.fetch_add(1, Relaxed);
        }
        // In a child these run as hooks installed before run: between those of this module.
        prepare();
        enter();
        parent();
        assert!(in_child(|| {
            prepare();
            enter();
            child();
            drop(Section::enter());
            ENTERED.load(Relaxed) == 2 && in_child(|| true)
        }));
    }

    #[test]
    fn a_fork_waits_for_the_hooks_of_another_threads_fork() {
        static LOCK: Mutex<()> = Mutex::new(());
        let (forks, is_forking) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                prepare();
                let held = hold(|| LOCK.lock().unwrap());
                forks.send(()).unwrap();
                // The other thread has time to fork meanwhile, which it must not.
                std::thread::sleep(std::time::Duration::from_millis(100));
                drop(held);
                parent();
            });
            is_forking.recv().unwrap();
            assert!(in_child(|| LOCK.try_lock().is_ok()), "a hook of the lost thread holds the lock");
        });
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
