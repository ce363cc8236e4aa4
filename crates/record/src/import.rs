//! A file or folder of any kind becomes a trace.

use crate::Error;
use crate::convert::Summary;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What an import is told besides its files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `/proc/vmallocinfo` before and, if there is a second one, after the events.
    pub vmallocinfo: Vec<PathBuf>,
}

/// Reads a recording, whose kind is found from its content, and writes the trace.
///
/// # Errors
/// A file cannot be read as what it is, or `out` not be written.
pub fn import(files: &[PathBuf], options: &Options, out: &mut impl Write) -> Result<Summary, Error> {
    let _ = (options, out);
    let first = files.first().map_or(Path::new(""), PathBuf::as_path);
    Err(Error::unfit(first, "of no known kind"))
}
