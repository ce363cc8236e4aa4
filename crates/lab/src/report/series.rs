//! What the plots of a workload show of each engine's run, cut down to as many points as can be seen.

use crate::family::Replayable;
use crate::measure::{Bucket, Counts, EngineRun};
use crate::workload::Workload;

/// Points of a line over time, at most.
const POINTS: usize = 200;
/// Allocations in a stretch of time, at least: a 99th percentile of fewer says nothing.
const STRETCH_ALLOCS: usize = 50;

/// Stretches of a workload that hold about as many operations of the first kind each.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    /// These of each stretch, by their place among the operations.
    allocs: Vec<Vec<usize>>,
    /// The operation in the middle of each.
    pub(super) at: Vec<f64>,
}

impl Stretches {
    /// Cuts a workload.
    pub(super) fn of<F: Replayable>(workload: &Workload<F>) -> Self {
        let ops = workload.ops.iter().enumerate();
        let allocs: Vec<usize> = ops.filter(|(_, op)| F::kind(op) == 0).map(|(at, _)| at).collect();
        let length = allocs.len().div_ceil(POINTS).max(STRETCH_ALLOCS);
        let allocs: Vec<Vec<usize>> = allocs.chunks(length).map(<[usize]>::to_vec).collect();
        let middle = |stretch: &Vec<usize>| stretch.get(stretch.len() / 2).map_or(0.0, |&at| at as f64);
        let at = allocs.iter().map(middle).collect();
        Self { allocs, at }
    }

    /// How many a stretch holds; the last one may hold fewer.
    pub(super) fn length(&self) -> usize {
        self.allocs.first().map_or(0, Vec::len)
    }

    /// Median and 99th percentile of an engine's times in each stretch.
    pub(super) fn latency_ns<F: Replayable>(&self, run: &EngineRun<F>) -> Vec<Vec<Option<f64>>> {
        let mut lines = vec![Vec::new(), Vec::new()];
        for stretch in &self.allocs {
            let times = stretch.iter().filter_map(|&at| run.timed.least_ns.get(at).copied());
            // Less than a nanosecond cannot be told from the clock's own cost.
            let mut times: Counts = times.map(|ns| ns.max(1)).collect();
            for (line, per_mille) in lines.iter_mut().zip([500, 990]) {
                line.push((!times.is_empty()).then(|| times.percentile(per_mille) as f64));
            }
        }
        lines
    }
}

/// A figure of each bucket.
pub(super) fn of_buckets<F: Replayable>(
    buckets: &[Bucket<F>],
    figure: impl Fn(&Bucket<F>) -> f64,
) -> Vec<Option<f64>> {
    buckets.iter().map(|bucket| Some(figure(bucket))).collect()
}

/// The quantiles of a percentile curve, in thousandths: denser towards the slow end, which is looked at.
pub(super) fn quantiles() -> impl Iterator<Item = u64> {
    (0..900).step_by(10).chain((900..980).step_by(2)).chain(980..1000)
}

/// The place of a quantile on the axis: one in so many is slower.
pub(super) fn one_in(per_mille: u64) -> f64 {
    1000.0 / 1000u64.saturating_sub(per_mille).max(1) as f64
}

/// An engine's times of the first kind of operation at each of the [`quantiles`], over every round.
pub(super) fn curve_ns<F: Replayable>(run: &EngineRun<F>) -> Vec<Option<f64>> {
    let mut times = run.timed.of(0).all_ns;
    if times.is_empty() {
        return quantiles().map(|_| None).collect();
    }
    quantiles().map(|per_mille| Some(times.percentile(per_mille).max(1) as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Timed;
    use crate::report::tests::{replay, workload};

    #[test]
    fn stretches_hold_every_allocation_once() {
        let workload = workload(30_000);
        let stretches = Stretches::of(&workload);
        let mut seen: Vec<usize> = stretches.allocs.concat();
        seen.dedup();
        assert_eq!(seen.len(), workload.ops.iter().filter(|op| !op.is_free()).count());
        assert!(stretches.at.len() <= POINTS && stretches.at.is_sorted());
    }

    #[test]
    fn latency_is_the_median_of_the_stretch() {
        let replay = replay("small", 200);
        let stretches = Stretches::of(&replay.workload);
        let least_ns = (0..replay.workload.ops.len() as u64).collect();
        let run = EngineRun { timed: Timed { least_ns, ..Timed::default() }, ..replay.runs[0].clone() };
        let lines = stretches.latency_ns(&run);
        assert_eq!(lines[0].len(), stretches.at.len());
        assert!(lines[0].iter().zip(&lines[1]).all(|(median, p99)| median < p99), "{lines:?}");
    }

    #[test]
    fn quantiles_rise_to_one_in_a_thousand() {
        let places: Vec<f64> = quantiles().map(one_in).collect();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((places.first(), places.last()), (Some(&1.0), Some(&1000.0)));
    }
}
