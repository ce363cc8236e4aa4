//! Work on a thread of its own, without the GIL, which Ctrl-C ends.
//!
//! The caller waits with the GIL released and looks for signals every 50 ms. A signal sets the flag that the work checks at every
//! batch, and interrupts a class in Python that the work has called; the exception is raised when the work has ended. A panic of the
//! work becomes `freehold.InternalError`.
//!
//! While the interpreter ends, Python ends each thread that asks for the GIL. That unwinds the thread through Rust's frames, which
//! aborts the process. So [`end_runs`], which Python calls before that, stops work that calls classes in Python. Who waits for such
//! work is a daemon thread, since Python has waited for all others; it goes no further.

use crate::errors::raise;
use freehold_lab::stop;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use std::os::unix::thread::JoinHandleExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How long a signal may wait.
const LOOK: Duration = Duration::from_millis(50);
/// How long the end of the process waits for work that does not stop: a class that waits in C, or catches `KeyboardInterrupt`.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of the work's stack, as the program has them.
const STACK: usize = 8 << 20;

/// Work that is being done.
#[derive(Clone)]
struct Run {
    /// A child of `fork` has none of its parent's threads.
    process: u32,
    thread: u64,
    stops: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
}

struct Runs {
    /// Work that calls classes in Python.
    calling: Vec<Run>,
    /// The thread that ends the process.
    ends: Option<ThreadId>,
}

/// It is locked under the GIL alone, so no `fork` falls into that.
static RUNS: Mutex<Runs> = Mutex::new(Runs { calling: Vec::new(), ends: None });

fn runs(_: Python<'_>) -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops a thread for good if another one ends the process.
fn stay(py: Python<'_>) {
    if runs(py).ends.is_some_and(|ends| ends != thread::current().id()) {
        py.detach(|| {
            loop {
                thread::park();
            }
        });
    }
}

impl Run {
    /// Stops the work at its next batch, and what it runs in Python.
    fn stop(&self, py: Python<'_>) {
        // Relaxed: the work reads nothing else on account of it.
        self.stops.store(true, Ordering::Relaxed);
        // A Python without `ctypes` cannot; there a class that never answers is not ended.
        let _ = interrupt(py, self.thread);
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// Does some work, which calls [`stop::check`] now and then, and classes in Python if `calls`. Cost: a thread.
///
/// # Errors
/// A signal's exception, a thread that cannot be started, a panic.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    calls: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    stay(py);
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
    let run = Run { process: process::id(), thread: thread.as_pthread_t(), stops, done };
    if calls {
        runs(py).calling.push(run.clone());
    }
    let mut interrupted = None;
    while !run.is_done() {
        py.detach(|| thread::park_timeout(LOOK));
        if let Err(signal) = py.check_signals() {
            interrupted.get_or_insert(signal);
            run.stop(py);
        }
    }
    runs(py).calling.retain(|other| !Arc::ptr_eq(&other.done, &run.done));
    stay(py);
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

/// Stops work that calls classes in Python: for the end of the process. Cost: up to two seconds if a class does not stop.
#[pyfunction]
pub(crate) fn end_runs(py: Python<'_>) {
    runs(py).ends = Some(thread::current().id());
    let since = Instant::now();
    loop {
        let mut running = runs(py).calling.clone();
        running.retain(|run| run.process == process::id() && !run.is_done());
        if running.is_empty() || since.elapsed() > PATIENCE {
            return;
        }
        running.iter().for_each(|run| run.stop(py));
        py.detach(|| thread::sleep(LOOK));
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
