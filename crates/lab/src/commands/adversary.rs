//! `freehold stress FAMILY --adversary`: sequences that are built to hurt, and a search for worse, each held against the bound
//! that is documented.

use crate::adversary::{Figures, Judged, Meter, Sequence, Unit, climb, judge_string, sequences};
use crate::choices::{Choices, suffered};
use crate::failure::{unknown, usage};
use crate::kind::Stressed;
use crate::record::{Field, Key, Metric, Results, Stat};
use crate::run::instructions::{can_count, sized, totals};
use crate::strings::{OP_BYTES, SUBJECTS, Subject, play};
use crate::{Progress, data_folder, output};
use anyhow::Context;
use std::path::PathBuf;

/// What is asked of the adversary.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Asked {
    /// Run the sequences that are built to hurt at growing n, and search for worse; fails if work grows faster than documented.
    #[arg(long)]
    pub adversary: bool,
    /// The largest n of sequences; of those that callgrind counts, a tenth.
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "adversary",
        value_parser = clap::value_parser!(u32).range(10_000..=10_000_000))]
    pub largest: u32,
    /// A sequence, like `one-short`, or `search`; again for more. All if none is named.
    #[arg(long = "sequence", value_name = "NAME", requires = "adversary", value_parser = Choices(suffered))]
    pub named: Vec<String>,
    /// Steps of the search for worse, which starts at --seed.
    #[arg(long, value_name = "STEPS", default_value_t = 300, requires = "adversary")]
    pub search: u64,
    /// Keep what the search finds in data/adversary, if it is worse than what is there.
    #[arg(long, requires = "adversary")]
    pub keep: bool,
}

/// Sequences that callgrind counts go to an n that is so much smaller: it takes some fifty times as long.
const CALLGRIND_SLOWER: u32 = 10;
/// What stands before a subject under callgrind.
pub const UNDER: &str = "adversary/";
/// What strings and the search are called among sequences.
const SEARCH: &str = "search";
/// The operation of a string.
const ANY: &str = "any";
/// Where growth begins.
const LEAST: u32 = 100;
/// Operations of a string that is searched for.
pub const STRING_OPS: usize = 2048;
/// What sequences hold against which bound.
const READING: &str = "exponents of growth are held against that of the bound over the same sizes, and 0.1. Mean of all: over all \
                       operations since the structure was empty. Worst measured: of the operations at the end that are to \
                       suffer. Worst later on: of the second half of these, when all is learned that can be";

/// Runs the sequences of a subject, plays the strings that are kept, and searches for worse.
///
/// # Errors
/// There is no such sequence, a sequence answers wrong, or valgrind fails.
pub fn run(
    subject: Stressed,
    options: &Asked,
    seed: u64,
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    let mut results = Results::default();
    if options.keep {
        output::try_file(&folder()?.join("tried"))?;
    }
    let Some(all) = sequences(subject) else {
        return usage(
            "--adversary: of kva, percpu, maple, pools, memory and rcu; counters cost the same at any n",
        );
    };
    let mut names: Vec<_> = all.iter().map(|sequence| sequence.name).collect();
    names.push(SEARCH);
    if let Some(name) = options.named.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(unknown("sequence", name, &names).into());
    }
    results.note(READING);
    let mut verdict = Verdict::default();
    let chosen = |sequence: &Sequence| {
        options.named.is_empty() || options.named.iter().any(|name| name == sequence.name)
    };
    for (at, sequence) in all.iter().enumerate().filter(|(_, sequence)| chosen(sequence)) {
        if sequence.unit == Unit::Instructions && !can_count() {
            results.note(format!(
                "{}: not run: valgrind is not installed, whose callgrind counts instructions",
                sequence.name
            ));
            verdict.not_run += 1;
            continue;
        }
        let mut figures = Vec::new();
        let largest = match sequence.unit {
            Unit::Work => options.largest,
            Unit::Instructions => options.largest / CALLGRIND_SLOWER,
        };
        for n in sizes(LEAST, largest.min(sequence.largest)) {
            progress.tick(&format!("{} at {n}", sequence.name));
            let of_n = suffer(subject, at, sequence, n);
            figures.push((n, of_n.with_context(|| format!("{} at {n}", sequence.name))?));
        }
        for judged in sequence.judge(&figures) {
            verdict.add(&mut results, subject, sequence.name, sequence.op, sequence.unit, &judged);
        }
    }
    if options.named.is_empty() || options.named.iter().any(|name| name == SEARCH) {
        strings(subject, options, seed, &mut results, &mut verdict, progress)?;
    }
    verdict.say(&mut results);
    Ok(results)
}

/// Ten times as much each, up to the largest, and the largest.
fn sizes(least: u32, largest: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(least), |n| n.checked_mul(10));
    let mut sizes: Vec<_> = powers.take_while(|&n| n < largest).collect();
    sizes.push(largest);
    sizes
}

/// Runs a sequence at a size, and has callgrind count if instructions are what counts.
fn suffer(subject: Stressed, at: usize, sequence: &Sequence, n: u32) -> anyhow::Result<Figures> {
    let mut meter = Meter::of_work();
    (sequence.run)(n, &mut meter)?;
    let figures = meter.figures();
    if sequence.unit == Unit::Work {
        return Ok(figures);
    }
    // The answers are right, and it is known how many operations there are: the same run, counted.
    let arguments = sized(&format!("{UNDER}{}", subject.name()), n, &at.to_string());
    let counted = totals(&arguments, 1 + figures.each.len())?;
    let (&ready, each) = counted.split_first().context("callgrind counted nothing")?;
    Ok(Figures { ready, each: each.to_vec(), ..figures })
}

/// What is run under callgrind: a sequence of a subject, by its place among them.
///
/// # Errors
/// There is no such sequence, or it answers wrong.
pub fn run_under_callgrind(subject: &str, n: u32, at: &str) -> anyhow::Result<()> {
    let all = Stressed::named(subject).and_then(sequences).context("no such subject")?;
    let sequence = all.get(at.parse::<usize>()?).context("no such sequence")?;
    (sequence.run)(n, &mut Meter::under_callgrind())
}

/// Plays the strings that are kept and those that a search finds, again and again up to n operations.
fn strings(
    subject: Stressed,
    options: &Asked,
    seed: u64,
    results: &mut Results,
    verdict: &mut Verdict,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let Some(&Subject { family, make, .. }) = SUBJECTS.iter().find(|of| of.family == subject.name()) else {
        results
            .note("no search for worse: instructions are counted here, each string in a process of its own");
        return Ok(());
    };
    let mut all = kept(family)?;
    let known: Vec<_> = all.iter().map(|(_, string)| string.clone()).collect();
    progress.tick("searching for worse");
    let found = climb(make, STRING_OPS, options.search, seed, &known).map_err(anyhow::Error::msg)?;
    let mut most = 0;
    for string in &known {
        let suffered = play(make, string, STRING_OPS as u64, |_| Ok(())).map_err(anyhow::Error::msg)?;
        most = most.max(suffered.worst);
    }
    results.note(format!(
        "search of {} steps over strings of {STRING_OPS} operations: the worst operation does {}, of the strings that are \
         kept {most}",
        options.search, found.suffered.worst
    ));
    if options.keep && found.suffered.worst > most {
        let file = folder()?.join(format!("{family}-{}.bin", found.suffered.worst));
        output::write(&file, &found.string)?;
        results.note(format!("kept: {}", file.display()));
    }
    all.push(("found".to_owned(), found.string));
    for (name, string) in all {
        let mut figures = Vec::new();
        for n in sizes(STRING_OPS as u32, options.largest.next_multiple_of(STRING_OPS as u32)) {
            progress.tick(&format!("{name} at {n}"));
            let suffered = play(make, &string, n.into(), |_| Ok(())).map_err(anyhow::Error::msg)?;
            figures.push((n, suffered));
        }
        for judged in judge_string(&figures) {
            verdict.add(results, subject, &name, ANY, Unit::Work, &judged);
        }
    }
    Ok(())
}

fn folder() -> anyhow::Result<PathBuf> {
    Ok(data_folder()?.join("adversary"))
}

/// The strings of a family that are kept, by name.
///
/// # Errors
/// They cannot be read, or one is no string of operations.
pub fn kept(family: &str) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut strings = Vec::new();
    let Ok(files) = std::fs::read_dir(folder()?) else { return Ok(strings) };
    for file in files {
        let path = file?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.split('-').next() == Some(family) {
            let string = std::fs::read(&path)?;
            anyhow::ensure!(
                !string.is_empty() && string.len() % OP_BYTES == 0,
                "{} is no string",
                path.display()
            );
            strings.push((name, string));
        }
    }
    strings.sort();
    Ok(strings)
}

/// How many bounds hold. One that cannot be told is broken.
#[derive(Default)]
pub struct Verdict {
    hold: u32,
    broken: Vec<String>,
    not_run: u32,
}

impl Verdict {
    /// Adds a figure at all sizes as a row.
    pub fn add(
        &mut self,
        results: &mut Results,
        subject: Stressed,
        name: &str,
        op: &str,
        unit: Unit,
        judged: &Judged,
    ) {
        let part = judged.part.name();
        let (exponent, limit) = (judged.exponent.unwrap_or(f64::NAN), judged.limit.unwrap_or(f64::NAN));
        let (holds, sign) = if judged.holds() == Some(true) { (true, "<") } else { (false, ">") };
        if holds {
            self.hold += 1;
        } else {
            let bound = judged.bound.name();
            self.broken
                .push(format!("{name}, {op}, {part}: exponent {exponent:.2}, above {limit:.2} of {bound}"));
        }
        let metric = match unit {
            Unit::Work => Metric::Work,
            Unit::Instructions => Metric::Instructions,
        };
        for &(n, value) in &judged.values {
            let key = Key::new(subject.name(), name)
                .op(op)
                .param(Field::N, n)
                .param(Field::Part, if op == ANY { format!("strings, {part}") } else { part.to_owned() })
                .param(Field::Bound, judged.bound.name())
                .param(Field::Exponent, format!("{exponent:.2} {sign} {limit:.2}"));
            results.of(key).put(metric, Stat::Max, value, 1);
        }
    }

    /// Says which are broken; the run has failed if one is, or if none holds.
    pub fn say(self, results: &mut Results) {
        results.failed = !self.broken.is_empty() || self.hold == 0;
        for broken in &self.broken {
            results.note(format!("BROKEN: {broken}"));
        }
        let word = if results.failed { "FAILED" } else { "passed" };
        results.note(format!(
            "{word}: {} bounds hold, {} are broken, {} sequences were not run",
            self.hold,
            self.broken.len(),
            self.not_run
        ));
    }
}
