//! Ends a run from outside, as Ctrl-C in a notebook does.
//!
//! The caller hands over a flag, and whoever wants the run to end sets it. The run looks at the flag at every batch and then unwinds,
//! so everything between the batch and the caller is dropped as after a return. No run leaves half of a file behind, so nothing
//! else is needed.
//!
//! Cost: one load at a batch.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The flag of the run on this thread.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// The run was asked to end, and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Runs something that ends at its next batch once `stop` is set.
///
/// # Errors
/// It was set before the run was done.
pub fn until<T>(stop: Arc<AtomicBool>, run: impl FnOnce() -> T) -> Result<T, Stopped> {
    let before = STOP.replace(Some(stop));
    // The run's own values are gone when it has unwound.
    let ran = catch_unwind(AssertUnwindSafe(run));
    STOP.set(before);
    ran.or_else(|cause| if cause.is::<Stopped>() { Err(Stopped) } else { resume_unwind(cause) })
}

/// A batch begins: ends the run if that was asked for.
pub fn check() {
    // Relaxed: nothing else is read on account of it.
    let stops = STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)));
    if stops {
        // No panic, and said by no hook.
        resume_unwind(Box::new(Stopped));
    }
}
