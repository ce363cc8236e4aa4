//! The command line.

use crate::choices::{Choices, replayed_engines};
use crate::commands::replay::ROUNDS;
use crate::commands::{adversary, emit_c, record, shrink};
use crate::engine::outside::{SERVE, TIMEOUT_S};
use crate::kind::{Stressed, Subject};
use crate::predict::Way;
use crate::run;
use crate::study::{self, Publication};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use freehold_trace::Kind;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Replays, verifies and measures allocators of address space, ours beside their rivals.
///
/// Without a command: replays three recorded workloads and three made-up ones on our engines and their rivals, predicts the addresses
/// of two recorded kernels, prints tables and writes a report.
///
/// A file is text in UTF-8, plain or compressed with zstd, of at most 2097152 lines and 512 MiB. `-` is standard input; that and
/// pipes are read once.
///
/// Exit codes: 0 all is well, 1 something failed or differs, 2 wrong usage, 4 the machine or the checkout lacks
/// something.
#[derive(Debug, Parser)]
#[command(name = "freehold", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Without a command: where the HTML report goes, if not to target/freehold/report.html.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

/// How results are written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Tables of at most 100 columns for a terminal.
    #[default]
    Screen,
    /// Plain text of 72 columns, fit for a mailing list.
    Lkml,
    /// One JSON document.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// How results are written.
    #[arg(long, global = true, value_enum, default_value_t, conflicts_with = "json")]
    pub(crate) format: Format,
    /// The same as `--format json`.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seconds that an engine from outside has for a batch before it is ended.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = TIMEOUT_S,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) engine_timeout: u64,
}

impl Common {
    /// How results are written.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// How the addresses of a recording of kernel areas are predicted.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// Of a recording of kernel areas: only predict its addresses, and let every event take effect where it stands.
    #[arg(long, conflicts_with_all = ["engine", "rounds", "instructions"])]
    pub(crate) strict: bool,
    /// Of a recording of kernel areas: only predict its addresses, by the recorded kernel's rules and by others beside them. `lazy=off`,
    /// `pools=off|shared|fifo`, `decay=6.16|6.9|off|tail`, `refill=lowest|highest|by-time`, `nodes=N`, `lazy-limit=PAGES`,
    /// `aside=on|off`; again for
    /// more.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["engine", "rounds", "instructions"])]
    pub(crate) set: Vec<String>,
    /// Of a recording of kernel areas: only predict its addresses, and let the model keep its own places.
    #[arg(long, conflicts_with_all = ["engine", "rounds", "instructions", "strict"])]
    pub(crate) free_running: bool,
}

impl Predict {
    /// Whether nothing else is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.strict || self.free_running || !self.set.is_empty()
    }

    /// How recordings are followed.
    pub(crate) fn way(&self) -> Way {
        Way { strict: self.strict, free_running: self.free_running }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Hold engines against recorded answers.
    ///
    /// Checks every column of each file that an engine can answer for: vector files, the talk's worked example,
    /// tables of work anchors, streams of stores. Fails if anything differs, or if nothing in a file could be checked.
    Verify {
        /// Vector files (*.txt.zst), talk.txt, anchor tables (*.tsv), streams (*.mstream.zst), prealloc_examples.txt.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Check an engine from outside, `so:PATH`, instead of those that are listed: by the column of the addresses that it takes,
        /// and by what any engine must do; again for more.
        #[arg(long, value_name = "so:PATH")]
        engine: Vec<String>,
    },
    /// Run workloads on engines side by side.
    Replay {
        /// Traces, vector files, or `churn:N` for N live objects.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// An engine, `rbtree`, one placement of it, `rbtree:linux`, or one from outside, `so:PATH`, a shared object with the functions
        /// of freehold_engine.h; again for more. `floor`, which does no work, is
        /// shown beneath, whoever is named.
        #[arg(long, value_name = "NAME", value_parser = Choices(replayed_engines))]
        engine: Vec<String>,
        /// Timed rounds; engines take turns in each.
        #[arg(long, default_value_t = ROUNDS, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
        rounds: usize,
        /// Count instructions instead of time, kind of operation by kind, under valgrind's callgrind: figures that
        /// are the same in every run.
        #[arg(long, conflicts_with_all = ["rounds", "report"])]
        instructions: bool,
        #[command(flatten)]
        predict: Predict,
        /// Write an HTML report there.
        #[arg(long, value_name = "FILE.html")]
        report: Option<PathBuf>,
    },
    /// Time engines against other allocators on workloads made for it.
    ///
    /// Every answer is checked before anything is timed. Engines that are too slow do less, or nothing, and it is
    /// said which.
    Bench {
        /// What is benched.
        #[arg(value_enum)]
        subject: Subject,
        #[command(flatten)]
        options: run::Options,
    },
    /// Measure what others have published again, beside their figures.
    ///
    /// Prints tables and writes a page with plots. Takes less than a minute in a release build.
    Reproduce {
        /// What was published.
        #[arg(value_enum)]
        what: Publication,
        #[command(flatten)]
        options: study::Options,
        /// Where the page goes, if not to target/freehold/ and the name of what is reproduced.
        #[arg(long, value_name = "FILE.html")]
        report: Option<PathBuf>,
    },
    /// Run cases on engines and check every answer.
    ///
    /// For kva: the kernel's test of vmalloc, and what it lacks. For percpu: what was posted in 2017 and found since, with
    /// memory that moves and ends. For maple: the kernel's benches and tests of its tree, and what they lack. For counters:
    /// threads that are interrupted and moved.
    ///
    /// Fails if an answer is wrong, an invariant broken, or a request refused that should not be. With --adversary: if work grows
    /// faster than documented.
    Stress {
        /// What is stressed.
        #[arg(value_enum)]
        subject: Stressed,
        #[command(flatten)]
        options: run::stress::Options,
        #[command(flatten)]
        adversary: adversary::Asked,
    },
    /// Shrink a history to the least that an engine still shows the same with, and write it as a vector file.
    ///
    /// Lifetimes of objects are left out, then single operations, as long as the condition holds; then numbers become smaller. What is
    /// written is read and tried again, and `verify` reads it. Ctrl-C ends it, and what is left by then is written.
    Shrink {
        /// A trace, a vector file, an op log, a stream, or `churn:N`.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        asked: shrink::Asked,
    },
    /// Write the history of one tree as a test in C, for the kernel's own tests of its maple tree.
    EmitC {
        /// A trace of address spaces, a stream, or an op log, such as `shrink` writes.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        asked: emit_c::Asked,
    },
    /// Run a workload on an engine for callgrind to count.
    #[command(hide = true)]
    CountInstructions {
        /// A workload of `replay`, or with a size one of `bench kva`, of `bench maple` behind `maple/`, look-ups behind
        /// `look-ups/` and their family, cold operations of a family behind `cold/`, or sequences of a subject behind
        /// `adversary/`.
        workload: PathBuf,
        #[arg(long)]
        n: Option<u32>,
        /// One engine, or the place of a sequence.
        engine: String,
    },
    /// Tell the memory that this process has while an engine does something, as `bench memory` asks.
    #[command(hide = true)]
    MeasureResident {
        /// A recording, or `idle:BLOCKS:MILLISECONDS`.
        workload: String,
        /// One engine.
        engine: String,
    },
    /// Show the last results again, or those of a JSON document.
    ///
    /// The main job, verify, replay, bench, reproduce and stress keep their results in target/freehold/last.json, if the folder
    /// `target` is where they are started.
    Show {
        /// Every table, not the main ones alone; other formats than the screen's always have them.
        #[arg(long)]
        all: bool,
        /// Write a page, too: of what records alone can draw, like how `bench --n` grows.
        #[arg(long, value_name = "FILE.html")]
        report: Option<PathBuf>,
        /// A document that `--json` wrote, if not the last results.
        #[arg(value_name = "FILE.json")]
        file: Option<PathBuf>,
    },
    /// Set two JSON documents of the same command side by side, or two recordings of a kind.
    Compare {
        /// The document of before, or a recording.
        before: PathBuf,
        /// The document of after, or another recording.
        after: PathBuf,
    },
    /// Show what is in a trace or vector file.
    Inspect {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Record this machine, or a command, as a trace to replay.
    ///
    /// What is changed for it is put back at the end, also on Ctrl-C: `--plan` says what that is.
    Record {
        /// What is recorded.
        #[arg(value_enum)]
        what: record::What,
        #[command(flatten)]
        asked: record::Asked,
    },
    /// Turn a recording of another tool, or a folder of raw bytes, into a trace.
    ///
    /// Reads perf.data, the text of `perf script`, trace.dat, the text of `trace-cmd report`, ftrace's own text, rows of bpftrace,
    /// strace, and folders. What a file is, its content says. Events, losses, and what is unknown at the start are told.
    Import {
        /// The recording; files of /proc/vmallocinfo may stand beside it.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Where the trace goes, compressed if the name ends in .zst; if not to RECORDING.csv.zst.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// /proc/vmallocinfo before the events; a second time, after them.
        #[arg(long, value_name = "FILE")]
        vmallocinfo: Vec<PathBuf>,
        /// Which events are wanted, if the recording has several kinds: kva, pcpu, vma or mt.
        #[arg(long, value_name = "KIND", value_parser = kind)]
        kind: Option<Kind>,
        /// Fail if events were lost, or the last snapshot differs.
        #[arg(long)]
        strict: bool,
    },
    /// Say what this machine offers to engines on real memory, and what falls back to what.
    Doctor {
        /// Run every type as other systems would have it instead: older kernels, gVisor, emulators, filters that refuse calls. A table
        /// says how much of what is asked for is served; contents are checked.
        #[arg(long)]
        systems: bool,
    },
    /// Run the engine of a shared object for another process, over standard input and output.
    #[command(hide = true, name = SERVE)]
    ServeEngine {
        /// The object.
        path: PathBuf,
    },
    /// Run a type under the answers of another system, as `doctor --systems` does.
    #[command(hide = true)]
    RunUnder {
        /// The type.
        name: String,
        /// The system, or a call that is refused, the number of the error, and when.
        under: String,
    },
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print a manual page.
    Man {
        /// A command that has a page of its own, if not that of all.
        #[arg(value_name = "COMMAND", value_parser = Choices(commands))]
        command: Option<String>,
    },
}

/// The commands that have a manual page.
pub(crate) fn commands() -> BTreeSet<String> {
    let cli = Cli::command();
    let shown = cli.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| command.get_name().to_owned()).collect()
}

/// A kind of trace.
fn kind(name: &str) -> Result<Kind, String> {
    Kind::named(name).ok_or_else(|| "the kinds are kva, pcpu, vma and mt".to_owned())
}
