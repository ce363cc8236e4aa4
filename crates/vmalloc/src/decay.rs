//! The thread that decommits idle memory: memory that was free throughout a window.
//!
//! ```text
//!   free   |  *                    *                 least in the window: idle, given back at its end
//!   memory |     *     *   *   *
//!          +--------+---------------+-----> eight looks to a window
//! ```

use crate::error::BuildError;
use crate::scrub::Scrub;
use freehold_sys::fork::{self, Section};
use freehold_sys::thread::{self, Thread};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Samples per window.
const LOOKS: u32 = 8;

/// Runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Decay {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<Thread>,
    /// The process that the thread belongs to: a child of `fork` has no such thread.
    generation: u64,
}

impl Decay {
    pub(crate) fn start(memory: &Arc<Scrub>, window: Duration) -> Result<Self, BuildError> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let (of_thread, memory) = (Arc::clone(&stop), Arc::downgrade(memory));
        let pause = (window / LOOKS).max(Duration::from_millis(1));
        let thread = thread::start(c"freehold-decay", move || run(&memory, &of_thread, pause))
            .map_err(|_| BuildError::Thread)?;
        Ok(Self { stop, thread: Some(thread), generation: fork::generation() })
    }
}

impl Drop for Decay {
    fn drop(&mut self) {
        if fork::generation() != self.generation {
            // In a child there is no thread to join, and nobody unlocks a lock that the thread held.
            std::mem::forget(self.thread.take());
            return;
        }
        *lock(&self.stop.0) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

/// Takes the lock without a section, as the thread waits here: forks do not wait for it, and a child does not use the
/// lock.
fn lock(stop: &Mutex<bool>) -> MutexGuard<'_, bool> {
    stop.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(memory: &Weak<Scrub>, (stop, stopped): &(Mutex<bool>, Condvar), pause: Duration) {
    // Nothing counts as idle before the first window has passed.
    let mut looks = [0; LOOKS as usize];
    for number in (0..LOOKS as usize).cycle() {
        let guard = lock(stop);
        let waited = stopped.wait_timeout_while(guard, pause, |stop| !*stop);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
        // Kept in a section alone: a child of `fork` never drops what this thread has.
        let _section = Section::enter();
        let Some(memory) = memory.upgrade() else { return };
        let residency = &memory.residency;
        looks[number] = residency.resident.bytes();
        let idle = looks.iter().copied().min().unwrap_or(0);
        if idle > 0 {
            // A refused decommit is counted, and tried again after the memory was idle for another window.
            let _ = residency.release(idle);
            looks.iter_mut().for_each(|look| *look -= idle);
        }
    }
}
