//! Threads that the library starts for itself. `std` takes memory for each beside its closure, and aborts where there is
//! none; here that is an error, as it is for every other call.

use crate::SysError;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A running thread. If it is dropped without [`join`](Self::join), the thread goes on by itself.
#[derive(Debug)]
pub struct Thread(inner::Thread);

/// Starts a thread that does `work`. Tools show its `name`, unless that has more than 15 bytes. If `work` panics, the thread ends.
///
/// Cost: a thread, and an allocation if `work` holds something.
///
/// # Errors
/// The system has no memory for a thread, or its limit is reached.
pub fn start(name: &'static CStr, work: impl FnOnce() + Send + 'static) -> Result<Thread, SysError> {
    // As `std` has it: the work is gone with its thread, and what it shares is behind locks that a panic poisons.
    let work = move || drop(catch_unwind(AssertUnwindSafe(work)));
    inner::Thread::start(name, work).map(Thread)
}

impl Thread {
    /// Waits for the end of the thread.
    pub fn join(self) {
        self.0.join();
    }
}

#[cfg(target_os = "linux")]
mod inner {
    use crate::SysError;
    use core::ffi::{CStr, c_void};
    use core::mem::{ManuallyDrop, MaybeUninit};
    use core::ptr;

    /// Neither joined nor detached.
    #[derive(Debug)]
    pub(super) struct Thread(libc::pthread_t);

    // Some systems' `pthread_t` is a pointer.
    // SAFETY: any thread may join or detach another, and a shared reference does nothing.
    unsafe impl Send for Thread {}
    // SAFETY: as above.
    unsafe impl Sync for Thread {}

    impl Thread {
        pub(super) fn start<W: FnOnce() + Send + 'static>(
            name: &'static CStr,
            work: W,
        ) -> Result<Self, SysError> {
            // A box of one whose memory may be refused.
            let mut all = Vec::new();
            let no_memory = |_| SysError { call: "malloc", errno: libc::ENOMEM };
            all.try_reserve_exact(1).map_err(no_memory)?;
            all.push(work);
            let work = Box::into_raw(all.into_boxed_slice());
            let mut thread = MaybeUninit::uninit();
            // SAFETY: no attributes are the default ones; `run` takes this box, which is given up here.
            let errno =
                unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), run::<W>, work.cast()) };
            if errno != 0 {
                // SAFETY: there is no thread, so nobody has taken the box.
                drop(unsafe { Box::from_raw(work) });
                return Err(SysError { call: "pthread_create", errno });
            }
            // SAFETY: the call has succeeded, so it has written the thread.
            let thread = unsafe { thread.assume_init() };
            // A name that is refused is only not shown.
            // SAFETY: the thread is neither joined nor detached; the name ends with a zero.
            unsafe { libc::pthread_setname_np(thread, name.as_ptr()) };
            Ok(Self(thread))
        }

        pub(super) fn join(self) {
            // SAFETY: the thread is neither joined nor detached, which the drop would do.
            unsafe { libc::pthread_join(ManuallyDrop::new(self).0, ptr::null_mut()) };
        }
    }

    impl Drop for Thread {
        fn drop(&mut self) {
            // SAFETY: the thread is neither joined nor detached.
            unsafe { libc::pthread_detach(self.0) };
        }
    }

    extern "C" fn run<W: FnOnce()>(work: *mut c_void) -> *mut c_void {
        // SAFETY: `start` gave up this box of one for this one call.
        let all = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(work.cast::<W>(), 1)) };
        all.into_iter().for_each(|work| work());
        ptr::null_mut()
    }
}

#[cfg(not(target_os = "linux"))]
mod inner {
    use crate::SysError;
    use std::ffi::CStr;
    use std::thread::{Builder, JoinHandle};

    #[derive(Debug)]
    pub(super) struct Thread(JoinHandle<()>);

    impl Thread {
        pub(super) fn start(
            name: &'static CStr,
            work: impl FnOnce() + Send + 'static,
        ) -> Result<Self, SysError> {
            let builder = Builder::new().name(name.to_string_lossy().into_owned());
            let refused =
                |error: std::io::Error| SysError { call: "thread", errno: error.raw_os_error().unwrap_or(0) };
            builder.spawn(work).map(Self).map_err(refused)
        }

        pub(super) fn join(self) {
            let _ = self.0.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::start;
    use std::sync::mpsc::channel;

    #[test]
    fn work_is_done_before_the_join_returns() {
        let (done, was_done) = channel();
        let thread = start(c"worker", move || done.send(7).unwrap()).unwrap();
        thread.join();
        assert_eq!(was_done.try_recv(), Ok(7));
    }

    #[test]
    fn a_thread_that_is_dropped_goes_on() {
        let (go, wait) = channel::<()>();
        let (done, was_done) = channel();
        drop(start(c"worker", move || done.send(wait.recv()).unwrap()).unwrap());
        go.send(()).unwrap();
        assert_eq!(was_done.recv(), Ok(Ok(())));
    }

    #[test]
    fn a_panic_ends_the_thread_alone() {
        let (done, was_done) = channel::<()>();
        let work = move || {
            let _done = done;
            panic!("for the test");
        };
        start(c"worker", work).unwrap().join();
        assert!(was_done.recv().is_err());
    }
}
