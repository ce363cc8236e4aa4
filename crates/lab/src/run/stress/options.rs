//! What is asked of `freehold stress`, whatever is stressed.

use crate::choices::{Choices, cases, stressed_engines};
use crate::failure::{Failure, usage};
use crate::workload::suite::{CaseInfo, Params, Suited, find_cases};
use freehold::units::Bytes;
use std::time::Duration;

/// Size of sized cases that do not grow.
pub(crate) const SIZE: u32 = 10_000;

/// Where random numbers start if nobody says where.
const SEED: u64 = 1;

/// How much is done, as the kernel's script has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// 10000 loops, 10 repeats, the cases in shuffled order; churn up to 100000 live.
    #[default]
    Smoke,
    /// 1000000 loops, 3 repeats, the cases one after another; churn up to 1000000 live.
    Performance,
    /// Of kva alone: all CPUs at once, each with all cases in an order of its own, in one space that threads share.
    Stress,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct Options {
    /// How much is done.
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,
    /// Threads at once: of counters; of maple, a writer and readers of one map; of kva with --mode stress.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Loops of a case in a repeat, rather than the mode's; of counters, adds on each rung.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub loops: Option<u64>,
    /// Repeats of a case, rather than the mode's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// A case, like `holes` or `churn-4-64`; again for more.
    #[arg(long = "case", value_name = "NAME", value_parser = Choices(cases))]
    pub cases: Vec<String>,
    /// Cases by the bits of the kernel's run_test_mask, of kva alone; cases named come on top.
    #[arg(long, value_name = "BITS", value_parser = mask)]
    pub mask: Option<u32>,
    /// A size for cases that have sizes; again for more.
    #[arg(long = "n", value_name = "N")]
    pub sizes: Vec<u32>,
    /// Pages of fix_size, of kva alone.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub nr_pages: Option<u64>,
    /// Bytes of a chunk for each CPU, for percpu alone: 256K unless it is said.
    #[arg(long, value_name = "BYTES")]
    pub unit: Option<Bytes>,
    /// An engine, `rbtree`, or one placement of it, `rbtree:linux`; again for more.
    #[arg(long = "engine", value_name = "NAME", value_parser = Choices(stressed_engines))]
    pub engines: Vec<String>,
    /// Where random numbers start.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    pub seed: u64,
    /// How long the whole may take, like 30s, 500ms or 10m; what does not fit is cut, and it is said.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
}

/// A mask of bits, decimal or after 0x.
fn mask(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| error.to_string())
}

/// A whole number and its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "write a number and ms, s, m or h".to_owned())?;
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("the units are ms, s, m and h".to_owned()),
    };
    number
        .checked_mul(unit_ms)
        .filter(|&ms| (1..=86_400_000).contains(&ms))
        .map(Duration::from_millis)
        .ok_or_else(|| "a time from 1ms to 24h".to_owned())
}

impl Options {
    /// Refuses an option that was given and is none of these, which `what` takes.
    ///
    /// # Errors
    /// There is one.
    pub fn only(&self, what: &str, takes: &[&str]) -> Result<(), Failure> {
        let Self {
            mode,
            threads,
            loops,
            repeat,
            cases,
            mask,
            sizes,
            nr_pages,
            unit,
            engines,
            seed,
            duration,
        } = self;
        let given = [
            ("--mode", *mode != Mode::default()),
            ("--threads", threads.is_some()),
            ("--loops", loops.is_some()),
            ("--repeat", repeat.is_some()),
            ("--case", !cases.is_empty()),
            ("--mask", mask.is_some()),
            ("--n", !sizes.is_empty()),
            ("--nr-pages", nr_pages.is_some()),
            ("--unit", unit.is_some()),
            ("--engine", !engines.is_empty()),
            ("--seed", *seed != SEED),
            ("--duration", duration.is_some()),
        ];
        let foreign = given.into_iter().find(|(option, given)| *given && !takes.contains(option));
        foreign.map_or(Ok(()), |(option, _)| usage(format!("{option}: {what} takes {}", takes.join(", "))))
    }

    /// The parameters of cases, which have so many loops unless others are asked for.
    pub(crate) fn params(&self, loops: u64) -> Params {
        let nr_pages = self.nr_pages.unwrap_or(1);
        Params { loops: self.loops.unwrap_or(loops), nr_pages, seed: self.seed, ..Params::default() }
    }
}

/// The cases that are named, and those in the mask; all if there is neither.
///
/// # Errors
/// No case has such a name or bit.
pub fn cases_of<F: Suited>(options: &Options) -> Result<Vec<&'static CaseInfo<F>>, Failure> {
    let named = find_cases("case", &options.cases, F::CASES, |case| case.name)?;
    let Some(mask) = options.mask else { return Ok(named) };
    let is_named = |case: &CaseInfo<F>| options.cases.iter().any(|name| name == case.name);
    let chosen: Vec<_> = F::CASES.iter().filter(|case| case.is_in(mask) || is_named(case)).collect();
    let known = || -> Vec<String> {
        F::CASES.iter().filter_map(|case| Some(format!("{} {}", case.mask?, case.name))).collect()
    };
    if chosen.is_empty() {
        let reason = "no case that concerns address space; there are";
        return usage(format!("--mask {mask}: {reason} {}", known().join(", ")));
    }
    Ok(chosen)
}
