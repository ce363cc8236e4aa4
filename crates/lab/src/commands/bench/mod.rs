//! `freehold bench`: ours beside what one might use instead, family by family, and what threads share.

mod kva;
mod maple;
pub mod percpu;

use crate::failure::usage;
use crate::kind::Subject;
use crate::record::Results;
use crate::workload::suite::MOST_N;
use crate::{Progress, concurrent};
use freehold::units::Bytes;

/// Sizes of `--growth`, and the largest of a quick one.
const GROWTH: [u32; 6] = [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
const QUICK_MOST: u32 = 100_000;

/// What is asked for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Be done within a minute, not ten.
    #[arg(long)]
    pub quick: bool,
    /// Measure the wishes of the 2019 talk, each alone and together, in work, instructions and time, and say
    /// which pays, for kva alone. Takes some minutes with valgrind.
    #[arg(long, conflicts_with_all = ["quick", "engines", "sizes", "growth", "unit"])]
    pub wishes: bool,
    /// Count instructions instead of time, under valgrind's callgrind, for maple alone.
    #[arg(long)]
    pub instructions: bool,
    /// An engine, `rbtree`, or one placement of it, `rbtree:linux`; again for more.
    #[arg(long = "engine", value_name = "NAME")]
    pub engines: Vec<String>,
    /// A workload, like `churn`; again for more.
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// A size for workloads that have sizes; again for more. Of percpu, the number of objects; of maple, of ranges.
    #[arg(long = "n", value_name = "N")]
    pub sizes: Vec<u32>,
    /// Measure how time, work and memory grow from a hundred objects to ten million, or to a hundred thousand if it is to
    /// be quick: of one workload of the family, or of those named.
    #[arg(long, conflicts_with = "sizes")]
    pub growth: bool,
    /// Bytes of a chunk for each CPU, for percpu alone.
    #[arg(long, value_name = "BYTES", default_value = "256K")]
    pub unit: Bytes,
}

/// Benches a subject.
///
/// # Errors
/// It has no such option, no engine or workload has such a name, a size is none, or an engine answers wrong.
pub fn run(subject: Subject, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    if options.instructions && subject != Subject::Maple {
        return usage("bench --instructions: for maple alone");
    }
    if options.wishes && subject != Subject::Kva {
        return usage("--wishes: the talk's wishes are kva's");
    }
    match subject {
        Subject::Kva if options.wishes => super::wishes::run(&options.workloads, progress),
        Subject::Kva => family(kva::run, "churn", options, progress),
        Subject::Percpu => family(percpu::run, "churn-4-64", options, progress),
        Subject::Maple => family(maple::run, "mix", options, progress),
        _ if options.growth => usage("--growth: of families alone"),
        Subject::Counters => concurrent::COUNTERS.bench(options, progress),
        Subject::Readers => concurrent::READERS.bench(options, progress),
        Subject::Pools => concurrent::POOLS.bench(options, progress),
        Subject::Memory => concurrent::MEMORY.bench(options, progress),
    }
}

/// Benches a family, of which one workload grows if nobody names another.
fn family(
    bench: fn(&Options, &mut Progress) -> anyhow::Result<Results>,
    grows: &str,
    options: &Options,
    progress: &mut Progress,
) -> anyhow::Result<Results> {
    if let Some(n) = options.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
        return usage(format!("--n {n}: sizes are from 1 to {MOST_N}"));
    }
    if !options.growth {
        return bench(options, progress);
    }
    let mut options = options.clone();
    if options.workloads.is_empty() {
        options.workloads.push(grows.to_owned());
    }
    let most = if options.quick { QUICK_MOST } else { u32::MAX };
    options.sizes = GROWTH.into_iter().filter(|&n| n <= most).collect();
    bench(&options, progress)
}
