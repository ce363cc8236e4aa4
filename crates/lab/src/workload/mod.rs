//! What engines are driven with: recorded traces, vector files and synthetic workloads, all as operations.

pub mod bench;
mod files;
pub mod maple;
mod memory;
pub mod percpu;
mod random;
mod sampled;
pub mod suite;
mod synthetic;
pub mod vma;

use crate::failure::Failure;
use crate::family::{Family, Kva};
use crate::kind::{Kind, Suite};
use crate::record::{Field, Key, Time, count};
use freehold_trace::kva::Op;
use std::path::Path;

pub use files::from_file;
pub use memory::{check_memory, check_memory_told};
pub use random::SplitMix;
pub use sampled::{Batches, Cut, Piece};
pub use synthetic::{END_PAGE, LOW_PAGE, WHOLE, churn, whole_scene};

/// Operations to run, and what to run them on.
#[derive(Clone, Debug)]
pub struct Workload<F: Family = Kva> {
    /// Its short name.
    pub name: String,
    /// The file it came from.
    pub file: Option<String>,
    /// What it is, for people.
    pub description: String,
    /// What engines are made for.
    pub scene: F::Scene,
    /// Operations that bring about the state to start from; not measured.
    pub setup: Vec<F::Op>,
    /// The operations that are measured.
    pub ops: Vec<F::Op>,
    /// When each operation of `ops` happened, in nanoseconds since the recording started.
    pub at_ns: Option<Vec<u64>>,
    /// Objects are named below this.
    pub objects: u32,
    /// Live objects at the start, for a synthetic workload.
    pub n: Option<u64>,
    /// Recorded events that are not replayed: what and how many.
    pub skipped: Vec<(&'static str, u64)>,
    /// How it is cut into samples.
    pub cut: Cut,
}

impl<F: Family> Workload<F> {
    /// Operations alone, which name objects below `objects`.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        scene: F::Scene,
        ops: Vec<F::Op>,
        objects: u32,
    ) -> Self {
        Self {
            name: name.into(),
            file: None,
            description: description.into(),
            scene,
            setup: Vec::new(),
            ops,
            at_ns: None,
            objects,
            n: None,
            skipped: Vec::new(),
            cut: Cut::default(),
        }
    }

    /// What it is called in headings and tables.
    pub fn title(&self) -> String {
        match self.n {
            Some(n) => format!("{} at {} live", self.name, count(n)),
            None => self.name.clone(),
        }
    }

    /// The key of what is said of it, whoever runs it.
    pub fn key(&self) -> Key {
        let key = Key::new(F::SUITE.name(), self.title()).param_if(Field::N, self.n);
        key.param_if(Field::File, self.file.clone())
    }

    /// The time that its operations lie on.
    pub fn time(&self) -> Time<'_> {
        Time::new(self.at_ns.as_deref(), self.ops.len())
    }
}

impl Workload {
    /// One more than the highest object name.
    fn count_objects(ops: &[Op]) -> u32 {
        ops.iter().map(Op::object).max().map_or(0, |object| object.saturating_add(1))
    }
}

/// Bytes of a churn's object in operations, a judge and an engine, about; engines are timed one at a time.
const CHURN_BYTES: u64 = 768;
/// What the names of churns of address ranges begin with; how many objects are live comes behind.
pub const CHURN_PREFIX: &str = "churn:";

/// The workload of that name: a file, or `churn:N` for N live objects.
///
/// # Errors
/// The file cannot be read, or holds nothing to replay.
pub fn named(name: &str) -> anyhow::Result<Workload> {
    if let Some(n) = name.strip_prefix(CHURN_PREFIX) {
        let n: Option<u64> = n.parse().ok().filter(|&n| (1..=suite::MOST_N.into()).contains(&n));
        let usage =
            || Failure::Usage(format!("{name}: write churn:N for 1 to {} live objects", suite::MOST_N));
        let n = n.ok_or_else(usage)?;
        check_memory(n, CHURN_BYTES)?;
        return churn(n, 2000, 107_000);
    }
    from_file(name.as_ref())
}

/// The family that a workload is for: what its file tells, or kva for a name that is no file's.
///
/// # Errors
/// The file cannot be read, or is of no kind that is known.
pub fn suite_of(name: &str) -> anyhow::Result<Suite> {
    if name.starts_with(CHURN_PREFIX) {
        return Ok(Suite::Kva);
    }
    let file = Path::new(name);
    let unknown =
        || anyhow::anyhow!("{name}: neither a trace nor a vector file of a family that can be replayed");
    Kind::of(file)?.map(Kind::suite).ok_or_else(unknown)
}
