//! A thread that answers system calls of the other threads of its process as another system would.
//!
//! ```text
//!   filtered thread   madvise(..) ---- waits ----> goes on with the answer
//!                         |                            ^
//!   supervisor            +-> reads number, arguments -+ error, value, or "let the kernel do it"
//! ```
//!
//! The supervisor has no filter, as it was started before. It asks for no memory and takes no lock, as the thread that waits may hold
//! the allocator's.
//!
//! Source: the manual of seccomp_unotify(2).

use crate::{filter, last};
use freehold_sys::SysError;
use std::mem;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// `SECCOMP_IOCTL_NOTIF_RECV` and `SECCOMP_IOCTL_NOTIF_SEND`.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;

/// A call that a thread waits for.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its number, such as `SYS_madvise`.
    pub number: libc::c_long,
    /// Its arguments.
    pub args: [u64; 6],
    thread: libc::pid_t,
}

impl Call {
    /// Copies what an argument points to. False if that is not readable.
    pub fn read(&self, argument: usize, into: &mut [u8]) -> bool {
        let address = self.args[argument] as usize;
        let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: into.len() };
        // SAFETY: the call writes to the buffer, and fails for addresses that are not there.
        let read =
            unsafe { libc::process_vm_readv(self.thread, &raw const local, 1, &raw const remote, 1, 0) };
        usize::try_from(read) == Ok(into.len())
    }

    /// Whether an argument is the address of a text that starts so.
    pub fn starts_with(&self, argument: usize, start: &str) -> bool {
        let mut text = [0; 64];
        let text = &mut text[..start.len().min(64)];
        self.read(argument, text) && text == start.as_bytes()
    }
}

/// What a thread gets for its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What the kernel does.
    Kernel,
    /// An error number.
    Error(libc::c_int),
    /// A value, and nothing is done.
    Value(i64),
}

/// Calls that were answered otherwise than the kernel does.
static ANSWERED: AtomicU64 = AtomicU64::new(0);

/// How many calls were answered otherwise than the kernel does.
#[must_use]
pub fn answered() -> u64 {
    ANSWERED.load(Ordering::Relaxed)
}

/// Has `answer` answer these calls of this thread, and of threads and processes that it makes, as long as the process runs. `answer` may
/// not ask for memory, nor take a lock that others hold over a call.
///
/// # Errors
/// The kernel has no such filters (Linux 5.5), this thread has one already, or there can be no other thread.
pub fn supervise(
    calls: &[libc::c_long],
    answer: impl FnMut(&Call) -> Answer + Send + 'static,
) -> Result<(), SysError> {
    const NONE: i32 = -1;
    const GONE: i32 = -2;
    let listener = Arc::new(AtomicI32::new(NONE));
    let of_thread = Arc::clone(&listener);
    let supervisor = std::thread::Builder::new().name("supervisor".to_owned()).spawn(move || {
        loop {
            // Acquire: pairs with the store below; only the number matters.
            match of_thread.load(Ordering::Acquire) {
                NONE => std::thread::yield_now(),
                GONE => return,
                listener => return serve(listener, answer),
            }
        }
    });
    supervisor
        .map_err(|error| SysError { call: "clone", errno: error.raw_os_error().unwrap_or(libc::EAGAIN) })?;
    let notified = filter::notify(calls);
    // No call before this store waits for the supervisor, which would wait for the store.
    listener.store(*notified.as_ref().unwrap_or(&GONE), Ordering::Release);
    notified.map(drop)
}

/// Answers until nobody is left that could ask.
fn serve(listener: i32, mut answer: impl FnMut(&Call) -> Answer) {
    loop {
        // SAFETY: a notification is numbers, which may be 0; the kernel wants it so.
        let mut asked: libc::seccomp_notif = unsafe { mem::zeroed() };
        // SAFETY: the kernel writes one notification.
        if unsafe { libc::ioctl(listener, RECEIVE as _, &raw mut asked) } != 0 {
            match last("ioctl").errno {
                // Who asked was ended by a signal.
                libc::EINTR | libc::ENOENT => continue,
                _ => return,
            }
        }
        let call = Call {
            number: libc::c_long::from(asked.data.nr),
            args: asked.data.args,
            thread: asked.pid as libc::pid_t,
        };
        let mut reply = libc::seccomp_notif_resp { id: asked.id, val: 0, error: 0, flags: 0 };
        match answer(&call) {
            Answer::Kernel => reply.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            Answer::Error(errno) => reply.error = -errno,
            Answer::Value(value) => reply.val = value,
        }
        if reply.flags == 0 {
            ANSWERED.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the kernel reads the reply. Who asked may be gone by now, which is no matter.
        unsafe { libc::ioctl(listener, SEND as _, &raw mut reply) };
    }
}

/// Whether threads of this process can have a supervisor, tried on one.
#[must_use]
pub fn is_possible() -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    *POSSIBLE.get_or_init(|| {
        let tried = std::thread::spawn(|| supervise(&[libc::SYS_getpriority], |_| Answer::Value(7)).is_ok());
        tried.join().unwrap_or(false)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;

    #[test]
    fn calls_get_the_answers_of_the_supervisor_and_those_of_the_kernel() {
        if !is_possible() {
            return eprintln!("not run: no seccomp filter with a listener can be installed");
        }
        std::thread::spawn(|| {
            supervise(&[libc::SYS_getpriority, libc::SYS_openat], |call| match call.number {
                libc::SYS_getpriority if call.args[1] == 1 => Answer::Value(77),
                libc::SYS_getpriority => Answer::Error(libc::ENOTTY),
                _ if call.starts_with(1, "/proc/") => Answer::Error(libc::ENOENT),
                _ => Answer::Kernel,
            })
            .unwrap();
            // SAFETY: a call that only returns a number, or an error.
            let call = |who: i32| unsafe { libc::syscall(libc::SYS_getpriority, 0, who) };
            assert_eq!(call(1), 77);
            assert_eq!((call(0), last("getpriority").errno), (-1, libc::ENOTTY));
            assert!(std::fs::read("/proc/self/maps").is_err() && std::fs::read("/dev/null").is_ok());
            std::thread::spawn(move || assert_eq!(call(1), 77)).join().unwrap();
            assert!(answered() >= 4);
        })
        .join()
        .unwrap();
    }
}
