//! How an allocation's work grows with the number of live objects: the talk's point, in exact counts.

use super::count_run;
use crate::engine::EngineEntry;
use crate::record::Counts;
use crate::workload;

/// An engine at one size.
#[derive(Clone, Debug)]
pub struct GrowthPoint {
    /// The engine.
    pub entry: EngineEntry,
    /// Live objects.
    pub n: u64,
    /// Work of each allocation, in nodes and list steps.
    pub alloc_work: Counts,
}

/// Live objects at which growth is counted.
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Where a linear engine is still worth waiting for.
const LINEAR_LIMIT: u64 = 100_000;
/// Pairs of a free and an allocation at each size.
const PAIRS: u64 = 500;

/// Counts churn at growing sizes. `tick` hears what is being done.
///
/// # Errors
/// An engine gives a wrong answer.
pub fn growth(engines: &[EngineEntry], tick: &mut dyn FnMut(&str)) -> anyhow::Result<Vec<GrowthPoint>> {
    let mut points = Vec::new();
    for n in SIZES {
        tick(&format!("counting work at {n} live objects"));
        let churn = workload::churn(n, PAIRS, 100_000 + n)?;
        for entry in engines.iter().filter(|entry| n <= LINEAR_LIMIT || !entry.linear) {
            let counted = count_run(entry, &churn, 1);
            let counted = counted.map_err(|reason| anyhow::anyhow!("{} at {n}: {reason}", entry.label()))?;
            points.extend(counted.map(|counted| GrowthPoint {
                entry: *entry,
                n,
                alloc_work: counted.work_of(0),
            }));
        }
    }
    Ok(points)
}
