//! Why a recording failed.

use freehold_sys::SysError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a recording failed. The machine is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The machine, or this user, lacks something. It says what, and what to do.
    #[error("{0}")]
    Lacking(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file of the kernel or of the recording cannot be read or written.
    #[error("{} cannot be {done}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What was to be done with it, as in "cannot be written".
        done: &'static str,
        /// Why not.
        reason: io::Error,
    },
    /// A system call failed.
    #[error(transparent)]
    System(#[from] SysError),
    /// The command cannot be run.
    #[error("the program of {command:?} cannot be run: {reason}")]
    Command {
        /// The command, with its arguments.
        command: String,
        /// Why not.
        reason: io::Error,
    },
}

impl Failure {
    /// What makes one of why a command did not execute its program.
    pub(crate) fn command(command: &str) -> impl FnOnce(SysError) -> Self {
        |error| match error.call {
            "seccomp" => Self::Lacking(format!(
                "calls of a child cannot be stopped at here ({error}): allow seccomp, by the container's profile"
            )),
            _ => Self::Command {
                command: command.to_owned(),
                reason: io::Error::from_raw_os_error(error.errno),
            },
        }
    }

    /// What makes one of why the machine cannot be changed: a file of the kernel cannot be made or written.
    pub(crate) fn change(file: &Path, done: &'static str) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |reason| match reason.kind() {
            io::ErrorKind::PermissionDenied => {
                Self::Lacking(format!("{} cannot be {done} ({reason}): run as root", file.display()))
            }
            io::ErrorKind::ReadOnlyFilesystem => Self::Lacking(format!(
                "{} cannot be {done} ({reason}): mount it for writing, or run outside of the container",
                file.display()
            )),
            _ => Self::File { file, done, reason },
        }
    }

    /// What makes one of an error of a file.
    pub(crate) fn file(file: &Path, done: &'static str) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |reason| Self::File { file, done, reason }
    }
}
