//! `freehold bench readers`, `pools`, `memory` and `counters`, and stress by many threads: maps, address spaces, memory and counters
//! that threads share.
//!
//! ```text
//!   readers   guards; look-ups alone and beside a writer; stores      pools     blocks taken and given back; locks
//!   memory    blocks, slots and stacks taken and given back; recorded areas; what processes have
//!   look_ups  which range an address is in, of maps of one owner, too
//!   counters  adds, records, snapshots; counters made and dropped; exact sums under signals and moves
//!   history   what threads saw, held against a model, moment by moment          every_cpu  the cases of stress, on each CPU
//! ```
//!
//! Answers are checked before anything is timed. A new [`Suite`] is a folder beside `readers`, `pools`, `memory` and `counters`:
//! engines behind a trait of loops, and cases that time them in turn.

pub mod counters;
pub mod every_cpu;
pub mod history;
pub mod look_ups;
pub mod memory;
pub mod place;
pub mod pools;
pub mod readers;

pub use counters::COUNTERS;
pub use every_cpu::stress_every_cpu;
pub use history::stress_maple;
pub use memory::{MEMORY, measure_resident};
pub use pools::POOLS;
pub use readers::READERS;

use crate::failure::{Failure, unknown, usage};
use crate::record::{Field, Key, Metric, Results};
pub use crate::run::Options;
use crate::run::plan::in_turn;
use crate::workload::suite::find_cases;
use crate::{Progress, promises};
use std::ops::RangeInclusive;
use std::time::Duration;

impl Options {
    /// Whether the engine is asked for. What does no work is always shown.
    fn wants(&self, who: &Who) -> bool {
        self.engines.is_empty() || who.engine == FLOOR || self.engines.iter().any(|name| who.is(name))
    }
}

/// An engine, and which of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// Its name.
    pub engine: &'static str,
    variant: Option<&'static str>,
    /// The one that users get.
    default: bool,
    /// One of ours, which is no rival.
    ours: bool,
    /// One that does what today's Linux does.
    linux: bool,
}

/// The engine that does no work.
const FLOOR: &str = "floor";

impl Who {
    /// The one that users get.
    pub const fn default(engine: &'static str) -> Self {
        Self { engine, variant: None, default: true, ours: true, linux: false }
    }

    /// Another of ours.
    pub const fn ours(engine: &'static str) -> Self {
        Self { default: false, ..Self::default(engine) }
    }

    /// A rival.
    pub const fn other(engine: &'static str) -> Self {
        Self { ours: false, ..Self::ours(engine) }
    }

    /// One that does what today's Linux does, which is compared first.
    pub const fn linux(engine: &'static str) -> Self {
        Self { linux: true, ..Self::other(engine) }
    }

    /// That form of it.
    pub const fn variant(self, variant: &'static str) -> Self {
        Self { variant: Some(variant), ..self }
    }

    /// As users write it.
    pub fn label(&self) -> String {
        self.variant.map_or_else(|| self.engine.to_owned(), |variant| format!("{}:{variant}", self.engine))
    }

    /// Whether users mean it by that name.
    fn is(&self, name: &str) -> bool {
        name == self.label() || name == self.engine
    }

    /// The key of a figure of its.
    fn key(&self, suite: &str, workload: &str, op: &str) -> Key {
        let key =
            Key::new(suite, workload).op(op).engine(self.engine).param_if(Field::Placement, self.variant);
        Key { default: self.default, ours: self.ours, linux: self.linux, ..key }
    }

    /// Refuses names that none has.
    fn check(whos: &[Self], names: &[String]) -> Result<(), Failure> {
        let unnamed = names.iter().find(|name| !whos.iter().any(|who| who.is(name)));
        unnamed.map_or(Ok(()), |name| {
            let known: Vec<String> = whos.iter().map(Self::label).collect();
            Err(unknown("engine", name, &known))
        })
    }
}

/// Whether blocks, by address and length, do not overlap.
fn apart(blocks: impl Iterator<Item = (u64, u64)>) -> anyhow::Result<()> {
    let mut blocks: Vec<(u64, u64)> = blocks.collect();
    blocks.sort_unstable();
    for pair in blocks.windows(2) {
        let [(first, len), (next, _)] = pair else { continue };
        anyhow::ensure!(first + len <= *next, "blocks overlap at {next:#x}");
    }
    Ok(())
}

/// Adds what threads did under stress: counts by their names, and how many were wrong of what was checked.
fn add_counts(results: &mut Results, key: &Key, counts: &[(&str, u64)], (checked, wrong): (&str, u64)) {
    for &(op, count) in counts {
        results.of(key.clone().op(op)).total(Metric::Count, count);
    }
    results.of(key.clone().op(checked)).total(Metric::Mismatches, wrong);
}

/// Says how a stress ended.
fn end(results: &mut Results, text: &str) {
    let word = if results.failed { "FAILED" } else { "passed" };
    results.note(format!("{word}: {text}"));
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Timed rounds; engines take turns in each.
    pub rounds: usize,
    /// Operations of a thread in a round.
    pub operations: usize,
    /// How long a round lasts in which threads do different things.
    pub together: Duration,
}

impl Amount {
    const QUICK: Self = Self { rounds: 7, operations: 200_000, together: Duration::from_millis(20) };
    const USUAL: Self = Self { rounds: 21, operations: 400_000, together: Duration::from_millis(40) };
}

/// What all cases of a bench know.
pub struct Bench<'a> {
    amount: Amount,
    options: &'a Options,
    results: Results,
    progress: &'a mut Progress,
}

/// A workload of a bench.
pub struct Case {
    /// As users write it.
    pub name: &'static str,
    run: fn(&mut Bench) -> anyhow::Result<()>,
}

impl Bench<'_> {
    /// Those of a list that are asked for.
    fn wanted<T>(&self, all: impl IntoIterator<Item = (Who, T)>) -> Vec<(Who, T)> {
        all.into_iter().filter(|(who, _)| self.options.wants(who)).collect()
    }

    /// Rounds in which so many engines take turns; what each of them found in those after that of number 0, which only warms up.
    fn rounds<T>(
        &mut self,
        what: &str,
        rounds: RangeInclusive<usize>,
        engines: usize,
        mut turn: impl FnMut(usize, usize) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<Vec<T>>> {
        let mut all: Vec<Vec<T>> = (0..engines).map(|_| Vec::new()).collect();
        in_turn(rounds, engines, |round, at| {
            self.progress.tick(&format!("{what}, round {round}"));
            let found = turn(round, at)?;
            if round > 0 {
                all[at].push(found);
            }
            anyhow::Ok(())
        })?;
        Ok(all)
    }

    /// Times engines that take turns, by the keys of their operations: what each turn took for one of each, of which a round has
    /// so many.
    fn time<const N: usize>(
        &mut self,
        what: &str,
        keys: Vec<[Key; N]>,
        each: [usize; N],
        turn: impl FnMut(usize, usize) -> anyhow::Result<[f64; N]>,
    ) -> anyhow::Result<()> {
        let rounds = self.rounds(what, 0..=self.amount.rounds, keys.len(), turn)?;
        for (keys, rounds) in keys.into_iter().zip(rounds) {
            for (at, (key, each)) in keys.into_iter().zip(each).enumerate() {
                let rounds_ns: Vec<f64> = rounds.iter().map(|ns| ns[at]).collect();
                self.results.of(key).rounds(Metric::Time, &rounds_ns, (each * rounds.len()) as u64);
            }
        }
        Ok(())
    }
}

/// What is benched together.
pub struct Suite {
    /// In records.
    pub name: &'static str,
    /// The workloads.
    pub cases: &'static [Case],
    /// How much is done, if it is to be quick and if not.
    amounts: [Amount; 2],
    /// Who may be asked for.
    pub whos: fn() -> Vec<Who>,
    /// The sizes that may be asked for; none has its own.
    sizes: Option<RangeInclusive<u32>>,
    /// What is told beside the cases, when they are done.
    beside: fn(&mut Bench) -> anyhow::Result<()>,
}

impl Suite {
    /// Runs the workloads.
    ///
    /// # Errors
    /// No workload or engine has such a name, a size cannot be, the system refuses memory, or an engine answers wrong.
    pub fn bench(&self, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
        self.bench_of(self.amounts[usize::from(!options.quick)], options, progress)
    }

    /// The same, and so much of it.
    pub fn bench_of(
        &self,
        amount: Amount,
        options: &Options,
        progress: &mut Progress,
    ) -> anyhow::Result<Results> {
        let cases = find_cases("workload", &options.workloads, self.cases, |case| case.name)?;
        self.check(options)?;
        let mut bench = Bench { amount, options, results: Results::default(), progress };
        cases.into_iter().try_for_each(|case| (case.run)(&mut bench))?;
        (self.beside)(&mut bench)?;
        let mut results = bench.results;
        promises::add(promises::of(self.name), &mut results);
        Ok(results)
    }

    /// Refuses names that no engine has, and sizes that cannot be.
    fn check(&self, options: &Options) -> Result<(), Failure> {
        Who::check(&(self.whos)(), &options.engines)?;
        let can_be = |n: &u32| self.sizes.as_ref().is_some_and(|sizes| sizes.contains(n));
        let Some(n) = options.sizes.iter().find(|n| !can_be(n)) else { return Ok(()) };
        let sizes = self.sizes.as_ref().map_or("has sizes of its own".to_owned(), |sizes| {
            format!("has sizes from {} to {}", sizes.start(), sizes.end())
        });
        usage(format!("--n {n}: {} {sizes}", self.name))
    }
}
