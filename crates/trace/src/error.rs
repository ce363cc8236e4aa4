//! What is wrong with a file, and where.

use std::path::{Path, PathBuf};

/// A file that cannot be read as what it should be.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened.
    #[error("{}: {reason}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// Why not.
        reason: std::io::Error,
    },
    /// A line cannot be read: the file is damaged, or ends in the middle.
    #[error("{}:{line}: {reason}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A record of a file that has no lines cannot be read.
    #[error("{}: record {record}: {reason}", file.display())]
    Record {
        /// The file.
        file: PathBuf,
        /// The record, from 1.
        record: u64,
        /// What is wrong with it.
        reason: String,
    },
}

impl TraceError {
    /// An error at a line.
    pub fn at(file: &Path, line: u64, reason: impl Into<String>) -> Self {
        Self::Line { file: file.to_owned(), line, reason: reason.into() }
    }
}
