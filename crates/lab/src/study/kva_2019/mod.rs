//! `freehold reproduce kva-2019`: the talk on the rework of the kernel's allocator of virtual addresses: its whole test
//! before and after, its plots sample by sample, its slides on zones, its worked
//! example, and the audience's questions.
//!
//! Source: the talk, its questions and answers, and the letters that followed.

pub mod example;
pub mod runs;
mod zones;

use super::Options;
use crate::engine::{Compared, EngineEntry};
use crate::family::{FLOOR_NOTE, Kva};
use crate::record::{Counts, Field, Figures, Metric, Origin, Results, Stat, count};
use crate::run::{
    Cost, Demand, EngineRun, Fragmentation, Replay, Spread, Sum, add_demand, add_replay, add_sizes, describe,
    measure,
};
use crate::workload::from_file;
use crate::workload::suite::CASES;
use crate::{Progress, published, traces};
use runs::{KERNEL_LOOPS, SAMPLES, Scale, SuiteRuns};
use std::collections::BTreeSet;
use std::path::Path;

/// What was there before, the rework, and ours: the default engine and the B+tree.
const ENGINES: [&str; 4] = ["gap-list", "rbtree:linux", "rbtree:lowest", "btree:lowest"];
/// What the two ways of running the test are called.
const TOGETHER: &str = "test, all cases together";
const IN_TURN: &str = "test, each case by itself";
/// Timed rounds of each trace.
const ROUNDS: usize = 3;

pub(super) fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let entries = EngineEntry::find(&ENGINES.map(str::to_owned), Compared::IfNamed)?;
    let scale = Scale::of(options)?;
    // What is asked for wrongly is said before anything is measured.
    let files = traces(options.traces.as_deref(), &[".kva.csv.zst"])?;
    let mut results = Results::default();
    describe::<Kva>(&mut results, entries.iter().copied());
    let mut tick = |what: &str| progress.tick(what);
    results.note(FLOOR_NOTE);
    example::add(&mut results)?;
    let runs = SuiteRuns::measure(&scale, &entries, &mut tick)?;
    suite(&scale, &runs, &mut results);
    samples(&runs.together, &mut results);
    zones::add(&mut results, &mut tick)?;
    let mut demands = Vec::new();
    for file in &files {
        demands.push(trace(file, &entries, &mut results, &mut tick)?);
    }
    shares(&demands, &mut results);
    results.records.extend(published::records("kva"));
    published::conclude("kva", &mut results)?;
    Ok(results)
}

/// Sampled operations, those around them, and both, for the samples that every engine got through.
fn sums(sampled: &Replay, run: &EngineRun) -> [Sum; 3] {
    let [bodies, around] = sampled.sums(run);
    [bodies, around, bodies + around]
}

/// The whole test, in both ways; its cases; and a page, allocated and freed beside nothing.
fn suite(scale: &Scale, runs: &SuiteRuns, results: &mut Results) {
    results.fact("loops", count(scale.loops));
    results.fact("shuffles", scale.shuffles.to_string());
    for (name, way, sampled) in
        [(TOGETHER, "together", &runs.together), (IN_TURN, "by itself", &runs.in_turn)]
    {
        for run in &sampled.runs {
            let [bodies, _, all] = sums(sampled, run);
            let key = run.entry.key(name);
            for (op, sum) in [("whole", all), ("bodies", bodies)] {
                let mut figures = results.of(key.clone().op(op));
                figures.put(Metric::Time, Stat::Total, sum.ns as f64, sum.ops).total(Metric::Work, sum.work);
            }
            let each = |sum: u64| sum as f64 / all.ops.max(1) as f64;
            results
                .of(key.clone().op("operation"))
                .put(Metric::Time, Stat::LeastMean, each(all.ns), all.ops)
                .put(Metric::Work, Stat::Mean, each(all.work), all.ops)
                .total(Metric::Refused, run.counted.failures);
            for part in sampled.parts() {
                let key = run.entry.key(part).op("alloc").param(Field::Way, way);
                let ran = 0..run.counted.answers.len();
                costs(&mut results.of(key), &sampled.costs(run, ran, Some(part)));
            }
        }
        if let Some(floor) = &sampled.floor {
            let [.., all] = sums(sampled, floor);
            let each = all.ns as f64 / all.ops.max(1) as f64;
            let key = floor.entry.key(name).op("operation");
            results.of(key).put(Metric::Time, Stat::LeastMean, each, all.ops);
        }
        notes(name, sampled, results);
    }
    let together = &runs.together;
    if together.runs.iter().all(|run| together.complete(run)) {
        for run in &together.runs {
            let ns = extrapolated_ns(scale, &runs.together, run);
            let key = run.entry.key(TOGETHER).op("extrapolated");
            results.of(key).origin(Origin::Extrapolated(scale.loops)).put(
                Metric::Time,
                Stat::Total,
                ns,
                KERNEL_LOOPS,
            );
        }
        results.note(
            "* extrapolated to one run of the kernel's 1,000,000 loops: the bodies' time multiplied up, that of setups and \
             of align_shift, which runs once, as it is; not measured.",
        );
    }
    for run in &runs.pairs.runs {
        let [sum, ..] = sums(&runs.pairs, run);
        let ns = 2.0 * sum.ns as f64 / sum.ops.max(1) as f64;
        let key = run.entry.key("fix_size by itself").op("pair");
        results.of(key).put(Metric::Time, Stat::LeastMean, ns, sum.ops / 2);
    }
}

fn notes(name: &str, sampled: &Replay, results: &mut Results) {
    for run in sampled.runs.iter().filter(|run| run.counted.out_of_time) {
        let (label, got) = (run.entry.label(), run.counted.samples.len());
        results.note(format!(
            "{name}: {label} was stopped for time after {got} samples; all are compared there."
        ));
    }
    if sampled.runs.iter().any(|run| !sampled.complete(run)) {
        let common = sampled.common();
        results.note(format!("{name}: not run to its end; the figures are of its first {common} samples."));
    }
}

/// What one run with the kernel's number of loops would take. Cases that run once do not grow with it.
fn extrapolated_ns(scale: &Scale, together: &Replay, run: &EngineRun) -> f64 {
    let [bodies, around, _] = sums(together, run);
    let once = CASES.iter().filter(|case| case.once);
    let once = once.flat_map(|case| together.costs(run, 0..run.counted.answers.len(), Some(case.name)));
    let once_ns: u64 = once.map(|cost| u64::from(cost.ns)).sum();
    let grows_ns = bodies.ns.saturating_sub(once_ns);
    extrapolate(grows_ns, around.ns + once_ns, scale.loops, scale.shuffles)
}

/// The time of one run of the kernel's loops, given that of all runs of so many loops: what grows with them, and what
/// does not.
pub fn extrapolate(grows_ns: u64, stays_ns: u64, loops: u64, runs: u64) -> f64 {
    (stays_ns as f64 + grows_ns as f64 * KERNEL_LOOPS as f64 / loops as f64) / runs as f64
}

/// What allocations cost, each at the least of its rounds.
fn costs(figures: &mut Figures<'_>, costs: &[Cost]) {
    let mut work: Counts = costs.iter().map(|cost| u64::from(cost.work)).collect();
    let mut ns: Counts = costs.iter().map(|cost| u64::from(cost.ns)).collect();
    if !costs.is_empty() {
        figures.put(Metric::Time, Stat::LeastMean, ns.mean(), costs.len() as u64);
    }
    figures.counts(Metric::Work, &mut work).singles(&mut ns, &[]);
}

/// Least, mean and greatest cost of an allocation, sample by sample, as the talk's plots; and what is in the space.
fn samples(sampled: &Replay, results: &mut Results) {
    for (number, run) in sampled.runs.iter().enumerate() {
        let key = run.entry.key(TOGETHER).op("alloc");
        costs(&mut results.of(key.clone()), &sampled.costs(run, 0..run.counted.answers.len(), None));
        let ids = [["gap-times", "rework-times", "times"], ["gap-steps", "rework-steps", "steps"]];
        for (metric, [first, second, means]) in [Metric::Time, Metric::Work].into_iter().zip(ids) {
            let figure = |cost: &Cost| f64::from(if metric == Metric::Time { cost.ns } else { cost.work });
            let spread = |costs: Vec<Cost>| Spread::of(costs.iter().map(figure));
            let spreads: Vec<_> = sampled.costs_by_sample(run).map(spread).collect();
            let mut figures = results.of(key.clone());
            if let Some(all) = overall(&spreads) {
                figures.put(metric, Stat::Min, all.least, spreads.len() as u64);
                if metric == Metric::Time {
                    figures.put(metric, Stat::Mean, all.mean, spreads.len() as u64);
                    figures.put(metric, Stat::Max, all.greatest, spreads.len() as u64);
                }
            }
            let of = |figure: fn(&Spread) -> f64| -> Vec<Option<f64>> {
                spreads.iter().map(|spread| spread.as_ref().map(figure)).collect()
            };
            let mean = of(|spread| spread.mean);
            if let Some(id) = [first, second].get(number) {
                let values = vec![mean.clone(), of(|spread| spread.least), of(|spread| spread.greatest)];
                line(results, id, run, &run.entry.label(), values);
            }
            line(results, means, run, &run.entry.label(), vec![mean]);
        }
        let mut spent = 0;
        let progress = run.timed.samples_ns.iter().map(|[sampled, around]| {
            spent += sampled + around;
            Some(spent as f64)
        });
        line(results, "progress", run, &run.entry.label(), vec![progress.collect()]);
        if number == 1 {
            let of = |figure: fn(&Fragmentation) -> u64| {
                vec![run.counted.buckets.iter().map(|bucket| Some(figure(&bucket.state) as f64)).collect()]
            };
            line(results, "in-space", run, "live areas", of(|state| state.live));
            line(results, "in-space", run, "free blocks", of(|state| state.free_blocks));
        }
    }
    results.fact("samples", SAMPLES.to_string());
}

/// A line over the samples of a run.
fn line(results: &mut Results, id: &'static str, run: &EngineRun, name: &str, values: Vec<Vec<Option<f64>>>) {
    let at: Vec<f64> = (1..=run.counted.samples.len()).map(|sample| sample as f64).collect();
    results.line(id, TOGETHER, name, &at, values);
}

/// The spread over the whole run: the least of all, the mean of the samples' means, the greatest of all.
pub fn overall(spreads: &[Option<Spread>]) -> Option<Spread> {
    let spreads: Vec<&Spread> = spreads.iter().flatten().collect();
    let means = Spread::of(spreads.iter().map(|spread| spread.mean))?;
    Some(Spread {
        least: spreads.iter().map(|spread| spread.least).fold(f64::INFINITY, f64::min),
        mean: means.mean,
        greatest: spreads.iter().map(|spread| spread.greatest).fold(0.0, f64::max),
    })
}

/// What a recorded workload asks for, how often, and what that costs.
fn trace(
    file: &Path,
    engines: &[EngineEntry],
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<(String, Demand)> {
    let workload = from_file(file)?;
    tick(&format!("{}: what it asks for", workload.name));
    let demand = add_demand(&workload, results);
    add_sizes(&workload, results);
    for (rank, (size, part)) in (1u64..).zip(demand.commonest(3)) {
        let key = workload.key().op("commonest").param(Field::Rank, rank).param(Field::Size, size);
        results.of(key).put(Metric::Share, Stat::Total, part, demand.allocations);
    }
    results.note(format!("{}: {}.", workload.name, workload.description));
    let replay = measure(workload, engines, ROUNDS, tick)?;
    for run in replay.runs.iter().filter(|_| demand.seconds > 0.0) {
        let share = run.timed.loop_median_ns() * replay.workload.ops.len() as f64 / (demand.seconds * 1e9);
        let key = run.entry.key(&replay.workload.title()).op("loop");
        results.of(key).put(Metric::CpuShare, Stat::Median, share, 1);
    }
    let name = replay.workload.name.clone();
    add_replay(results, replay);
    Ok((name, demand))
}

/// Shares of the allocations up to a size, and in runs of at least a length, as lines over the points of all traces.
fn shares(demands: &[(String, Demand)], results: &mut Results) {
    // A line that shows its steps.
    let sizes = |demand: &Demand| {
        demand.sizes.keys().flat_map(|&size| [size.saturating_sub(1).max(1), size]).collect::<Vec<_>>()
    };
    let lengths =
        |demand: &Demand| demand.in_runs.keys().flat_map(|&length| [length, length + 1]).chain([1]).collect();
    let mut lines = |id, at: &dyn Fn(&Demand) -> Vec<u64>, share: fn(&Demand, u64) -> f64| {
        let points: BTreeSet<u64> = demands.iter().flat_map(|(_, demand)| at(demand)).collect();
        for (name, demand) in demands {
            let values = vec![points.iter().map(|&at| Some(100.0 * share(demand, at))).collect()];
            let at: Vec<f64> = points.iter().map(|&at| at as f64).collect();
            results.line(id, "traces", name, &at, values);
        }
    };
    lines("sizes", &sizes, Demand::up_to);
    lines("runs", &lengths, Demand::in_runs_from);
}
