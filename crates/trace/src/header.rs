//! The first lines of a recorded trace, the same for every kind. Version 1 is read, version 2 is read and written.

use crate::lines::HEADER_CUT_OFF;
use crate::named::named;
use crate::{Lines, TraceError};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// How every trace begins that is written.
pub const TITLE: &str = "#vml-trace v2";
/// How traces begin that were recorded before rows of tasks, gaps, chunks and purge work.
pub const TITLE_V1: &str = "#vml-trace v1";

named! {
    /// What a trace records.
    Kind {
        Kva "kva" "Kernel virtual areas: vmalloc, stacks, maps."
        Pcpu "pcpu" "Per-CPU objects."
        Vma "vma" "Virtual memory areas of processes."
        Mt "mt" "Maple tree events."
    }
}

impl Kind {
    /// The names of its columns, as line 4 has them.
    #[must_use]
    pub fn columns(self) -> &'static str {
        match self {
            Self::Kva => "dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux",
            Self::Pcpu => "dt_ns,cpu,tid,op,obj,chunk,off,size,align,flags,bytes_alloc,site",
            Self::Vma => "dt_ns,cpu,tid,op,mm,addr,len,prot,flags,file,off_or_newaddr,ret",
            Self::Mt => "dt_ns,cpu,tid,op,fn,node,min,max,index,last,piv,val",
        }
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
    /// What else line 1 says, `key=value`, in its order: `possible`, `online`, `pools`, `source`, `arch`, `boot` and others.
    pub words: Vec<(String, String)>,
}

/// Words of line 1 that have a field of their own.
const OWN_WORDS: [&str; 5] = ["kind", "kernel", "ncpu", "pagesize", "clock"];

impl TraceHeader {
    /// What the recording is called: its workload, and what was recorded of it.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}.{}", self.workload, self.kind.name())
    }

    /// Reads the four lines.
    ///
    /// # Errors
    /// They are not what a trace starts with.
    pub fn read(lines: &mut Lines) -> Result<Self, TraceError> {
        let first = lines.require(HEADER_CUT_OFF)?.to_owned();
        if !first.starts_with(TITLE_V1) {
            lines.check_version(&first, TITLE)?;
        }
        let title = first.strip_prefix(TITLE).or_else(|| first.strip_prefix(TITLE_V1));
        let words = title.and_then(|rest| rest.strip_prefix(' '));
        let words = words.ok_or_else(|| lines.error(format!("not a trace: line 1 must start `{TITLE} `")))?;
        let (mut keys, mut pairs) =
            (BTreeSet::new(), words.split(' ').filter_map(|word| word.split_once('=')));
        if let Some((key, _)) = pairs.find(|(key, _)| !keys.insert(*key)) {
            return Err(lines.error(format!("{key}= is there twice")));
        }
        let word = |name: &str| {
            let found = words.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.ok_or_else(|| lines.error(format!("the header has no {name}=")))
        };
        let number = |name: &str| {
            word(name)?.parse::<u64>().map_err(|_| lines.error(format!("{name} is not a number")))
        };
        let kind = word("kind")?;
        let kind = Kind::named(kind).ok_or_else(|| lines.error(format!("unknown kind {kind:?}")))?;
        let kernel = word("kernel")?.to_owned();
        let cpus = u32::try_from(number("ncpu")?).map_err(|_| lines.error("ncpu is too large"))?;
        let page_bytes = number("pagesize")?;
        if !page_bytes.is_power_of_two() {
            return Err(lines.error(format!("pagesize {page_bytes} is no power of two")));
        }
        let workload = prefixed(lines, "#workload ")?;
        let (name, description) = workload.split_once(": ").unwrap_or((&workload, ""));
        let lost = prefixed(lines, "#lost_records=")?;
        let lost_records = lost.parse().map_err(|_| lines.error("lost_records is not a number"))?;
        if prefixed(lines, "#")? != kind.columns() {
            return Err(lines.error(format!("the columns must be {}", kind.columns())));
        }
        let others = words.split(' ').filter_map(|word| word.split_once('='));
        let others = others.filter(|(key, _)| !OWN_WORDS.contains(key));
        Ok(Self {
            kind,
            kernel,
            cpus,
            page_bytes,
            workload: name.to_owned(),
            description: description.to_owned(),
            lost_records,
            words: others.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        })
    }

    /// What line 1 says under this key, beside what has a field of its own.
    #[must_use]
    pub fn word(&self, key: &str) -> Option<&str> {
        self.words.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// Writes the four lines, of version 2. What would end a word or a line becomes `_` or a space.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let word = |text: &str| text.replace(|letter: char| letter.is_whitespace(), "_");
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        let (kind, kernel) = (self.kind.name(), word(&self.kernel));
        write!(out, "{TITLE} kind={kind} kernel={kernel} ncpu={}", self.cpus)?;
        write!(out, " pagesize={} clock=mono", self.page_bytes)?;
        for (key, value) in &self.words {
            write!(out, " {}={}", word(key), word(value))?;
        }
        writeln!(out, "\n#workload {}: {}", line(&self.workload), line(&self.description))?;
        writeln!(out, "#lost_records={}\n#{}", self.lost_records, self.kind.columns())
    }
}

fn prefixed(lines: &mut Lines, prefix: &str) -> Result<String, TraceError> {
    let text = lines.require(HEADER_CUT_OFF)?.strip_prefix(prefix).map(str::to_owned);
    text.ok_or_else(|| lines.error(format!("the line must start {prefix:?}")))
}
