//! The report: one HTML file that needs nothing else, with plots to look at.
//!
//! ```text
//!   write ── page ── summary     what is compared, the key figures
//!              ├──── growth      work against live objects
//!              ├──── kva         each workload: space (pictures), series (what the plots show)
//!              └──── table       the printed tables, the notes
//!   plot, image, axis, palette, escape    what the sections are drawn with
//! ```

mod axis;
mod escape;
mod growth;
mod image;
mod kva;
mod page;
mod palette;
mod plot;
mod series;
mod space;
mod summary;
mod table;
#[cfg(test)]
mod tests;

use crate::measure::{GrowthPoint, Replay};
use crate::output::{Environment, Table};
use anyhow::Context;
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

/// Writes the report, and makes the folders that it lies in. The same input gives the same bytes.
///
/// # Errors
/// A folder cannot be made, or the file cannot be written.
pub fn write(file: &Path, input: &Input<'_>) -> anyhow::Result<()> {
    let page = page::render(input)?;
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    std::fs::write(file, page).with_context(|| format!("writing {}", file.display()))
}
