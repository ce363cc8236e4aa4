//! The first lines of a recorded trace, the same for every kind.

use crate::{Lines, TraceError};

/// What a trace records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Kernel virtual areas: vmalloc, stacks, maps.
    Kva,
    /// Per-CPU objects.
    Pcpu,
    /// Virtual memory areas of processes.
    Vma,
    /// Maple tree events.
    Mt,
}

impl Kind {
    /// The word that stands in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kva => "kva",
            Self::Pcpu => "pcpu",
            Self::Vma => "vma",
            Self::Mt => "mt",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Kva, Self::Pcpu, Self::Vma, Self::Mt].into_iter().find(|kind| kind.name() == name)
    }
}

/// What the first four lines of a trace say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// What is recorded.
    pub kind: Kind,
    /// Release of the kernel that it was recorded on.
    pub kernel: String,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Page size in bytes.
    pub page_bytes: u64,
    /// The workload's short name.
    pub workload: String,
    /// What it did.
    pub description: String,
    /// Records lost while recording.
    pub lost_records: u64,
}

impl TraceHeader {
    /// Reads the four lines.
    ///
    /// # Errors
    /// They are not what a trace starts with.
    pub fn read(lines: &mut Lines) -> Result<Self, TraceError> {
        let first = next(lines)?.to_owned();
        let words = first.strip_prefix("#vml-trace v1 ");
        let words = words.ok_or_else(|| lines.error("not a trace: line 1 must start `#vml-trace v1`"))?;
        let word = |name: &str| {
            let found = words.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.ok_or_else(|| lines.error(format!("the header has no {name}=")))
        };
        let number = |name: &str| {
            word(name)?.parse::<u64>().map_err(|_| lines.error(format!("{name} is not a number")))
        };
        let kind = word("kind")?;
        let kind = Kind::from_name(kind).ok_or_else(|| lines.error(format!("unknown kind {kind:?}")))?;
        let kernel = word("kernel")?.to_owned();
        let cpus = u32::try_from(number("ncpu")?).map_err(|_| lines.error("ncpu is too large"))?;
        let page_bytes = number("pagesize")?;
        let workload = prefixed(lines, "#workload ")?;
        let (name, description) = workload.split_once(": ").unwrap_or((&workload, ""));
        let lost = prefixed(lines, "#lost_records=")?;
        let lost_records = lost.parse().map_err(|_| lines.error("lost_records is not a number"))?;
        prefixed(lines, "#")?;
        Ok(Self {
            kind,
            kernel,
            cpus,
            page_bytes,
            workload: name.to_owned(),
            description: description.to_owned(),
            lost_records,
        })
    }
}

fn next(lines: &mut Lines) -> Result<&str, TraceError> {
    let (file, number) = (lines.file().to_owned(), lines.number() + 1);
    lines.advance()?.ok_or_else(|| TraceError::at(&file, number, "the file ends within its header"))
}

fn prefixed(lines: &mut Lines, prefix: &str) -> Result<String, TraceError> {
    let text = next(lines)?.strip_prefix(prefix).map(str::to_owned);
    text.ok_or_else(|| lines.error(format!("the line must start {prefix:?}")))
}
