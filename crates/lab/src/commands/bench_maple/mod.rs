//! `freehold bench maple`: maps of ranges, ours beside what one might use instead.

mod instructions;
mod tables;

use super::Progress;
use crate::engine::maple::find_maps;
use crate::failure::Failure;
use crate::measure::maple::bench;
use crate::output::Document;
use crate::workload::maple::{MOST_N, Workload, find_cases};
use tables::Tables;

pub use instructions::{UNDER_CALLGRIND, run_under_callgrind};

/// From this size on, fewer rounds do: each is long.
const LARGE: u32 = 500_000;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Smaller maps and fewer rounds.
    pub quick: bool,
    /// Maps by name; none is all.
    pub engines: Vec<String>,
    /// Workloads by name; none is all.
    pub workloads: Vec<String>,
    /// Ranges in a map; none is the usual sizes.
    pub sizes: Vec<u32>,
    /// Instructions are counted, not time.
    pub instructions: bool,
}

impl Options {
    fn sizes(&self) -> Result<Vec<u32>, Failure> {
        if let Some(n) = self.sizes.iter().find(|&&n| n == 0 || n > MOST_N) {
            return Err(Failure::Usage(format!("--n {n}: sizes are from 1 to {MOST_N}")));
        }
        Ok(match (self.sizes.as_slice(), self.quick) {
            ([], true) => vec![100, 10_000, 100_000],
            ([], false) => vec![100, 10_000, 1_000_000],
            (asked, _) => asked.to_vec(),
        })
    }

    fn rounds(&self, n: u32) -> usize {
        match (self.quick, n >= LARGE) {
            (true, false) => 7,
            (false, false) => 15,
            (true, true) => 3,
            (false, true) => 5,
        }
    }
}

/// Benches and describes.
///
/// # Errors
/// No map or workload has such a name, a size is none, or an engine answers wrong.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Document> {
    let engines = find_maps(&options.engines)?;
    let sizes = options.sizes()?;
    if options.instructions {
        return instructions::run(&find_cases(&options.workloads)?, &sizes, &engines, progress);
    }
    let mut tables = Tables::default();
    for case in find_cases(&options.workloads)? {
        let mut benches = Vec::new();
        for &n in Workload::fixed_sizes(&case).unwrap_or(&sizes) {
            let workload = Workload { case, n };
            let runs = bench(&workload, &engines, options.rounds(n), &mut |what| progress.tick(what));
            benches.push((workload, runs.map_err(anyhow::Error::msg)?));
        }
        tables.add(&benches);
    }
    Ok(tables.finish())
}
