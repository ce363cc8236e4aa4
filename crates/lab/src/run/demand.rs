//! What a workload asks for, and how often: sizes, rates, and runs of one size.
//!
//! ```text
//!   sizes   5 5 5 5 5 2 5 5 9      runs of one size: 5, 1, 2, 1
//!           |-----------|          repeats: allocations of the size of the one before, here 5 of 9
//! ```

use crate::family::{Family, Life};
use crate::record::{Counts, Field, Metric, Results, Stat, nanoseconds};
use crate::workload::Workload;
use std::collections::BTreeMap;

/// Windows in which the most allocations are looked for, in nanoseconds.
const WINDOWS_NS: [u64; 3] = [1_000_000, 100_000_000, 1_000_000_000];

/// What a recorded workload asks for. Only the allocations of the measured operations count.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Allocations of each size in bytes.
    pub sizes: BTreeMap<u64, u64>,
    /// Allocations.
    pub allocations: u64,
    /// Seconds from the first operation to the last; 0 without a clock.
    pub seconds: f64,
    /// Lengths of the runs of one size.
    pub runs: Counts,
    /// For each run length, the allocations in such runs.
    pub in_runs: BTreeMap<u64, u64>,
    /// Most allocations in each of the `WINDOWS_NS`.
    pub busiest: [u64; 3],
}

impl Demand {
    /// Of a workload.
    pub fn of<F: Family>(workload: &Workload<F>) -> Self {
        let mut demand = Self::default();
        let mut run: Option<(u64, u64)> = None;
        let mut times = Vec::new();
        for (at, op) in workload.ops.iter().enumerate() {
            let (Life::Begins(_, size) | Life::Comes(size)) = F::life(op) else { continue };
            *demand.sizes.entry(size).or_default() += 1;
            demand.allocations += 1;
            run = Some(match run {
                Some((same, length)) if same == size => (size, length + 1),
                ended => {
                    demand.note_run(ended);
                    (size, 1)
                }
            });
            times.extend(workload.at_ns.as_ref().and_then(|at_ns| at_ns.get(at)));
        }
        demand.note_run(run);
        if let Some((first, last)) = workload.at_ns.as_ref().and_then(|at| at.first().zip(at.last())) {
            demand.seconds = last.saturating_sub(*first) as f64 / 1e9;
        }
        demand.busiest = WINDOWS_NS.map(|window_ns| most_within(&times, window_ns));
        demand
    }

    fn note_run(&mut self, run: Option<(u64, u64)>) {
        if let Some((_, length)) = run {
            self.runs.add(length);
            *self.in_runs.entry(length).or_default() += length;
        }
    }

    fn share(&self, allocations: u64) -> f64 {
        allocations as f64 / self.allocations.max(1) as f64
    }

    /// Allocations a second; `None` without a clock.
    pub fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.allocations as f64 / self.seconds)
    }

    /// Share of the allocations whose size is that of the allocation before.
    pub fn repeats(&self) -> f64 {
        self.share(self.allocations.saturating_sub(self.runs.len() as u64))
    }

    /// The run length that half of the allocations are in, or in a longer one.
    pub fn middle_run(&self) -> u64 {
        let mut longer = 0;
        let middle = self.in_runs.iter().rev().find(|(_, allocations)| {
            longer += **allocations;
            2 * longer >= self.allocations
        });
        middle.map_or(0, |(&length, _)| length)
    }

    /// The longest run.
    pub fn longest_run(&self) -> u64 {
        self.in_runs.keys().next_back().copied().unwrap_or(0)
    }

    /// The sizes asked for most, with their shares.
    pub fn commonest(&self, most: usize) -> Vec<(u64, f64)> {
        let mut sizes: Vec<(u64, f64)> =
            self.sizes.iter().map(|(&size, &count)| (size, self.share(count))).collect();
        sizes.sort_by(|a, b| b.1.total_cmp(&a.1));
        sizes.truncate(most);
        sizes
    }

    /// Share of the allocations that are of at most this size.
    pub fn up_to(&self, size_bytes: u64) -> f64 {
        self.share(self.sizes.range(..=size_bytes).map(|(_, &count)| count).sum())
    }

    /// Share of the allocations that are in runs of at least this length.
    pub fn in_runs_from(&self, length: u64) -> f64 {
        self.share(self.in_runs.range(length..).map(|(_, &allocations)| allocations).sum())
    }
}

/// How the allocations come: how many within a time, and how many of one size in a row.
pub(crate) fn add_demand<F: Family>(workload: &Workload<F>, results: &mut Results) -> Demand {
    let demand = Demand::of(workload);
    let key = workload.key().op("demand");
    if demand.allocations > 0 {
        results
            .of(key.clone())
            .total(Metric::Count, demand.allocations)
            .some(Metric::Rate, Stat::Total, demand.rate())
            .put(Metric::Repeats, Stat::Total, demand.repeats(), demand.allocations)
            .put(Metric::RunLength, Stat::Median, demand.middle_run() as f64, 1)
            .put(Metric::RunLength, Stat::Max, demand.longest_run() as f64, 1);
        for (window, most) in WINDOWS_NS.into_iter().zip(demand.busiest).filter(|_| demand.rate().is_some()) {
            results
                .of(key.clone().param(Field::Window, nanoseconds(window as f64)))
                .total(Metric::Busiest, most);
        }
    }
    demand
}

/// Allocations by powers of two.
pub(crate) fn add_sizes<F: Family>(workload: &Workload<F>, results: &mut Results) {
    let demand = Demand::of(workload);
    let mut classes: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    for (&size, &number) in &demand.sizes {
        let [count, bytes] = classes.entry(size.max(1).ilog2()).or_default();
        (*count, *bytes) = (*count + number, bytes.saturating_add(size.saturating_mul(number)));
    }
    for (log2, [count, bytes]) in classes {
        results
            .of(workload.key().op("sizes").param(Field::Size, 1u64 << log2))
            .total(Metric::Count, count)
            .put(Metric::Share, Stat::Total, demand.share(count), count)
            .total(Metric::Bytes, bytes);
    }
}

/// The most of these ascending times that lie within a window of that length.
fn most_within(times: &[u64], window_ns: u64) -> u64 {
    let mut from = 0;
    let mut most = 0;
    for (at, &time) in times.iter().enumerate() {
        while times.get(from).is_some_and(|&first| time - first >= window_ns) {
            from += 1;
        }
        most = most.max(at + 1 - from);
    }
    most as u64
}
