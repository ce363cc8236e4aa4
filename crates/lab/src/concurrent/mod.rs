//! `freehold bench readers`, `pools` and `memory`, and stress by many threads: maps, address spaces and memory that threads share.
//!
//! ```text
//!   readers   guards; look-ups alone and beside a writer; stores      pools     blocks taken and given back; locks
//!   memory    blocks, slots and stacks taken and given back; recorded areas; what processes have
//!   history   what threads saw, held against a model, moment by moment          every_cpu  the cases of stress, on each CPU
//! ```
//!
//! Answers are checked before anything is timed. A new [`Suite`] is a folder beside `readers`, `pools` and `memory`: engines behind a
//! trait of loops, and cases that time them in turn.

mod every_cpu;
mod history;
mod memory;
mod place;
mod pools;
mod readers;

pub use every_cpu::{EveryCpu, stress_every_cpu};
pub use history::{Beside, stress_maple};
pub use memory::{MEMORY, measure_resident};
pub use pools::POOLS;
pub use readers::READERS;

use crate::Progress;
pub use crate::commands::bench::Options;
use crate::failure::Failure;
use crate::promises::{self, Promise};
use crate::record::{Key, Results};
use std::ops::RangeInclusive;
use std::time::Duration;

/// An engine, and which of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Who {
    engine: &'static str,
    variant: Option<&'static str>,
    /// The one that users get.
    default: bool,
    /// One of ours, which is no rival.
    ours: bool,
}

/// The engine that does no work.
const FLOOR: &str = "floor";

impl Who {
    const fn default(engine: &'static str) -> Self {
        Self { engine, variant: None, default: true, ours: true }
    }

    const fn ours(engine: &'static str, variant: Option<&'static str>) -> Self {
        Self { engine, variant, default: false, ours: true }
    }

    const fn other(engine: &'static str, variant: Option<&'static str>) -> Self {
        Self { engine, variant, default: false, ours: false }
    }

    /// As users write it.
    fn label(&self) -> String {
        self.variant.map_or_else(|| self.engine.to_owned(), |variant| format!("{}:{variant}", self.engine))
    }

    /// The key of a figure of its.
    fn key(&self, suite: &str, workload: &str, op: &str) -> Key {
        let key = Key::new(suite, workload).op(op).engine(self.engine).param_if("placement", self.variant);
        Key { default: self.default, ours: self.ours, ..key }
    }
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Amount {
    /// Timed rounds; engines take turns in each.
    rounds: usize,
    /// Operations of a thread in a round.
    operations: usize,
    /// How long a round lasts in which threads do different things.
    together: Duration,
}

impl Amount {
    const QUICK: Self = Self { rounds: 7, operations: 200_000, together: Duration::from_millis(20) };
    const USUAL: Self = Self { rounds: 21, operations: 400_000, together: Duration::from_millis(40) };
    /// Enough for a test of what is written.
    #[cfg(test)]
    const TINY: Self = Self { rounds: 2, operations: 2000, together: Duration::from_millis(2) };
}

/// What all cases of a bench know.
struct Bench<'a> {
    amount: Amount,
    options: &'a Options,
    results: Results,
    progress: &'a mut Progress,
}

/// A workload of a bench.
struct Case {
    name: &'static str,
    run: fn(&mut Bench) -> anyhow::Result<()>,
}

impl Bench<'_> {
    /// Whether the engine is asked for. What does no work is always shown.
    fn wants(&self, who: &Who) -> bool {
        let is = |name: &String| *name == who.label() || *name == who.engine;
        self.options.engines.is_empty() || who.engine == FLOOR || self.options.engines.iter().any(is)
    }

    /// Runs the cases that are asked for.
    fn run(&mut self, cases: &[Case]) -> anyhow::Result<()> {
        let asked = |case: &&Case| {
            self.options.workloads.is_empty() || self.options.workloads.iter().any(|name| name == case.name)
        };
        let cases: Vec<&Case> = cases.iter().filter(asked).collect();
        cases.into_iter().try_for_each(|case| (case.run)(self))
    }
}

/// What is benched together.
pub struct Suite {
    /// In records.
    name: &'static str,
    cases: &'static [Case],
    /// Who may be asked for.
    whos: fn() -> Vec<Who>,
    /// The sizes that may be asked for; none has its own.
    sizes: Option<RangeInclusive<u32>>,
    /// What is told beside the cases, when they are done.
    beside: fn(&mut Bench) -> anyhow::Result<()>,
    promises: fn() -> Vec<Promise>,
}

impl Suite {
    /// Runs the workloads.
    ///
    /// # Errors
    /// No workload or engine has such a name, a size cannot be, the system refuses memory, or an engine answers wrong.
    pub fn bench(&self, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
        let amount = if options.quick { Amount::QUICK } else { Amount::USUAL };
        self.bench_of(amount, options, progress)
    }

    fn bench_of(
        &self,
        amount: Amount,
        options: &Options,
        progress: &mut Progress,
    ) -> anyhow::Result<Results> {
        self.check(options)?;
        let mut bench = Bench { amount, options, results: Results::default(), progress };
        bench.run(self.cases)?;
        (self.beside)(&mut bench)?;
        let mut results = bench.results;
        promises::add(self.name, &(self.promises)(), &mut results);
        Ok(results)
    }

    /// Refuses names that nothing has, and sizes that cannot be.
    fn check(&self, options: &Options) -> Result<(), Failure> {
        let is_case = |name: &String| self.cases.iter().any(|case| case.name == name);
        if let Some(name) = options.workloads.iter().find(|&name| !is_case(name)) {
            let known: Vec<&str> = self.cases.iter().map(|case| case.name).collect();
            return Err(Failure::Usage(format!("no workload {name:?}; there are {}", known.join(", "))));
        }
        let whos = (self.whos)();
        let is_who = |name: &String| whos.iter().any(|who| *name == who.label() || *name == who.engine);
        if let Some(name) = options.engines.iter().find(|&name| !is_who(name)) {
            let known: Vec<String> = whos.iter().map(Who::label).collect();
            return Err(Failure::Usage(format!("no engine {name:?}; there are {}", known.join(", "))));
        }
        let Some(n) =
            options.sizes.iter().find(|&n| self.sizes.as_ref().is_none_or(|sizes| !sizes.contains(n)))
        else {
            return Ok(());
        };
        let sizes = self.sizes.as_ref().map_or("has sizes of its own".to_owned(), |sizes| {
            format!("has sizes from {} to {}", sizes.start(), sizes.end())
        });
        Err(Failure::Usage(format!("--n {n}: {} {sizes}", self.name)))
    }
}
