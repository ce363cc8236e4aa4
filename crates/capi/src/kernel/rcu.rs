//! Read sections, grace periods and callbacks, over the one domain of all kernel-named trees.
//!
//! `call_rcu` puts its callback into a list that goes through the callers' own `struct rcu_head`s, so it needs no
//! memory. A thread, started by the first callback, waits for the readers and calls them. If it cannot be started,
//! `rcu_barrier` does its work. A child of `fork` starts a thread of its own: what was queued is called in both processes, and
//! what a thread had in hand in the parent alone.

use crate::handle::boxed;
use crate::threads::{fh_read_enter, fh_read_exit};
use freehold::rcu::{self, SynchronizeError};
use freehold_sys::backoff::wait_while;
use freehold_sys::fork::{self, Held};
use std::ffi::c_int;
use std::mem;
use std::ptr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What is called after a grace period.
pub type rcu_callback = Option<unsafe extern "C" fn(*mut rcu_head)>;

/// `struct rcu_head`: a place in the list of callbacks, within the caller's own object.
#[repr(C)]
pub struct rcu_head {
    next: *mut rcu_head,
    func: rcu_callback,
}

impl rcu_head {
    pub(super) const NONE: Self = Self { next: ptr::null_mut(), func: None };
}

/// Callbacks in the order of their calls.
struct Queue {
    first: *mut rcu_head,
    last: *mut rcu_head,
    /// Callbacks that were queued so far, and those that have returned.
    queued: u64,
    returned: u64,
    /// Callbacks that a thread has in hand. One thread at a time has some.
    in_hand: u64,
    /// What wakes the thread that calls them; `None` if there is no such thread.
    bell: Option<&'static Bell>,
    /// The process that all this belongs to.
    generation: u64,
}

// SAFETY: the heads are the queue's from `call_rcu` until their callbacks are called.
unsafe impl Send for Queue {}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    first: ptr::null_mut(),
    last: ptr::null_mut(),
    queued: 0,
    returned: 0,
    in_hand: 0,
    bell: None,
    generation: 0,
});

/// The queue, locked in a section that no `fork` falls into. Nobody waits while holding it.
fn queue() -> Held<MutexGuard<'static, Queue>> {
    let mut queue = fork::lock(|| QUEUE.lock());
    let generation = fork::generation();
    if queue.generation != generation {
        // A child has neither the thread nor what some thread had in hand. What was queued is called here, too.
        queue.generation = generation;
        queue.returned += mem::take(&mut queue.in_hand);
        queue.bell = None;
    }
    queue
}

/// Wakes one thread. A child of `fork` has a bell of its own, since a lost thread may hold the lock of the parent's.
struct Bell {
    rung: Mutex<bool>,
    ring: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ring.notify_one();
    }

    fn wait(&self) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = self.ring.wait_while(rung, |rung| !*rung);
        *rung.unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// Enters a read section, as fh_read_enter.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_rcu_read_lock() -> c_int {
    fh_read_enter()
}

/// Leaves a read section, as fh_read_exit.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_rcu_read_unlock() -> c_int {
    fh_read_exit()
}

/// Waits until all present read sections are left. Within one it would wait for itself, so it stops the program.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_synchronize_rcu() {
    wait_for_readers();
}

/// The system may refuse barriers while a thread that has not fenced yet reads: then it is asked again.
#[allow(clippy::panic, reason = "the caller would wait for itself for ever")]
fn wait_for_readers() {
    loop {
        match rcu::synchronize() {
            Ok(()) => return,
            Err(SynchronizeError::Reading) => panic!("a read section waits for its own end"),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Calls `func` with the head once all present read sections are left, on a thread of the library.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_call_rcu(head: *mut rcu_head, func: rcu_callback) {
    call(head, func);
}

/// [`fhk_call_rcu`]. Cost: two locks.
pub(super) fn call(head: *mut rcu_head, func: rcu_callback) {
    // SAFETY: the caller gives up the head until its callback.
    unsafe { head.write(rcu_head { next: ptr::null_mut(), func }) };
    let mut queue = queue();
    if queue.first.is_null() {
        queue.first = head;
    } else {
        // SAFETY: the last head is in the list, so it is the queue's.
        unsafe { (*queue.last).next = head };
    }
    queue.last = head;
    queue.queued += 1;
    if queue.bell.is_none() {
        start(&mut queue);
    }
    let bell = queue.bell;
    drop(queue);
    if let Some(bell) = bell {
        bell.ring();
    }
}

/// Starts the thread, if it can be started. What it does holds nothing, so that no memory is asked for that cannot be refused.
fn start(queue: &mut Queue) {
    let Ok(bell) = boxed(Bell { rung: Mutex::new(false), ring: Condvar::new() }) else { return };
    let bell = Box::into_raw(bell);
    // SAFETY: it came from a box, which nobody frees once there is a thread.
    queue.bell = Some(unsafe { &*bell });
    if freehold_sys::thread::start(c"call_rcu", serve).is_err() {
        queue.bell = None;
        // SAFETY: it came from a box, and the queue, which is locked, has it no more.
        drop(unsafe { Box::from_raw(bell) });
    }
}

fn serve() {
    let Some(bell) = queue().bell else { return };
    loop {
        bell.wait();
        // A barrier may be at it, from before there was this thread.
        while !run() {
            wait_while(|| queue().in_hand != 0);
        }
    }
}

/// Calls all that is queued, after a grace period. False, with nothing done, if another thread does so.
fn run() -> bool {
    let mut queue = queue();
    if queue.in_hand != 0 {
        return false;
    }
    let mut head = queue.first;
    (queue.first, queue.last) = (ptr::null_mut(), ptr::null_mut());
    queue.in_hand = queue.queued - queue.returned;
    let (in_hand, generation) = (queue.in_hand, queue.generation);
    drop(queue);
    wait_for_readers();
    while !head.is_null() {
        // SAFETY: the head was taken off the list, and is the caller's again with the call. So it is read before.
        let rcu_head { next, func } = unsafe { head.read() };
        if let Some(func) = func {
            // SAFETY: the caller of `call_rcu` gave a function that takes this head.
            unsafe { func(head) };
        }
        head = next;
    }
    let mut queue = self::queue();
    // A callback may have forked: then the child has counted these as returned.
    if queue.generation == generation {
        queue.returned += in_hand;
        queue.in_hand = 0;
    }
    true
}

/// Whether a thread calls callbacks, or will.
fn is_served() -> bool {
    let queue = queue();
    queue.bell.is_some() || queue.in_hand != 0
}

/// Waits until all callbacks that were queued before the call have returned.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_rcu_barrier() {
    let queued = queue().queued;
    let is_done = || queue().returned >= queued;
    while !is_done() {
        if queue().bell.is_some() || !run() {
            wait_while(|| !is_done() && is_served());
        }
    }
}
