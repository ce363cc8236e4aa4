//! Pages over the operations of a vector file or a trace.

use crate::engine::percpu::EngineEntry;
use freehold::percpu::Config;
use freehold_trace::percpu::{Answer, Op};

/// Pages of a unit that an engine had populated.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The engine.
    pub entry: EngineEntry,
    /// The most at any time.
    pub peak: u64,
    /// Summed over all operations.
    pub sum: u128,
    /// Allocations that found no room.
    pub failures: u64,
}

/// Runs the operations and counts pages after each.
///
/// # Errors
/// An engine cannot be made, or breaks one of its invariants.
pub fn over_operations(
    engines: &[EngineEntry],
    config: &Config,
    balances: bool,
    ops: &[Op],
) -> Result<Vec<Pages>, String> {
    let one = |entry: &EngineEntry| {
        let mut session = (entry.make)(config, balances)?;
        let mut pages = Pages { entry: *entry, peak: 0, sum: 0, failures: 0 };
        let mut answer = [Answer::default()];
        for op in ops {
            session.run(std::slice::from_ref(op), &mut answer);
            pages.failures += u64::from(answer == [Answer::NoRoom]);
            pages.peak = pages.peak.max(session.populated_pages());
            pages.sum += u128::from(session.populated_pages());
        }
        session.validate()?;
        Ok(pages)
    };
    engines.iter().map(one).collect()
}
