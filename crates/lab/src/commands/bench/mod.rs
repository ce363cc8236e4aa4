//! `freehold bench`: our engines beside what one might use instead, family by family.

mod kva;
mod maple;
pub mod percpu;

use crate::Progress;
use crate::failure::Failure;
use crate::kind::Suite;
use crate::record::Results;
use crate::workload::suite::MOST_N;
use freehold::units::Bytes;

/// Sizes of `--growth`, the largest of a quick one, and the workload of each family.
const GROWTH: [u32; 6] = [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
const QUICK_MOST: u32 = 100_000;
const GROWS: [(Suite, &str); 3] =
    [(Suite::Kva, "churn"), (Suite::Percpu, "churn-4-64"), (Suite::Maple, "mix")];

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Done within a minute, rather than ten.
    pub quick: bool,
    /// Instructions are counted, not time; of maps.
    pub instructions: bool,
    /// Engines by name; none is all that are benched.
    pub engines: Vec<String>,
    /// Workloads by name; none is all.
    pub workloads: Vec<String>,
    /// Sizes of the sized workloads; none is the usual ones.
    pub sizes: Vec<u32>,
    /// One workload of the family at growing sizes.
    pub growth: bool,
    /// Bytes of a chunk for each CPU.
    pub unit: Bytes,
}

/// Benches a family.
///
/// # Errors
/// No engine or workload has such a name, a size is none, or an engine answers wrong.
pub fn run(suite: Suite, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    if let Some(n) = options.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
        return Err(Failure::Usage(format!("--n {n}: sizes are from 1 to {MOST_N}")).into());
    }
    let bench = match suite {
        Suite::Kva => kva::run,
        Suite::Percpu => percpu::run,
        Suite::Maple => maple::run,
    };
    if !options.growth {
        return bench(options, progress);
    }
    let grows = GROWS.iter().filter(|_| options.workloads.is_empty()).find(|(of, _)| *of == suite);
    let workloads = grows.map_or_else(|| options.workloads.clone(), |(_, name)| vec![(*name).to_owned()]);
    let most = if options.quick { QUICK_MOST } else { u32::MAX };
    let sizes = GROWTH.into_iter().filter(|&n| n <= most).collect();
    bench(&Options { workloads, sizes, ..options.clone() }, progress)
}
