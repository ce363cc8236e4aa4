//! The error of a system call.

use std::fmt;
use std::io;

/// A failed call: its name, and the system's number for the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SysError {
    /// The call, by its name in the manual.
    pub call: &'static str,
    /// `errno`, such as `ENOMEM`.
    pub errno: i32,
}

impl SysError {
    /// The error of `call`, which failed just now on this thread.
    #[cfg(not(any(miri, not(target_os = "linux"))))]
    pub(crate) fn last(call: &'static str) -> Self {
        Self { call, errno: io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
    }

    /// `call` was refused because its arguments make no sense.
    pub(crate) const fn invalid(call: &'static str) -> Self {
        Self { call, errno: libc::EINVAL }
    }

    /// Whether memory or address space is lacking, so that the same call may succeed later.
    #[must_use]
    pub const fn is_out_of_memory(self) -> bool {
        self.errno == libc::ENOMEM || self.errno == libc::EAGAIN
    }

    /// Whether the call is refused in general, by a kernel that lacks it or a filter that forbids it: `ENOSYS`,
    /// `EPERM`, `EACCES`, `EINVAL`, `ENOTTY`. All lead to the same fallback.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        matches!(self.errno, libc::ENOSYS | libc::EPERM | libc::EACCES | libc::EINVAL | libc::ENOTTY)
    }
}

impl fmt::Display for SysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, io::Error::from_raw_os_error(self.errno))
    }
}

impl std::error::Error for SysError {}
