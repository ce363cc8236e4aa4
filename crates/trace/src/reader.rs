//! Files read record by record: what all formats share.
//!
//! A format knows how a header and one record are read, and remembers what the reading of the rest needs. Cost: one
//! record of memory, beside what the format remembers.

use crate::{Lines, TraceError};
use std::path::Path;

/// A format of file, as far as a file of it has been read.
pub trait Format: Sized {
    /// What such a file holds.
    type Record;

    /// Reads the header, if it has one.
    ///
    /// # Errors
    /// It is no file of this format.
    fn begin(lines: &mut Lines) -> Result<Self, TraceError>;

    /// Reads the next record; `None` if the file has ended where it may.
    ///
    /// # Errors
    /// The record is malformed, or the file is cut off.
    fn read(&mut self, lines: &mut Lines) -> Result<Option<Self::Record>, TraceError>;
}

/// The records of a file, in order.
pub struct Reader<F> {
    pub(crate) lines: Lines,
    /// What the file said so far.
    pub(crate) format: F,
    ended: bool,
}

impl<F: Format> Reader<F> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// It cannot be opened, or is no file of this format.
    pub fn open(file: &Path) -> Result<Self, TraceError> {
        Self::new(Lines::open(file)?)
    }

    /// Reads the header.
    ///
    /// # Errors
    /// It is no file of this format.
    pub fn new(mut lines: Lines) -> Result<Self, TraceError> {
        let format = F::begin(&mut lines)?;
        Ok(Self { lines, format, ended: false })
    }

    /// The number of the line read last, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// An error at the line read last.
    pub fn error(&self, reason: impl Into<String>) -> TraceError {
        self.lines.error(reason)
    }
}

impl<F: Format> Iterator for Reader<F> {
    type Item = Result<F::Record, TraceError>;

    /// Nothing follows the end or an error.
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let record = self.format.read(&mut self.lines).transpose();
        self.ended = !matches!(record, Some(Ok(_)));
        record
    }
}
