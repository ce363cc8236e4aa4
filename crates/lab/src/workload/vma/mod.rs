//! Recorded programs: their calls on address spaces, and their trees.

mod files;
mod proc_maps;
mod tree_events;

pub use files::from_file;
pub use proc_maps::{Difference, Listed, compare, read_maps};
pub use tree_events::{tree_call, tree_from_file};

use super::Workload;
use crate::engine::vma::{Kinds, Op, Scene};
use crate::family::Maple;
use freehold_trace::{TraceError, TraceHeader};
use std::collections::BTreeMap;
use std::path::Path;

/// What was read of a recording.
#[derive(Default)]
struct Read {
    ops: Vec<Op>,
    at_ns: Vec<u64>,
    /// Events that are no operation, and why.
    skipped: BTreeMap<&'static str, u64>,
}

impl Read {
    fn push(&mut self, at_ns: u64, op: Op) {
        self.ops.push(op);
        self.at_ns.push(at_ns);
    }

    fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    fn workload(
        self,
        file: &Path,
        header: &TraceHeader,
        kinds: Kinds,
    ) -> Result<Workload<Maple>, TraceError> {
        let objects = self.ops.iter().map(|op| op.space.saturating_add(1)).max().unwrap_or(0);
        let description = if header.description.is_empty() { &header.workload } else { &header.description };
        let workload = Workload {
            at_ns: Some(self.at_ns),
            skipped: self.skipped.into_iter().collect(),
            ..Workload::new(header.title(), description, Scene { kinds }, self.ops, objects)
        };
        workload.of_file(file)
    }
}
