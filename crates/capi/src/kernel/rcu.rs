//! Read sections, grace periods and callbacks, over the one domain of all kernel-named trees.
//!
//! `call_rcu` puts its callback into a list that goes through the callers' own `struct rcu_head`s, so it needs no
//! memory. A thread, started by the first callback, waits for the readers and calls them. If it cannot be started,
//! `rcu_barrier` does its work.

use crate::threads::{fh_read_enter, fh_read_exit};
use freehold::rcu::{self, SynchronizeError};
use std::ffi::c_int;
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
    has_thread: bool,
}

// SAFETY: the heads are the queue's from `call_rcu` until their callbacks are called.
unsafe impl Send for Queue {}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    first: ptr::null_mut(),
    last: ptr::null_mut(),
    queued: 0,
    returned: 0,
    has_thread: false,
});
/// Something was queued.
static QUEUED: Condvar = Condvar::new();
/// Callbacks have returned.
static RETURNED: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
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

/// [`fhk_call_rcu`]. Cost: a lock.
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
    if !queue.has_thread {
        queue.has_thread = start();
    }
    QUEUED.notify_one();
}

/// Starts the thread; false if it cannot be started.
fn start() -> bool {
    freehold_sys::thread::start(c"call_rcu", serve).is_ok()
}

fn serve() {
    loop {
        let mut queue = queue();
        while queue.first.is_null() {
            queue = QUEUED.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        run(queue);
    }
}

/// Calls all that is queued, after a grace period.
fn run(mut queue: MutexGuard<'_, Queue>) {
    let mut head = queue.first;
    (queue.first, queue.last) = (ptr::null_mut(), ptr::null_mut());
    drop(queue);
    wait_for_readers();
    let mut called = 0;
    while !head.is_null() {
        // SAFETY: the head was taken off the list, and is the caller's again with the call. So it is read before.
        let rcu_head { next, func } = unsafe { head.read() };
        if let Some(func) = func {
            // SAFETY: the caller of `call_rcu` gave a function that takes this head.
            unsafe { func(head) };
        }
        called += 1;
        head = next;
    }
    self::queue().returned += called;
    RETURNED.notify_all();
}

/// Waits until all callbacks that were queued before the call have returned.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_rcu_barrier() {
    let mut queue = queue();
    let queued = queue.queued;
    while queue.returned < queued {
        if queue.has_thread || queue.first.is_null() {
            queue = RETURNED.wait(queue).unwrap_or_else(PoisonError::into_inner);
        } else {
            run(queue);
            queue = self::queue();
        }
    }
}
