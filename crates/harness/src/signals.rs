//! The signals that end a program, as something to wait for.
//!
//! ```text
//!   SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ ---> handler ---> one byte into a socket ---> `wait`
//! ```
//!
//! The last two come at the soft limits of CPU time and of file sizes. A write past the latter is then an error (`EFBIG`).
//!
//! The handler serves the whole process, whichever thread gets the signal. A program that is executed has the default actions again.

use crate::last;
use freehold_sys::SysError;
use std::io::{self, Read};
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// What is caught.
const CAUGHT: [(libc::c_int, &str); 6] = [
    (libc::SIGINT, "SIGINT"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
];

/// No [`Signals`] is there.
const NONE: i32 = -1;

/// The descriptor that the handler writes to.
static WRITTEN: AtomicI32 = AtomicI32::new(NONE);

/// A signal that was caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(libc::c_int);

impl Signal {
    /// The one that ends a process at once. It is never caught.
    pub const KILL: Self = Self(libc::SIGKILL);

    /// Its name, such as `SIGINT`.
    #[must_use]
    pub fn name(self) -> &'static str {
        CAUGHT.into_iter().find(|(number, _)| *number == self.0).map_or("SIGKILL", |(_, name)| name)
    }

    /// Its number.
    pub(crate) fn number(self) -> libc::c_int {
        self.0
    }
}

/// Catches the signals that a terminal, a user or a limit sends to end a process, from [`Signals::catch`] until it is dropped. A signal that was
/// ignored before, as under nohup(1), stays ignored.
#[derive(Debug)]
pub struct Signals {
    read: UnixStream,
    // The handler writes to it.
    _write: UnixStream,
    before: Vec<(libc::c_int, libc::sigaction)>,
}

extern "C" fn pass_on(signal: libc::c_int) {
    // Acquire: pairs with the stores of `catch` and of the drop.
    let descriptor = WRITTEN.load(Ordering::Acquire);
    // SAFETY: `write` may be called by a handler. It changes `errno`, which the interrupted code may still want to read.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        // Numbers of signals are below 65. A full socket has a signal already.
        libc::write(descriptor, ptr::from_ref(&(signal as u8)).cast(), 1);
        *errno = kept;
    }
}

impl Signals {
    /// Catches them from now on.
    ///
    /// # Errors
    /// There is one already (`EBUSY`), or no descriptors are left.
    pub fn catch() -> Result<Self, SysError> {
        let (read, write) = UnixStream::pair().map_err(|error| failed("socketpair", &error))?;
        write.set_nonblocking(true).map_err(|error| failed("fcntl", &error))?;
        // Release: pairs with the load of the handler.
        WRITTEN
            .compare_exchange(NONE, write.as_raw_fd(), Ordering::Release, Ordering::Relaxed)
            .map_err(|_| SysError { call: "sigaction", errno: libc::EBUSY })?;
        let mut signals = Self { read, _write: write, before: Vec::new() };
        let handler: extern "C" fn(libc::c_int) = pass_on;
        for (signal, _) in CAUGHT {
            // SAFETY:
            // - A zeroed action is an action without mask.
            // - The handler only loads an atomic and writes to a descriptor, which a handler may.
            let (before, status) = unsafe {
                let (mut action, mut before): (libc::sigaction, libc::sigaction) = mem::zeroed();
                let mut status = libc::sigaction(signal, ptr::null(), &raw mut before);
                if status == 0 && before.sa_sigaction != libc::SIG_IGN {
                    action.sa_sigaction = handler as usize;
                    action.sa_flags = libc::SA_RESTART;
                    status = libc::sigaction(signal, &raw const action, ptr::null_mut());
                }
                (before, status)
            };
            if status != 0 {
                return Err(last("sigaction"));
            }
            signals.before.push((signal, before));
        }
        Ok(signals)
    }

    /// Waits for a signal, `timeout` at most; `None` if none came.
    ///
    /// # Errors
    /// `timeout` is 0.
    pub fn wait(&self, timeout: Duration) -> Result<Option<Signal>, SysError> {
        self.read.set_read_timeout(Some(timeout)).map_err(|error| failed("setsockopt", &error))?;
        let mut signal = [0];
        match (&self.read).read_exact(&mut signal) {
            Ok(()) => Ok(Some(Signal(libc::c_int::from(signal[0])))),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(error) => Err(failed("read", &error)),
        }
    }
}

/// Gives these signals their default effect again, in this process and in the programs that it starts. For tests that send
/// signals: whoever started them may ignore some, as nohup(1) does.
pub fn set_default() {
    for (signal, _) in CAUGHT {
        // SAFETY: the default action runs nothing of this process.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, before) in &self.before {
            // SAFETY: the action is the one that was there before.
            unsafe { libc::sigaction(*signal, before, ptr::null_mut()) };
        }
        // Release: as in `catch`. A handler that still runs writes to the descriptor before it is closed, or fails.
        WRITTEN.store(NONE, Ordering::Release);
    }
}

fn failed(call: &'static str, error: &io::Error) -> SysError {
    SysError { call, errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_waited_for() {
        // Whoever starts the tests may ignore some, as nohup(1) does.
        for (number, _) in CAUGHT {
            // SAFETY: the default action of a signal that nobody sends yet.
            unsafe { libc::signal(number, libc::SIG_DFL) };
        }
        let signals = Signals::catch().unwrap();
        assert_eq!(Signals::catch().unwrap_err().errno, libc::EBUSY);
        assert_eq!(signals.wait(Duration::from_millis(1)).unwrap(), None);
        for (number, name) in CAUGHT {
            // SAFETY: a signal that has a handler, to this process.
            assert_eq!(unsafe { libc::kill(libc::getpid(), number) }, 0);
            assert_eq!(signals.wait(Duration::from_secs(60)).unwrap().unwrap().name(), name);
        }
        drop(signals);
        assert_eq!(Signals::catch().unwrap().before.len(), CAUGHT.len());
    }
}
