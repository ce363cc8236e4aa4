//! `freehold record`: a recording of this machine, or of a command, becomes a trace.

use super::import::{self, Imported};
use crate::failure::{Failure, usage};
use crate::output;
use crate::run::stress::duration;
use crate::view::plain;
use crate::workload::shown;
use anyhow::Context;
use freehold_harness::signals::Signals;
use freehold_record::driver::{self, Ended, Machine, Recorded, Workload, ptrace, tracefs};
use freehold_trace::Kind;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Areas of the kernel's virtual memory, of the whole machine. Needs root and Linux 6.2.
    Kva,
    /// Per-CPU objects of the whole machine. Needs root.
    Percpu,
    /// Mappings of a command and of all that it makes. Needs no root.
    Vma,
    /// What the kernel's maple trees do for a command: splits and rebalances. Needs root and Linux 6.1. It cannot be replayed.
    Mt,
}

impl What {
    fn kind(self) -> Kind {
        match self {
            Self::Kva => Kind::Kva,
            Self::Percpu => Kind::Pcpu,
            Self::Vma => Kind::Vma,
            Self::Mt => Kind::Mt,
        }
    }
}

/// How it is recorded.
#[derive(Clone, Debug, clap::Args)]
pub struct Asked {
    /// Where the trace goes; one that ends in .zst is compressed. Without it to recorded.KIND.csv.zst, unless that is there already.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep the raw recording in this folder, which is made. `import` reads it.
    #[arg(long, value_name = "DIR")]
    raw: Option<PathBuf>,
    /// Record so long, such as 30s, 500ms or 2m. Without it and without a command: until Ctrl-C.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    r#for: Option<Duration>,
    /// Say what would be written, enabled and changed, and do nothing.
    #[arg(long)]
    plan: bool,
    /// Fail, and keep the raw recording, if events were lost.
    #[arg(long)]
    strict: bool,
    /// Leave the kernel's pools of freed areas as they are, rather than empty them first: what is in them is then not known (kva).
    #[arg(long)]
    keep_pools: bool,
    /// Record when the kernel's purges begin and end, too (kva).
    #[arg(long)]
    purge_times: bool,
    /// Record this process and what it makes, rather than a command (vma with --tracefs, mt).
    #[arg(long, value_name = "PID", conflicts_with = "command")]
    pid: Option<u32>,
    /// Record vma by the kernel's events rather than by ptrace: at less cost to the command, as root. A folder stands for tracefs in
    /// tests.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    tracefs: Option<Option<PathBuf>>,
    /// The command to run meanwhile.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "for")]
    command: Vec<OsString>,
}

impl Asked {
    fn workload(&self) -> Workload {
        match self.r#for {
            Some(time) => Workload::For(time),
            None if self.command.is_empty() => Workload::UntilSignal,
            None => Workload::Command(self.command.clone()),
        }
    }

    /// Where the trace goes. Only a file that was named is replaced.
    fn file(&self, kind: Kind) -> anyhow::Result<PathBuf> {
        if let Some(file) = &self.output {
            return Ok(file.clone());
        }
        let file = PathBuf::from(format!("recorded.{}.csv.zst", kind.name()));
        if fs::symlink_metadata(&file).is_ok() {
            return usage(format!(
                "{} is an older recording; -o FILE writes to another file, or replaces the one it names",
                file.display()
            ));
        }
        Ok(file)
    }
}

/// Records; what is to be printed, and whether that is a failure.
///
/// # Errors
/// The machine or this user lacks something, the options do not fit each other, or a file cannot be read or written.
pub fn run(what: What, asked: &Asked) -> anyhow::Result<(String, bool)> {
    let kind = what.kind();
    if kind != Kind::Kva && (asked.keep_pools || asked.purge_times) {
        return usage("--keep-pools, --purge-times: of kva alone");
    }
    let by_ptrace = kind == Kind::Vma && asked.tracefs.is_none();
    if by_ptrace && asked.command.is_empty() {
        return usage("record vma needs a command behind `--`; with --tracefs also --pid PID --for TIME");
    }
    let request = tracefs::Request {
        kind,
        workload: asked.workload(),
        pid: asked.pid,
        keep_pools: asked.keep_pools,
        purge_times: asked.purge_times,
    };
    let machine = || match asked.tracefs.as_ref().and_then(Option::as_ref) {
        Some(folder) => Ok(Machine::folder(folder)),
        None => Machine::with_tracefs(),
    };
    if asked.plan {
        let lines = if by_ptrace {
            ptrace::plan(&asked.command)
        } else {
            machine().and_then(|machine| tracefs::plan(&request, &machine)).map_err(failed)?
        };
        return Ok((lines.iter().map(|line| format!("{line}\n")).collect(), false));
    }
    let file = asked.file(kind)?;
    import::check_form(&file)?;
    output::try_file(&file).context("nothing was recorded; -o FILE writes the trace elsewhere")?;
    // Until all is put back and the trace is written: a signal that came between would leave half of it.
    let signals = Signals::catch()?;
    let raw = Raw::new(asked.raw.as_deref(), &file)?;
    let recorded = if by_ptrace {
        ptrace::record(&asked.command, raw.path(), &signals)
    } else {
        machine().and_then(|machine| tracefs::record(&request, &machine, raw.path(), &signals))
    };
    let recorded = recorded.map_err(|failure| {
        raw.forget_empty();
        failed(failure)
    })?;
    let imported = match import::run(&[raw.path().to_owned()], Some(&file), &[], None) {
        Ok(imported) => imported,
        Err(error) => {
            let kept = raw.keep()?;
            return Err(error
                .context(format!("for `freehold import` the raw recording is kept in {}", kept.display())));
        }
    };
    let fails = asked.strict && recorded.meta.lost() > 0;
    let kept = if fails || asked.raw.is_some() { Some(raw.keep()?) } else { None };
    Ok((told(&recorded, &imported, kept.as_deref()), fails))
}

/// The folder of the raw recording.
enum Raw {
    Asked(PathBuf),
    /// Beside the trace, as it may be as large, or here if that is a device: it is removed at the end.
    Beside(tempfile::TempDir),
}

impl Raw {
    fn new(asked: Option<&Path>, file: &Path) -> anyhow::Result<Self> {
        match asked {
            Some(folder) => {
                fs::create_dir(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
                Ok(Self::Asked(folder.to_owned()))
            }
            None => {
                let is_device = file.exists() && !file.is_file();
                let parent = file.parent().filter(|parent| parent.is_dir() && !is_device);
                let beside = parent.unwrap_or(Path::new("."));
                let made = tempfile::Builder::new().prefix(".recording-").tempdir_in(beside);
                Ok(Self::Beside(
                    made.context("there can be no folder for the raw recording; --raw DIR names one")?,
                ))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Asked(folder) => folder,
            Self::Beside(folder) => folder.path(),
        }
    }

    /// Removes the folder that was asked for if nothing was written, so that the same command can be tried again.
    fn forget_empty(&self) {
        if let Self::Asked(folder) = self {
            // One with files stays.
            let _ = fs::remove_dir(folder);
        }
    }

    /// Keeps it.
    fn keep(self) -> anyhow::Result<PathBuf> {
        Ok(match self {
            Self::Asked(folder) => folder,
            Self::Beside(folder) => folder.keep(),
        })
    }
}

/// An error of the driver, with its exit code.
fn failed(failure: driver::Failure) -> anyhow::Error {
    match failure {
        driver::Failure::Lacking(what) => Failure::Lacking(what).into(),
        driver::Failure::Usage(what) => Failure::Usage(what).into(),
        other => other.into(),
    }
}

/// What is said of a recording: how it went, what became of it, what to run next.
fn told(recorded: &Recorded, imported: &Imported, kept: Option<&Path>) -> String {
    let (mut text, meta) = (String::new(), &recorded.meta);
    let seconds = meta.end_ns.saturating_sub(meta.start_ns) as f64 / 1e9;
    let _ = writeln!(text, "recorded {seconds:.1} s by {}: {}", meta.source.name(), plain(&meta.command));
    let _ = match recorded.ended {
        None | Some(Ended::Code(0)) => Ok(()),
        Some(Ended::Code(code)) => writeln!(text, "the command ended with code {code}"),
        Some(Ended::Signal(signal)) => writeln!(text, "the command was ended by signal {signal}"),
    };
    if let Some(signal) = recorded.signal {
        let _ = writeln!(text, "{signal} ended the recording; what was recorded until then is kept");
    }
    for warning in &recorded.warnings {
        let _ = writeln!(text, "warning: {}", plain(warning));
    }
    if let Some(kept) = kept {
        let _ = writeln!(text, "the raw recording is kept in {}", plain(&shown(kept)));
    }
    text + &imported.text()
}
