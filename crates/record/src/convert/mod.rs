//! Events and snapshots become rows of a trace.

use crate::Error;
use crate::event::Event;
use crate::folder::Meta;
use crate::snapshot::Snapshots;
use std::io::Write;

/// What became of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events read.
    pub events: u64,
    /// Rows written.
    pub rows: u64,
    /// Events lost while recording.
    pub lost: u64,
    /// Frees and changes of what was there before the recording and is not known.
    pub unknown: u64,
    /// Frees that were not seen: the place was handed out again.
    pub implied_frees: u64,
    /// Differences between what is live after the last event and the last snapshot; nothing without such a snapshot.
    pub differences: Option<u64>,
    /// What is missing or odd, a sentence each.
    pub warnings: Vec<String>,
}

/// Writes a whole trace of these events, which come in order of time.
///
/// # Errors
/// An event cannot be read, or `out` not be written.
pub fn convert(
    meta: &Meta,
    snapshots: &Snapshots,
    events: impl Iterator<Item = Result<Event, Error>>,
    out: &mut impl Write,
) -> Result<Summary, Error> {
    let _ = (meta, snapshots, out);
    let mut summary = Summary::default();
    for event in events {
        event?;
        summary.events += 1;
    }
    Ok(summary)
}
