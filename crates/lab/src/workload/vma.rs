//! Recorded programs: their calls on address spaces, and their trees.

use super::Workload;
use crate::family::Maple;
use crate::kind::Kind;
use freehold_trace::TraceError;
use freehold_trace::vma::Recording;
use std::path::Path;

/// A trace of calls as a workload, or what was traced of the functions of the kernel's trees.
///
/// # Errors
/// The file cannot be read as such a trace.
pub fn from_file(file: &Path) -> Result<Workload<Maple>, TraceError> {
    let of_trees = Kind::of(file)? == Kind::TreeEvents;
    let recording = if of_trees { Recording::read_trees(file)? } else { Recording::read(file)? };
    let Recording { header, kinds, ops, at_ns, skipped } = recording;
    let objects = ops.iter().map(|op| op.space.saturating_add(1)).max().unwrap_or(0);
    let title = header.title();
    let description = if header.description.is_empty() { header.workload } else { header.description };
    let workload = Workload::new(title, description, kinds, ops, objects);
    Workload { at_ns: Some(at_ns), skipped: skipped.into_iter().collect(), ..workload }.of_file(file)
}
