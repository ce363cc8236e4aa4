//! File systems of the kernel that are mounted for this process alone, at no place.
//!
//! The mount is reached by its descriptor, `/proc/self/fd/N/...`. It ends with the last descriptor and file of it, so a process that is
//! killed leaves nothing mounted.
//!
//! Source: the manuals of fsopen(2) and fsmount(2).

use crate::last;
use freehold_sys::SysError;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;

/// `FSOPEN_CLOEXEC`, `FSMOUNT_CLOEXEC`, and the command that makes the file system.
const CLOSE_ON_EXEC: libc::c_uint = 1;
const CREATE: libc::c_uint = 6;

/// A mounted file system.
#[derive(Debug)]
pub struct Mount(OwnedFd);

impl Mount {
    /// Mounts a file system of this name, such as `tracefs`.
    ///
    /// # Errors
    /// The kernel lacks it, or the calls (Linux 5.2), or this user may not mount.
    pub fn new(file_system: &CStr) -> Result<Self, SysError> {
        // SAFETY: the call reads the name and returns a descriptor, or an error.
        let context = unsafe { libc::syscall(libc::SYS_fsopen, file_system.as_ptr(), CLOSE_ON_EXEC) };
        let context = owned(context, "fsopen")?;
        let none = std::ptr::null::<libc::c_char>();
        // SAFETY: the command takes neither key nor value.
        let done = unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), CREATE, none, none, 0) };
        if done != 0 {
            return Err(last("fsconfig"));
        }
        // SAFETY: the call takes numbers and returns a descriptor, or an error.
        let mount = unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOSE_ON_EXEC, 0) };
        owned(mount, "fsmount").map(Self)
    }

    /// Where its root is for all threads of this process, as long as the mount is there.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// The descriptor that a call returned.
fn owned(returned: libc::c_long, call: &'static str) -> Result<OwnedFd, SysError> {
    match i32::try_from(returned) {
        // SAFETY: the call has just made the descriptor, and nothing else has it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(last(call)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_seen_by_this_process_alone_and_ends() {
        let before = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mount = match Mount::new(c"tracefs") {
            Ok(mount) => mount,
            Err(error) => return eprintln!("not run: tracefs cannot be mounted: {error}"),
        };
        let path = mount.path();
        assert!(path.join("events").is_dir());
        assert_eq!(std::fs::read_to_string("/proc/self/mounts").unwrap(), before);
        drop(mount);
        assert!(!path.join("events").is_dir());
    }

    #[test]
    fn what_the_kernel_lacks_is_an_error() {
        assert!(matches!(Mount::new(c"no such").unwrap_err().call, "fsopen"));
    }
}
