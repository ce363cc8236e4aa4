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
    match suite {
        Suite::Kva => kva::run(options, progress),
        Suite::Percpu => percpu::run(options, progress),
        Suite::Maple => maple::run(options, progress),
    }
}
