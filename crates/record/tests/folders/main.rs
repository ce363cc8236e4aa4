//! Folders of raw bytes become the traces that they should: golden ones of four kernels, random ones, damaged ones.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod damaged;
mod dat;
mod golden;
mod kernels;
mod pages;
mod random;

use freehold_record::Error;
use freehold_record::convert::Summary;
use freehold_record::import::{Options, import};
use std::path::Path;

/// Imports a folder or file.
pub(crate) fn imported(file: &Path) -> Result<(String, Summary), Error> {
    let mut out = Vec::new();
    let summary = import(&[file.to_owned()], &Options::default(), &mut out)?;
    Ok((String::from_utf8(out).unwrap(), summary))
}

/// The file `recording`.
pub(crate) fn recording(kind: &str, release: &str, more: &str) -> String {
    format!(
        "#freehold-recording v1\nkind={kind}\nrelease={release}\narch=x86_64\npagesize=4096\npossible=2\nonline=2\n\
         cmdline=quiet\nclock=mono\nstart_ns=1000\nend_ns=900000\npools=drained\ncommand=/bin/storm -n 3\n\
         source=tracefs\n{more}"
    )
}
