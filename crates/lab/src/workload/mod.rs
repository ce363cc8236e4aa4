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
pub mod vma;

use crate::failure::Failure;
use crate::family::{Family, Kva};
use crate::measure::vma::Developed;
use crate::record::{Film, Key, Time};
use crate::view::count;
use freehold_trace::kva::Op;

pub use files::from_file;
pub use random::SplitMix;
pub use synthetic::{churn, whole_space};

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
}

impl<F: Family> Workload<F> {
    /// What it is called in headings and tables.
    #[must_use]
    pub fn title(&self) -> String {
        match self.n {
            Some(n) => format!("{} at {} live", self.name, count(n)),
            None => self.name.clone(),
        }
    }
}

impl<F: Family> Workload<F> {
    /// The key of what is said of it, whoever runs it.
    #[must_use]
    pub fn key(&self) -> Key {
        let key = Key::new(F::SUITE.name(), self.title()).param_if("n", self.n);
        key.param_if("file", self.file.clone())
    }

    /// A film of its busiest space.
    #[must_use]
    pub fn film(&self, film: Developed) -> Film {
        let time = Time::new(self.at_ns.as_deref(), self.ops.len());
        Film::new(film, |op| time.at(op))
    }
}

impl Workload {
    /// One more than the highest object name.
    fn count_objects(ops: &[Op]) -> u32 {
        ops.iter().map(Op::object).max().map_or(0, |object| object.saturating_add(1))
    }
}

/// What the names of churns of address ranges begin with; how many objects are live comes behind.
pub const CHURN_PREFIX: &str = "churn:";

/// The workload of that name: a file, or `churn:N` for N live objects.
///
/// # Errors
/// The file cannot be read, or holds nothing to replay.
pub fn named(name: &str) -> anyhow::Result<Workload> {
    if let Some(n) = name.strip_prefix(CHURN_PREFIX) {
        let n: Option<u64> = n.parse().ok().filter(|n| (1..=4_000_000).contains(n));
        let usage = || Failure::Usage(format!("{name}: write churn:N for 1 to 4000000 live objects"));
        let n = n.ok_or_else(usage)?;
        return churn(n, 2000, 107_000);
    }
    from_file(name.as_ref())
}
