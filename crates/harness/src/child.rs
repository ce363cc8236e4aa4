//! A child process that waits before it executes its program, so that it can be watched from its first system call on.
//!
//! ```text
//!   parent   fork ---- prepares ----> release ------------------------> wait
//!   child         waits for a byte ----------> filter, execvp ---> runs
//!                                                     |
//!                                                     +-> the error's number, if there is one
//! ```

use crate::filter;
use crate::last;
use crate::signals::Signal;
use freehold_sys::SysError;
use std::ffi::{CString, OsString};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// What a shell says if a program cannot be executed.
const NOT_EXECUTED: libc::c_int = 127;

/// A child that was not waited for yet. It stays without its program if this is dropped before [`Child::release`], and ends.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    /// A byte, or its end, lets the child go on.
    go: Option<PipeWriter>,
    /// The number of an error, below zero if it is of the filter; its end comes with the program's first instruction.
    failed: PipeReader,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// With this code.
    Code(i32),
    /// By the signal of this number.
    Signal(i32),
}

impl Ended {
    pub(crate) fn of(status: libc::c_int) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signal(libc::WTERMSIG(status))
        } else {
            Self::Code(libc::WEXITSTATUS(status))
        }
    }
}

impl Child {
    /// Makes a child that is going to execute a command, found as a shell finds it, with the environment of this process.
    ///
    /// # Errors
    /// The command is empty or has a 0 byte (`EINVAL`), or there can be no process.
    pub fn hold(command: &[OsString]) -> Result<Self, SysError> {
        Self::with_filter(command, &mut [])
    }

    /// As [`Child::hold`]; the child installs the filter, if it is not empty.
    pub(crate) fn with_filter(
        command: &[OsString],
        filter: &mut [libc::sock_filter],
    ) -> Result<Self, SysError> {
        let invalid = SysError { call: "execvp", errno: libc::EINVAL };
        let words = command.iter().map(|word| CString::new(word.as_bytes()));
        let words: Vec<CString> = words.collect::<Result<_, _>>().map_err(|_| invalid)?;
        let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
        if pointers.is_empty() {
            return Err(invalid);
        }
        pointers.push(ptr::null());
        let (wait, go) = io::pipe().map_err(|error| failed(&error))?;
        let (told, tell) = io::pipe().map_err(|error| failed(&error))?;
        let ours = [go.as_raw_fd(), told.as_raw_fd()];
        // SAFETY: the child of a process with threads may only make calls that a signal's handler may. `run` makes no others.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(last("fork")),
            // SAFETY: this is the child; the words and their pointers, which end with a null, are in its memory.
            0 => unsafe { run(&pointers, filter, ours, wait.as_raw_fd(), tell.as_raw_fd()) },
            _ => Ok(Self { pid, go: Some(go), failed: told }),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Lets it go on, and returns at once: a child that is traced stops before its program runs.
    pub fn release(&mut self) {
        // A child that is gone by now is waited for as any other.
        self.go.take().map(|mut go| go.write_all(&[1]));
    }

    /// Waits until its program runs.
    ///
    /// # Errors
    /// The program cannot be executed (`execvp`), or filters are not allowed here (`seccomp`). The child ends.
    pub fn executed(&mut self) -> Result<(), SysError> {
        let mut number = [0; 4];
        match self.failed.read_exact(&mut number).map(|()| i32::from_ne_bytes(number)) {
            Ok(errno @ 0..) => Err(SysError { call: "execvp", errno }),
            Ok(errno) => Err(SysError { call: "seccomp", errno: errno.wrapping_neg() }),
            // The end, without a number.
            Err(_) => Ok(()),
        }
    }

    /// How it ended; `None` if it runs. Once it has ended, this may not be asked again.
    ///
    /// # Errors
    /// It was waited for elsewhere.
    pub fn ended(&self) -> Result<Option<Ended>, SysError> {
        let mut status = 0;
        // SAFETY: the call writes to the status.
        match unsafe { libc::waitpid(self.pid, &raw mut status, libc::WNOHANG) } {
            0 => Ok(None),
            pid if pid == self.pid => Ok(Some(Ended::of(status))),
            _ => Err(last("waitpid")),
        }
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// It is gone, or has become another user's.
    pub fn signal(&self, signal: Signal) -> Result<(), SysError> {
        send(self.pid, signal)
    }
}

/// Sends a signal to a process.
pub(crate) fn send(pid: libc::pid_t, signal: Signal) -> Result<(), SysError> {
    // SAFETY: the call takes numbers.
    if unsafe { libc::kill(pid, signal.number()) } == 0 { Ok(()) } else { Err(last("kill")) }
}

/// What the child does until its program runs.
///
/// # Safety
/// - The caller is the child of a `fork`, with one thread.
/// - `words` are C strings and end with a null pointer.
unsafe fn run(
    words: &[*const libc::c_char],
    filter: &mut [libc::sock_filter],
    ours: [libc::c_int; 2],
    wait: libc::c_int,
    tell: libc::c_int,
) -> ! {
    // SAFETY: each of these calls may be made by a signal's handler, and `execvp` by what the caller says of `words`. The child ends or
    // becomes another program, so that nothing of this one is dropped.
    unsafe {
        for descriptor in ours {
            libc::close(descriptor);
        }
        let mut byte = 0_u8;
        let got = loop {
            match libc::read(wait, (&raw mut byte).cast(), 1) {
                -1 if *libc::__errno_location() == libc::EINTR => {}
                got => break got,
            }
        };
        if got != 1 {
            // The parent gave up.
            libc::_exit(0);
        }
        // The standard library ignores it, which a program would inherit.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let filtered = if filter.is_empty() { Ok(0) } else { filter::install_program(filter, 0) };
        let errno = match filtered {
            Ok(_) => {
                libc::execvp(words[0], words.as_ptr());
                *libc::__errno_location()
            }
            Err(error) => -error.errno,
        };
        libc::write(tell, (&raw const errno).cast(), size_of::<libc::c_int>());
        libc::_exit(NOT_EXECUTED)
    }
}

fn failed(error: &io::Error) -> SysError {
    SysError { call: "pipe2", errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;
    use std::time::Duration;

    fn command(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn wait(child: &Child) -> Ended {
        loop {
            match child.ended().unwrap() {
                Some(ended) => return ended,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    #[test]
    fn a_child_waits_and_runs() {
        let mut child = Child::hold(&command(&["sh", "-c", "exit 3"])).unwrap();
        let program = |pid| std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        assert_eq!(program(child.pid()), std::env::current_exe().unwrap());
        assert_eq!(child.ended().unwrap(), None);
        child.release();
        child.executed().unwrap();
        assert_eq!(wait(&child), Ended::Code(3));
    }

    #[test]
    fn what_cannot_be_executed_is_an_error() {
        let mut child = Child::hold(&command(&["/no such program"])).unwrap();
        child.release();
        assert_eq!(child.executed().unwrap_err().errno, libc::ENOENT);
        assert_eq!(wait(&child), Ended::Code(NOT_EXECUTED));
        assert_eq!(Child::hold(&[]).unwrap_err().errno, libc::EINVAL);
        assert_eq!(Child::hold(&command(&["a\0b"])).unwrap_err().errno, libc::EINVAL);
    }

    #[test]
    fn a_filter_that_is_refused_is_told_from_a_program() {
        std::thread::spawn(|| {
            filter::refuse(&[libc::SYS_seccomp], libc::EPERM as u16).unwrap();
            let mut filter = filter::stopping(&[]).unwrap();
            let mut child = Child::with_filter(&command(&["true"]), &mut filter).unwrap();
            child.release();
            assert_eq!(child.executed(), Err(SysError { call: "seccomp", errno: libc::EPERM }));
            assert_eq!(wait(&child), Ended::Code(NOT_EXECUTED));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_child_gets_signals() {
        let mut child = Child::hold(&command(&["sleep", "100"])).unwrap();
        child.release();
        child.executed().unwrap();
        child.signal(Signal::KILL).unwrap();
        assert_eq!(wait(&child), Ended::Signal(libc::SIGKILL));
    }
}
