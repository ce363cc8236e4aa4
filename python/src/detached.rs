//! Work on a thread of its own, without the GIL, which Ctrl-C ends.
//!
//! The caller waits with the GIL released and looks for signals every 50 ms. A signal sets the flag that the work checks at every
//! batch, and interrupts a class in Python that the work has called; the exception is raised when the work has ended. A panic of the
//! work becomes `freehold.InternalError`.

use crate::errors::raise;
use freehold_lab::stop;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use std::os::unix::thread::JoinHandleExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How long a signal may wait.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of the work's stack, as the program has them.
const STACK: usize = 8 << 20;

/// Does some work, which calls [`stop::check`] now and then. Cost: a thread.
///
/// # Errors
/// A signal's exception, a thread that cannot be started, a panic.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (stops, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let caller = thread::current();
    let (flag, ended) = (Arc::clone(&stops), Arc::clone(&done));
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(|| stop::until(flag, work)));
        // Pairs with the Acquire of the caller, which then joins at once.
        ended.store(true, Ordering::Release);
        caller.unpark();
        result
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(body)?;
    let mut interrupted = None;
    while !done.load(Ordering::Acquire) {
        py.detach(|| thread::park_timeout(LOOK));
        if let Err(signal) = py.check_signals() {
            // Relaxed: the work reads nothing else on account of it.
            stops.store(true, Ordering::Relaxed);
            interrupted.get_or_insert(signal);
            // A Python without `ctypes` cannot; there a class that never answers is not ended.
            let _ = interrupt(py, thread.as_pthread_t());
        }
    }
    let result = py.detach(|| thread.join());
    if let Some(signal) = interrupted {
        return Err(signal);
    }
    match result.and_then(|caught| caught) {
        Ok(Ok(made)) => Ok(made),
        Ok(Err(stop::Stopped)) => Err(raise("RunError", "the run was stopped")),
        Err(panic) => Err(raise("InternalError", said(&*panic))),
    }
}

/// Raises `KeyboardInterrupt` in what a thread runs in Python; nothing happens if it runs none.
fn interrupt(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let thread = ctypes.getattr("c_ulong")?.call1((thread,))?;
    let exception = ctypes.getattr("py_object")?.call1((py.get_type::<PyKeyboardInterrupt>(),))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, exception)).map(drop)
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
