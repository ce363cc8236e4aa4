//! `freehold stress kva`: the kernel's test of vmalloc and what it lacks, every answer checked.

mod tables;

use super::Progress;
use crate::engine::{Compared, ENGINES, EngineEntry, Takes, find_engines};
use crate::failure::Failure;
use crate::measure::stress::{Plan, stress};
use crate::output::Document;
use crate::workload::suite::{CASES, CaseInfo, Kind, MOST_N, Params, find_cases};
use std::time::Duration;

/// Sizes of `churn`; the last takes seconds to set up, and is left to the long mode.
const CHURN_SIZES: [u32; 4] = [1000, 10_000, 100_000, 1_000_000];
/// Size of the other sized cases.
const SIZE: u32 = 10_000;

/// How much is done, as the kernel's script has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// 10000 loops, 10 repeats, the cases in shuffled order; churn up to 100000 live.
    #[default]
    Smoke,
    /// 1000000 loops, 3 repeats, the cases one after another; churn up to 1000000 live.
    Performance,
}

/// What is asked for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// How much is done.
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,
    /// Loops of a case in a repeat, rather than the mode's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub loops: Option<u64>,
    /// Repeats of a case, rather than the mode's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// A case, like `full_fit`; again for more.
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Cases by the bits of the kernel's run_test_mask; cases named come on top.
    #[arg(long, value_name = "BITS", value_parser = mask)]
    pub mask: Option<u32>,
    /// A size for cases that have sizes; again for more.
    #[arg(long = "n", value_name = "N")]
    pub sizes: Vec<u32>,
    /// Pages of fix_size.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub nr_pages: u64,
    /// An engine, `rbtree`, or one placement of it, `rbtree:linux`; again for more.
    #[arg(long = "engine", value_name = "NAME")]
    pub engines: Vec<String>,
    /// Where random numbers start.
    #[arg(long, value_name = "N", default_value_t = 1)]
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
fn duration(text: &str) -> Result<Duration, String> {
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

/// Runs the suite and describes what became of it.
///
/// # Errors
/// No case or engine has such a name or bit, or an engine cannot manage the space.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Document> {
    let engines = engines(&options.engines)?;
    let plan = plan(options)?;
    let mut runs = stress(&plan, &engines, &mut |what| progress.tick(what))?;
    let mut document = Document::default();
    tables::describe(&mut document, &plan, &mut runs, &engines);
    let known = CASES.iter().filter_map(|case| case.mask).sum::<u32>();
    if let Some(others) = options.mask.map(|mask| mask & !known).filter(|&others| others != 0) {
        document.notes.insert(0, format!("--mask: {others:#x} is no case that concerns address space"));
    }
    Ok(document)
}

/// The engines named, or our own that promise the lowest address.
fn engines(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
    if !names.is_empty() {
        return find_engines(names, Compared::IfNamed);
    }
    let ours = |entry: &&EngineEntry| entry.takes == Takes::Lowest && !entry.linear;
    Ok(ENGINES.iter().filter(ours).copied().collect())
}

fn plan(options: &Options) -> Result<Plan, Failure> {
    if let Some(n) = options.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
        return Err(Failure::Usage(format!("--n {n}: sizes are from 1 to {MOST_N}")));
    }
    let (loops, repeat, largest) = match options.mode {
        Mode::Performance => (1_000_000, 3, 1_000_000),
        Mode::Smoke => (10_000, 10, 100_000),
    };
    let params = Params {
        loops: options.loops.unwrap_or(loops),
        nr_pages: options.nr_pages,
        seed: options.seed,
        ..Params::default()
    };
    let repeat = options.repeat.unwrap_or(repeat);
    let mut cases = Vec::new();
    for info in cases_of(options)? {
        let sizes = match (info.sized, info.kind) {
            (false, _) => vec![None],
            (true, _) if !options.sizes.is_empty() => options.sizes.iter().copied().map(Some).collect(),
            (true, Kind::Churn) => CHURN_SIZES.into_iter().filter(|&n| n <= largest).map(Some).collect(),
            (true, _) => vec![Some(SIZE)],
        };
        cases.extend(sizes.into_iter().map(|n| (info, n)));
    }
    let mut plan = Plan { cases, params, repeat, duration: options.duration };
    if options.mode == Mode::Smoke {
        plan.shuffle();
    }
    Ok(plan)
}

/// Those named, and those in the mask; all if there is neither.
fn cases_of(options: &Options) -> Result<Vec<&'static CaseInfo>, Failure> {
    let named = find_cases(&options.cases, CASES.iter())?;
    let Some(mask) = options.mask else { return Ok(named) };
    let is_named = |case: &CaseInfo| options.cases.iter().any(|name| name == case.name);
    let chosen: Vec<_> = CASES.iter().filter(|case| case.is_in(mask) || is_named(case)).collect();
    if chosen.is_empty() {
        let known: Vec<String> =
            CASES.iter().filter_map(|case| Some(format!("{} {}", case.mask?, case.name))).collect();
        let known = known.join(", ");
        return Err(Failure::Usage(format!(
            "--mask {mask}: no case that concerns address space; there are {known}"
        )));
    }
    Ok(chosen)
}
