//! What engines are driven with: recorded traces, vector files and synthetic workloads, all as operations.

pub mod bench;
mod files;
pub mod maple;
mod memory;
pub mod percpu;
mod sampled;
pub mod suite;
mod synthetic;
pub mod trees;
pub mod vma;

use crate::failure::Failure;
use crate::family::{Family, Kva};
use crate::kind::Kind;
use crate::record::{Field, Key, Time, count};
use freehold_trace::kva::Op;
use freehold_trace::{Fnv, Lines, TraceError, TraceHeader};
use std::path::{Path, PathBuf};

pub use files::from_file;
pub use freehold_trace::SplitMix;
pub use memory::{check_memory, check_memory_told};
pub use sampled::{Batches, Cut, Piece};
pub use synthetic::{END_PAGE, LOW_PAGE, WHOLE, churn, whole_scene};

/// Operations to run, and what to run them on.
#[derive(Clone, Debug)]
pub struct Workload<F: Family = Kva> {
    /// Its short name.
    pub name: String,
    /// The file it came from, and the hash of what is in it.
    pub file: Option<(PathBuf, String)>,
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

    /// The same, which came from a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_file(self, file: &Path) -> Result<Self, TraceError> {
        Ok(Self { file: Some((file.to_owned(), Fnv::of_file(file)?)), ..self })
    }

    /// The key of what is said of it, whoever runs it.
    pub fn key(&self) -> Key {
        self.with_params(Key::new(F::SUITE.name(), self.title()))
    }

    /// Adds to a key what tells it from others.
    pub fn with_params(&self, key: Key) -> Key {
        let key = key.param_if(Field::N, self.n);
        match &self.file {
            Some((file, content)) => {
                key.param(Field::File, shown(file)).param(Field::Content, content.clone())
            }
            None => key,
        }
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
const CHURN_PREFIX: &str = "churn:";

/// How many objects are live in a churn of that name.
///
/// # Errors
/// It is the name of a churn that cannot be.
fn churned(name: &Path) -> Result<Option<u64>, Failure> {
    let (text, bare) = (name.to_str().unwrap_or_default(), CHURN_PREFIX.trim_end_matches(':'));
    let without_size = (text == bare && !name.exists()).then_some("");
    let Some(n) = text.strip_prefix(CHURN_PREFIX).or(without_size) else { return Ok(None) };
    let most = suite::MOST_N;
    let n = n.parse().ok().filter(|n| (1..=u64::from(most)).contains(n));
    let usage = || Failure::Usage(format!("{}: write churn:N for 1 to {most} live objects", name.display()));
    n.map(Some).ok_or_else(usage)
}

/// The workload of that name: a file, or `churn:N` for N live objects.
///
/// # Errors
/// The file cannot be read.
pub fn named(name: &Path) -> anyhow::Result<Workload> {
    let Some(n) = churned(name)? else { return from_file(name) };
    check_memory(n, CHURN_BYTES)?;
    churn(n, 2000, 107_000)
}

/// What a workload of that name is: what its file holds, and a churn what vectors of kva do.
///
/// # Errors
/// The file cannot be read, or is of no kind that is known.
pub fn kind_of(name: &Path) -> anyhow::Result<Kind> {
    Ok(if churned(name)?.is_some() { Kind::Columns } else { Kind::of(name)? })
}

/// What the workload of that name is called, of which no more is read than that.
///
/// # Errors
/// As of [`kind_of`].
pub fn title_of(name: &Path) -> anyhow::Result<String> {
    Ok(match kind_of(name)? {
        Kind::Trace(_) | Kind::TreeEvents => TraceHeader::read(&mut Lines::open(name)?)?.title(),
        _ => stem(name),
    })
}

/// The name of a file without its endings.
fn stem(file: &Path) -> String {
    let name = file.file_name().map(|name| shown(name.as_ref())).unwrap_or_default();
    name.trim_end_matches(".zst").trim_end_matches(".txt").to_owned()
}

/// A file's name as a text, which no two files have in common.
pub fn shown(file: &Path) -> String {
    let escaped = || file.as_os_str().as_encoded_bytes().escape_ascii().to_string();
    file.to_str().map_or_else(escaped, str::to_owned)
}

/// What a workload is called, if others have the same name.
pub fn labelled(name: &str, file: &str) -> String {
    format!("{name} ({file})")
}
