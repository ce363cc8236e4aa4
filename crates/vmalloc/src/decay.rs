//! The thread that gives idle memory back: what was free throughout a window was needed by nobody.
//!
//! ```text
//!   free   |  *                    *                 least in the window: idle, given back at its end
//!   memory |     *     *   *   *
//!          +--------+---------------+-----> eight looks to a window
//! ```

use crate::error::BuildError;
use crate::residency::Residency;
use crate::scrub::Scrub;
use freehold_sys::fork;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Looks in a window.
const LOOKS: u32 = 8;

/// Runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Decay {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
    /// Of the process whose thread it is: a child of `fork` has none.
    generation: u64,
}

impl Decay {
    pub(crate) fn start(memory: &Arc<Scrub>, window: Duration) -> Result<Self, BuildError> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let (of_thread, memory) = (Arc::clone(&stop), Arc::clone(memory));
        let pause = (window / LOOKS).max(Duration::from_millis(1));
        let thread = std::thread::Builder::new().name("freehold-decay".to_owned());
        let thread = thread
            .spawn(move || run(&memory.residency, &of_thread, pause))
            .map_err(|_| BuildError::Thread)?;
        Ok(Self { stop, thread: Some(thread), generation: fork::generation() })
    }
}

impl Drop for Decay {
    fn drop(&mut self) {
        if fork::generation() != self.generation {
            // There is nobody to wait for, nor to unlock what the thread may have locked.
            std::mem::forget(self.thread.take());
            return;
        }
        *lock(&self.stop.0) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was an invariant that it named.
            let _ = thread.join();
        }
    }
}

/// A thread waits here without a section: forks do not wait for it, and a child has no use for the lock.
fn lock(stop: &Mutex<bool>) -> MutexGuard<'_, bool> {
    stop.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(residency: &Residency, (stop, stopped): &(Mutex<bool>, Condvar), pause: Duration) {
    // Nothing was idle before the first window has passed.
    let mut looks = [0; LOOKS as usize];
    for number in (0..LOOKS as usize).cycle() {
        let guard = lock(stop);
        let waited = stopped.wait_timeout_while(guard, pause, |stop| !*stop);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
        looks[number] = residency.resident.bytes();
        let idle = looks.iter().copied().min().unwrap_or(0);
        if idle > 0 {
            // What is refused is counted, and tried again when it has been idle for another window.
            let _ = residency.release(idle);
            looks.iter_mut().for_each(|look| *look -= idle);
        }
    }
}
