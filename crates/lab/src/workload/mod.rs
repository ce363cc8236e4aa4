//! What engines are driven with: recorded traces, vector files and synthetic workloads, all as operations.

pub mod bench;
mod files;
pub mod maple;
pub mod percpu;
pub mod playback;
mod random;
pub mod recipe;
pub mod suite;
mod synthetic;

use crate::failure::Failure;
use freehold::units::{Align, Span};
use freehold_trace::kva::Op;

pub use files::from_file;
pub use random::SplitMix;
pub use synthetic::{churn, whole_space};

/// Operations to run, and the space to run them in.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its short name.
    pub name: String,
    /// The file it came from.
    pub file: Option<String>,
    /// What it is, for people.
    pub description: String,
    /// The spans that are free at the start.
    pub layout: Vec<Span>,
    /// What sizes and addresses are multiples of.
    pub granule: Align,
    /// Operations that bring about the state to start from; not measured.
    pub setup: Vec<Op>,
    /// The operations that are measured.
    pub ops: Vec<Op>,
    /// When each operation of `ops` happened, in nanoseconds since the recording started.
    pub at_ns: Option<Vec<u64>>,
    /// Objects are named below this.
    pub objects: u32,
    /// Live objects at the start, for a synthetic workload.
    pub n: Option<u64>,
    /// Recorded events that are not replayed: what and how many.
    pub skipped: Vec<(&'static str, u64)>,
}

impl Workload {
    /// One more than the highest object name.
    fn count_objects(ops: &[Op]) -> u32 {
        ops.iter().map(Op::object).max().map_or(0, |object| object.saturating_add(1))
    }
}

/// The workload of that name: a file, or `churn:N` for N live objects.
///
/// # Errors
/// The file cannot be read, or holds nothing to replay.
pub fn named(name: &str) -> anyhow::Result<Workload> {
    if let Some(n) = name.strip_prefix("churn:") {
        let n: Option<u64> = n.parse().ok().filter(|n| (1..=4_000_000).contains(n));
        let usage = || Failure::Usage(format!("{name}: write churn:N for 1 to 4000000 live objects"));
        let n = n.ok_or_else(usage)?;
        return churn(n, 2000, 107_000);
    }
    from_file(name.as_ref())
}
