//! The report: one HTML file that needs nothing else, with plots to look at.
//!
//! ```text
//!   write ── page ── summary     what is compared, the key figures
//!              ├──── growth      work against live objects
//!              ├──── replayed    each workload: series (what the plots show), drawn (what its family adds)
//!              ├──── section     other families
//!              └──── table       the printed tables, the notes
//!
//!   write_study ── study ── section   what a publication says beside what was measured
//!                             ├──── plot, bars, histogram, table
//!                             ├──── strip     a space or chunks that fill up, over time
//!                             ├──── film      a process's address space over time
//!                             └──── tree      a search tree before and after
//!
//!   plot, image, axis, palette, escape    what the sections are drawn with
//! ```

mod axis;
pub(crate) mod bars;
mod drawn;
mod escape;
pub(crate) mod film;
mod growth;
pub(crate) mod histogram;
mod image;
mod page;
mod palette;
pub(crate) mod plot;
mod replayed;
pub(crate) mod section;
mod series;
pub(crate) mod strip;
mod study;
mod summary;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use crate::measure::GrowthPoint;
use crate::output::{Environment, Table};
use anyhow::Context;
use std::path::Path;

pub(crate) use drawn::Drawn;
pub use replayed::Replayed;
pub use section::{Key, Section};
pub use study::{Described, Study};

/// What a report shows.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Where it was measured.
    pub environment: &'a Environment,
    /// Each workload with its engines.
    pub replays: &'a [Replayed],
    /// Work at growing sizes; may be empty.
    pub growth: &'a [GrowthPoint],
    /// What other families of engines have to show, with their tables; may be empty.
    pub sections: &'a [Section],
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
    save(file, &page::render(input)?)
}

/// Writes the page of a publication, as [`write()`] does.
///
/// # Errors
/// As [`write()`].
pub fn write_study(
    file: &Path,
    study: &Study,
    environment: &Environment,
    notes: &[String],
) -> anyhow::Result<()> {
    save(file, &study::render(study, environment, notes)?)
}

/// The number of an engine's colour, the same in every report.
pub(crate) fn colour(label: &str) -> usize {
    palette::Palette::known().colour(label).unwrap_or(0)
}

fn save(file: &Path, page: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    std::fs::write(file, page).with_context(|| format!("writing {}", file.display()))
}
