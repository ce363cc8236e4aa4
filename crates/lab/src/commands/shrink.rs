//! `freehold shrink`: the shortest history that an engine still shows the same with, as a vector file.

use crate::Progress;
use crate::failure::usage;
use crate::family::{Kva, Percpu, Tree};
use crate::kind::{Kind, Suite};
use crate::output;
use crate::record::{count, counted};
use crate::shrink::{Condition, History, Shrinking, While};
use crate::view::plain;
use crate::workload::{kind_of, shown};
use anyhow::Context;
use freehold_harness::signals::Signals;
use freehold_trace::is_pipe;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long is waited for a signal between two trials.
const POLL: Duration = Duration::from_micros(1);

/// What is asked for.
#[derive(Debug, clap::Args)]
pub struct Asked {
    /// The engine: one placement, `rbtree:linux`, or one from outside, `so:PATH`.
    #[arg(long, value_name = "NAME")]
    pub engine: String,
    /// What must still hold of what is left: 'differs' (an answer is wrong or not the model's, or the engine dies), 'slower than ENGINE
    /// by 2' (times), or 'more pages than ENGINE' (of per-CPU objects).
    #[arg(long = "while", value_name = "CONDITION")]
    pub holds: While,
    /// Where the vectors go, if not beside the input with `.shrunk.txt` at the end.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Trials at most; the best so far is kept. Without a number: 5000, of times 1000, under valgrind 200.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub trials: Option<u64>,
}

/// Shrinks a file; what is told of it, and whether the condition no longer holds of what was written.
///
/// # Errors
/// The file cannot be read or is of no such kind, there is no such engine, the condition does not hold, or nothing can be written.
pub fn run(file: &Path, asked: &Asked, progress: &mut Progress) -> anyhow::Result<(String, bool)> {
    if is_pipe(file) {
        return usage(format!(
            "{}: shrink reads files alone, since it says where the result lies",
            shown(file)
        ));
    }
    match kind_of(file)? {
        Kind::Columns | Kind::Trace(Suite::Kva) => shrink::<Kva>(file, asked, progress),
        Kind::Placements | Kind::Trace(Suite::Percpu) => shrink::<Percpu>(file, asked, progress),
        Kind::Trace(Suite::Maple) | Kind::TreeEvents | Kind::TreeLog | Kind::TreeStream => {
            shrink::<Tree>(file, asked, progress)
        }
        Kind::Anchors | Kind::Talk | Kind::Area | Kind::TreeExamples => {
            usage(format!("{}: no history of operations, which could be shrunk", shown(file)))
        }
    }
}

fn shrink<F: History>(file: &Path, asked: &Asked, progress: &mut Progress) -> anyhow::Result<(String, bool)> {
    let condition = Condition::<F>::new(&asked.engine, &asked.holds)?;
    let out = asked.output.clone().unwrap_or_else(|| beside(file));
    output::keep([file], &out)?;
    output::try_file(&out).context("nothing was shrunk; -o FILE writes the vectors elsewhere")?;
    let signals = Signals::catch()?;
    let (name, started) = (shown(file), Instant::now());
    let (scene, ops) = F::read(file)?;
    let before = ops.len();
    let mut signal = None;
    let mut said = Instant::now();
    let mut tick = |what: &str| {
        if said.elapsed() > Duration::from_millis(50) {
            progress.tick(&format!("{name}: {what}"));
            said = Instant::now();
        }
        signal = signals.wait(POLL).ok().flatten();
        signal.is_some()
    };
    let most = asked.trials.unwrap_or_else(|| condition.trials());
    let shrinking = Shrinking::new(&condition, (scene, ops), most, &mut tick)?;
    let Some(mut shrinking) = shrinking else {
        anyhow::bail!("{name}: nothing to shrink: on this file it is not true that {}", condition.told());
    };
    shrinking.shrink();
    let (trials, stopped, spent) = (shrinking.trials, shrinking.stopped, shrinking.is_spent());
    let (scene, ops, seen) = (shrinking.scene, shrinking.ops, shrinking.told);
    output::write(&out, F::text(&condition.entry, &scene, &ops)?.as_bytes())?;
    let mut told = format!(
        "{name}: {} became {} in {}, {:.1} s\n",
        counted(before as u64, "operation"),
        count(ops.len() as u64),
        counted(trials, "trial"),
        started.elapsed().as_secs_f64()
    );
    writeln!(told, "condition: {}", condition.told())?;
    writeln!(told, "seen last: {seen}")?;
    match signal {
        Some(signal) if stopped => {
            writeln!(told, "{} ended it: what was left by then is kept", signal.name())?
        }
        _ if spent => writeln!(told, "it ended with the last of the trials: --trials N allows more")?,
        _ => writeln!(told, "nothing more can be left out: not one lifetime, nor one operation")?,
    }
    let out_name = shown(&out);
    let again = F::read(&out).and_then(|(scene, ops)| condition.holds(&scene, &F::tidy(ops)));
    let holds = again.with_context(|| format!("{out_name}: written, and cannot be tried again"))?;
    match &holds {
        Some(held) => writeln!(told, "written: {out_name}; read again, the condition holds: {}", held.told)?,
        None => writeln!(told, "FAILED: written: {out_name}; read again, the condition does not hold")?,
    }
    // `verify` has its own list of engines, and takes those from outside.
    let engine =
        condition.entry.outside.map_or_else(String::new, |library| format!(" --engine {}", library.name));
    writeln!(told, "next: freehold verify {out_name}{engine}")?;
    // What files are called, and what engines say, may hold anything.
    let lines = told.lines().map(|line| plain(line) + "\n");
    Ok((lines.collect(), holds.is_none()))
}

/// Beside the input, whose endings give way.
fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().map(|name| shown(name.as_ref())).unwrap_or_default();
    let mut stem = name.replace(':', "-");
    for ending in [".zst", ".txt", ".csv", ".shrunk"] {
        stem = stem.strip_suffix(ending).unwrap_or(&stem).to_owned();
    }
    file.with_file_name(format!("{stem}.shrunk.txt"))
}
