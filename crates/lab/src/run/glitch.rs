//! Missed deadlines: how often allocations take longer than there is time for.
//!
//! ```text
//!   period  |--------|--------|--------|      one allocation in each, or a few in a row:
//!   takes    ##       #########             their sum is held against the budget
//!   glitch              ^
//! ```
//!
//! A clock on a shared machine also measures what the machine does meanwhile, so glitches are counted twice: by the
//! clock, and by work, each unit of work at the price that it had in the middle of the same run. The second is blind
//! to caches and branch mispredictions of single operations, and to nothing else that an engine does.

/// What an operation cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Nodes and list steps.
    pub work: u32,
    /// Nanoseconds.
    pub ns: u32,
}

/// Time that there is for allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What waits for them.
    pub name: &'static str,
    /// How long it can wait, in nanoseconds.
    pub ns: u64,
    /// Allocations in a row that the budget is for.
    pub allocations: usize,
}

/// How often a budget was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Glitches {
    /// Deadlines there were.
    pub deadlines: u64,
    /// Missed by the clock.
    pub by_clock: u64,
    /// Missed by work at its middle price.
    pub by_work: u64,
    /// The longest time by the clock, in nanoseconds.
    pub worst_clock_ns: u64,
    /// The longest time by work, in nanoseconds.
    pub worst_work_ns: f64,
}

impl Glitches {
    /// Counts over allocations in their order. What is left at the end, too few for a deadline, does not count.
    pub fn count(costs: &[Cost], budget: &Budget, ns_per_work: f64) -> Self {
        let mut glitches = Self::default();
        for group in costs.chunks_exact(budget.allocations.max(1)) {
            let clock_ns: u64 = group.iter().map(|cost| u64::from(cost.ns)).sum();
            let work: u64 = group.iter().map(|cost| u64::from(cost.work)).sum();
            let work_ns = work as f64 * ns_per_work;
            glitches.deadlines += 1;
            glitches.by_clock += u64::from(clock_ns > budget.ns);
            glitches.by_work += u64::from(work_ns > budget.ns as f64);
            glitches.worst_clock_ns = glitches.worst_clock_ns.max(clock_ns);
            glitches.worst_work_ns = glitches.worst_work_ns.max(work_ns);
        }
        glitches
    }
}

/// The price of a unit of work in nanoseconds that so many thousandths of all work did not exceed; 500 is the middle.
/// 0 if no work was done.
///
/// It is a share of the work, not of the operations: where many operations do next to nothing and a few do nearly
/// all, what the many cost apart from their work would make the work of the few seem slow.
pub fn ns_per_work(costs: &[Cost], per_mille: u64) -> f64 {
    let price = |cost: &Cost| f64::from(cost.ns) / f64::from(cost.work);
    let mut worked: Vec<Cost> = costs.iter().filter(|cost| cost.work > 0).copied().collect();
    worked.sort_unstable_by(|a, b| price(a).total_cmp(&price(b)));
    let all: u64 = worked.iter().map(|cost| u64::from(cost.work)).sum();
    let mut sum = 0;
    let reached = worked.iter().find(|cost| {
        sum += u64::from(cost.work);
        1000 * sum >= per_mille * all
    });
    reached.map_or(0.0, price)
}
