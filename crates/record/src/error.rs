//! What is wrong with a recording, and where.

use freehold_trace::TraceError;
use std::io;
use std::path::{Path, PathBuf};

/// A recording that cannot be read or turned into a trace.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened, or a line or record of it is malformed.
    #[error(transparent)]
    File(#[from] TraceError),
    /// The result cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The file is well formed, but no trace can be made of it.
    #[error("{}: {what}", file.display())]
    Unfit {
        /// The file or folder.
        file: PathBuf,
        /// Why not.
        what: String,
    },
    /// An event says what no kernel says.
    #[error("the event at {at} ns: {what}")]
    Odd {
        /// When, in nanoseconds of the recording's clock.
        at: u64,
        /// What is wrong with it.
        what: String,
    },
    /// An event that the kind of recording cannot do without was not recorded.
    #[error("{}: the event {event} is missing: Linux has it from {since} on, and the kernel of this recording is {release}", file.display())]
    MissingEvent {
        /// The file or folder.
        file: PathBuf,
        /// The event, as `system:name`.
        event: String,
        /// The first kernel that has it.
        since: &'static str,
        /// The kernel that was recorded.
        release: String,
    },
}

impl Error {
    /// No trace can be made of the file.
    pub fn unfit(file: &Path, what: impl Into<String>) -> Self {
        Self::Unfit { file: file.to_owned(), what: what.into() }
    }

    /// What makes one of why a file cannot be opened.
    pub(crate) fn open(file: &Path) -> impl FnOnce(io::Error) -> Self {
        |reason| Self::File(TraceError::Open { file: file.to_owned(), reason })
    }

    /// A line of the file is wrong.
    pub fn line(file: &Path, line: u64, what: impl Into<String>) -> Self {
        Self::File(TraceError::at(file, line, what))
    }

    /// A record of a file without lines is wrong.
    pub fn record(file: &Path, record: u64, what: impl Into<String>) -> Self {
        Self::File(TraceError::Record { file: file.to_owned(), record, reason: what.into() })
    }
}
