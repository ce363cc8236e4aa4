//! The folder that a recording is written to, before it becomes a trace.
//!
//! ```text
//!   recording                    what was recorded: `Meta`, one `key=value` a line
//!   events/header_page           the kernel's description of a sub-buffer
//!   events/SYSTEM/EVENT/format   the kernel's description of each event that was enabled
//!   cpuN.raw                     whole sub-buffers of CPU N, as `trace_pipe_raw` gives them
//!   cpuN.stats                   the buffer's statistics after the recording
//!   vmallocinfo.start, .end      /proc/vmallocinfo with real addresses (kva)
//!   percpu_stats.start, .end     debugfs percpu_stats, where there is one (percpu)
//!   maps.PID.start, .end         /proc/PID/maps (vma)
//!   saved_cmdlines               names of tasks, `TID NAME` a line
//!   kallsyms                     /proc/kallsyms, optional: names of functions by address
//!   events.log                   a ptrace recording has this instead of `events` and `cpuN.*` (module `log`)
//! ```
//! Cost: reading or writing `recording` is linear in its length, at most 64 KiB.

use crate::Error;
use freehold_trace::{Kind, named, read_text};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of the file that makes a folder a recording.
pub const RECORDING: &str = "recording";
/// Its first line.
pub const TITLE: &str = "#freehold-recording v1";
/// Bytes of it at most.
const MOST_BYTES: u64 = 64 << 10;

named! {
    /// Whether the kernel's pools of areas were emptied before the recording.
    #[derive(Default)]
    Pools {
        Drained "drained" "They were."
        #[default]
        Unknown "unknown" "What they held is not known."
    }
}

named! {
    /// What recorded.
    #[derive(Default)]
    Origin {
        #[default]
        Tracefs "tracefs" "tracefs, by a program of ours."
        Ptrace "ptrace" "ptrace, by a program of ours."
        Perf "perf" "perf."
        TraceCmd "trace-cmd" "trace-cmd."
        Bpftrace "bpftrace" "bpftrace."
        Strace "strace" "strace."
    }
}

/// What the file `recording` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// What was recorded; nothing if only the events tell.
    pub kind: Option<Kind>,
    /// Release of the kernel, as `uname -r` says.
    pub release: String,
    /// The machine, as `uname -m` says.
    pub arch: String,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// CPUs that there may be.
    pub possible: u32,
    /// CPUs that are running.
    pub online: u32,
    /// The kernel's command line.
    pub cmdline: String,
    /// When the events were turned on, in nanoseconds of the clock `mono`.
    pub start_ns: u64,
    /// When they were turned off.
    pub end_ns: u64,
    /// The state of the pools at the start.
    pub pools: Pools,
    /// What ran meanwhile: a command, or a description.
    pub command: String,
    /// The process that was followed, if one was.
    pub pid: Option<u32>,
    /// What recorded.
    pub source: Origin,
    /// Events lost, by CPU. What is not listed is not known to have lost any.
    pub lost: BTreeMap<u32, u64>,
    /// When reading the first snapshot of all areas began and ended.
    pub snapshot_start: Option<(u64, u64)>,
    /// When reading the last one began and ended.
    pub snapshot_end: Option<(u64, u64)>,
    /// `vm.overcommit_memory` (vma).
    pub overcommit: Option<u64>,
    /// `vm.mmap_min_addr`, in bytes (vma).
    pub mmap_min_addr: Option<u64>,
    /// The soft limit of stacks, in bytes (vma).
    pub stack_limit: Option<u64>,
    /// Since the kernel started: there is nothing before the recording.
    pub boot: bool,
}

impl Meta {
    /// A recording of which nothing else is known: an import of a file that does not tell.
    #[must_use]
    pub fn unknown(source: Origin) -> Self {
        let (release, arch) = ("unknown".to_owned(), "unknown".to_owned());
        Self { source, release, arch, page_bytes: 4096, ..Self::default() }
    }

    /// Events lost on all CPUs.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.values().fold(0, |sum, lost| sum.saturating_add(*lost))
    }

    /// Reads the file `recording` of a folder.
    ///
    /// # Errors
    /// It cannot be opened, or a line of it is not as it should be.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let file = folder.join(RECORDING);
        let text = read_text(&file, MOST_BYTES).map_err(Error::open(&file))?;
        Self::parse(&file, &text)
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// A line of it is not as it should be, or one is missing.
    pub fn parse(file: &Path, text: &str) -> Result<Self, Error> {
        let mut lines = (1..).zip(text.lines());
        if lines.next().map(|(_, line)| line) != Some(TITLE) {
            return Err(Error::line(file, 1, format!("not a recording: line 1 must be `{TITLE}`")));
        }
        let mut meta = Self::unknown(Origin::Tracefs);
        let mut seen = Vec::new();
        for (number, line) in lines {
            let (key, value) = line
                .split_once('=')
                .ok_or_else(|| Error::line(file, number, "the line must be `key=value`"))?;
            if seen.contains(&key) {
                return Err(Error::line(file, number, format!("{key} is there twice")));
            }
            seen.push(key);
            meta.set(key, value).map_err(|what| Error::line(file, number, what))?;
        }
        let needed = ["kind", "release", "pagesize", "possible", "start_ns", "end_ns", "source"];
        match needed.iter().find(|key| !seen.contains(key)) {
            Some(key) => Err(Error::line(file, 1 + seen.len() as u64, format!("no line begins `{key}=`"))),
            None => Ok(meta),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "kind" => {
                self.kind = Some(Kind::named(value).ok_or_else(|| format!("unknown kind {value:?}"))?);
            }
            "release" => value.clone_into(&mut self.release),
            "arch" => value.clone_into(&mut self.arch),
            "pagesize" => self.page_bytes = number(key, value)?,
            "possible" => self.possible = number(key, value)?,
            "online" => self.online = number(key, value)?,
            "cmdline" => value.clone_into(&mut self.cmdline),
            "clock" if value == "mono" => {}
            "clock" => return Err(format!("clock {value:?}: only mono is read")),
            "start_ns" => self.start_ns = number(key, value)?,
            "end_ns" => self.end_ns = number(key, value)?,
            "pools" => {
                let named = Pools::named(value);
                self.pools = named.ok_or_else(|| format!("pools are drained or unknown, not {value:?}"))?;
            }
            "command" => value.clone_into(&mut self.command),
            "pid" => self.pid = Some(number(key, value)?),
            "source" => {
                self.source = Origin::named(value).ok_or_else(|| format!("unknown source {value:?}"))?;
            }
            "snapshot_start" => self.snapshot_start = Some(moments(key, value)?),
            "snapshot_end" => self.snapshot_end = Some(moments(key, value)?),
            "overcommit" => self.overcommit = Some(number(key, value)?),
            "mmap_min_addr" => self.mmap_min_addr = Some(number(key, value)?),
            "stack_limit" => self.stack_limit = Some(number(key, value)?),
            "boot" => self.boot = value == "yes",
            _ => match key.strip_prefix("lost.") {
                Some(cpu) => drop(self.lost.insert(number("the CPU", cpu)?, number(key, value)?)),
                None => return Err(format!("unknown key {key:?}")),
            },
        }
        Ok(())
    }

    /// Writes it, as [`Meta::parse`] reads it. Line ends within values become spaces.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        writeln!(out, "{TITLE}\nkind={}", self.kind.map_or("", Kind::name))?;
        writeln!(out, "release={}\narch={}", line(&self.release), line(&self.arch))?;
        writeln!(out, "pagesize={}\npossible={}\nonline={}", self.page_bytes, self.possible, self.online)?;
        writeln!(out, "cmdline={}\nclock=mono", line(&self.cmdline))?;
        writeln!(out, "start_ns={}\nend_ns={}", self.start_ns, self.end_ns)?;
        writeln!(out, "pools={}\nboot={}", self.pools.name(), if self.boot { "yes" } else { "no" })?;
        writeln!(out, "command={}\nsource={}", line(&self.command), self.source.name())?;
        for (cpu, lost) in &self.lost {
            writeln!(out, "lost.{cpu}={lost}")?;
        }
        for (key, moments) in [("snapshot_start", self.snapshot_start), ("snapshot_end", self.snapshot_end)] {
            if let Some((begin, end)) = moments {
                writeln!(out, "{key}={begin} {end}")?;
            }
        }
        let numbers = [
            ("pid", self.pid.map(u64::from)),
            ("overcommit", self.overcommit),
            ("mmap_min_addr", self.mmap_min_addr),
            ("stack_limit", self.stack_limit),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                writeln!(out, "{key}={number}")?;
            }
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key} is not a number: {value:?}"))
}

fn moments(key: &str, value: &str) -> Result<(u64, u64), String> {
    let (begin, end) = value.split_once(' ').ok_or_else(|| format!("{key} needs two numbers"))?;
    Ok((number(key, begin)?, number(key, end)?))
}

/// Where the sub-buffers of a CPU are.
#[must_use]
pub fn raw_file(folder: &Path, cpu: u32) -> PathBuf {
    folder.join(format!("cpu{cpu}.raw"))
}

/// Where the statistics of a CPU's buffer are.
#[must_use]
pub fn stats_file(folder: &Path, cpu: u32) -> PathBuf {
    folder.join(format!("cpu{cpu}.stats"))
}

/// Events that a CPU's buffer has lost, from its statistics; `None` if they do not say.
pub(crate) fn lost_events(stats: &str) -> Option<u64> {
    let figure = |name: &str| -> Option<u64> {
        stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok())
    };
    let [overrun, commit_overrun, dropped] = ["overrun", "commit overrun", "dropped events"].map(figure);
    Some(overrun?.saturating_add(commit_overrun?).saturating_add(dropped?))
}

/// Where the format file of an event is.
#[must_use]
pub fn format_file(folder: &Path, system: &str, event: &str) -> PathBuf {
    folder.join("events").join(system).join(event).join("format")
}

/// Where the mappings of a task are.
#[must_use]
pub fn maps_file(folder: &Path, pid: u32, at_end: bool) -> PathBuf {
    folder.join(format!("maps.{pid}.{}", if at_end { "end" } else { "start" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_counted() {
        let stats =
            "entries: 7\noverrun: 1\ncommit overrun: 2\nbytes: 9\ndropped events: 4\nread events: 8\n";
        assert_eq!(lost_events(stats), Some(7));
        assert_eq!(lost_events("entries: 7\noverrun: x\ncommit overrun: 2\ndropped events: 4\n"), None);
        assert_eq!(lost_events("overrun: 1\ncommit overrun: 2\n"), None);
    }
}
