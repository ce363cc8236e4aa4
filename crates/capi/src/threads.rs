//! Read sections of a thread: what lies between enter and exit sees no address, entry or value reused.
//!
//! All shared spaces and trees of the library use one domain, so one section covers look-ups in all of them.

use crate::error::{Failure, fh_error};
use freehold::rcu::{self, Guard};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::mem::ManuallyDrop;

thread_local! {
    /// The guard of the outermost section. Without a drop: a thread that ends inside a section keeps what it may see.
    static OUTERMOST: RefCell<Option<ManuallyDrop<Guard<'static>>>> = const { RefCell::new(None) };
    /// Sections that this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Takes the memory that a thread needs for its first read section or look-up of a shared handle, which would abort without it.
///
/// Any thread, for itself. Cost: one allocation, the first time.
///
/// @return FH_OK; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_thread_register() -> c_int {
    attempt!(rcu::register().map_err(|_| fh_error::FH_ENOMEM));
    fh_error::FH_OK as c_int
}

/// Enters a read section of this thread. Until fh_read_exit, what a look-up of a shared space or tree returns is not reused, if
/// whoever removes it calls fh_synchronize before it frees it. Sections nest.
///
/// A section delays writers' memory, never writers. A thread that ends inside a section never leaves it: fh_synchronize then waits for
/// ever. Any thread. Cost: a nanosecond.
///
/// @return FH_OK; FH_EINVAL: more than 2^32 - 1 sections
#[unsafe(no_mangle)]
pub extern "C" fn fh_read_enter() -> c_int {
    let depth = DEPTH.get();
    let Some(more) = depth.checked_add(1) else { return fh_error::FH_EINVAL as c_int };
    if depth == 0 {
        OUTERMOST.with_borrow_mut(|outermost| *outermost = Some(ManuallyDrop::new(rcu::read())));
    }
    DEPTH.set(more);
    fh_error::FH_OK as c_int
}

/// Leaves the innermost read section of this thread.
///
/// Any thread. Cost: a nanosecond.
///
/// @return FH_OK; FH_ENOENT: this thread is in none
#[unsafe(no_mangle)]
pub extern "C" fn fh_read_exit() -> c_int {
    let depth = DEPTH.get();
    let Some(less) = depth.checked_sub(1) else { return fh_error::FH_ENOENT as c_int };
    DEPTH.set(less);
    if less == 0 {
        OUTERMOST.with_borrow_mut(Option::take).map(ManuallyDrop::into_inner);
    }
    fh_error::FH_OK as c_int
}

/// Waits until every read section that was entered before the call has been left, and every fh_tree_snapshot that there was has
/// ended. Then what was removed before the call can be freed: nobody sees it any more.
///
/// Any thread; one that is to end a snapshot waits for itself, for ever. Cost: a barrier on all threads of the process, some microseconds, and the wait.
///
/// @return FH_OK; FH_EREADING: this thread is in a section itself; FH_ESYSTEM: the system refuses the barrier
#[unsafe(no_mangle)]
pub extern "C" fn fh_synchronize() -> c_int {
    if DEPTH.get() > 0 {
        return fh_error::FH_EREADING as c_int;
    }
    attempt!(rcu::synchronize().map_err(Failure::from));
    fh_error::FH_OK as c_int
}

/// Makes readers use fences, for a program that installs a seccomp filter without membarrier. Call it before threads start.
///
/// Any thread. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn fh_use_fences() {
    rcu::use_fences();
}
