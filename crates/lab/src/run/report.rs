//! The records of a replay: figures of each engine, and what is drawn over time.

use super::{Bucket, EngineRun, Replay, Replayable, Timed};
use crate::engine::Listed;
use crate::family::{FLOOR_NOTE, Family};
use crate::record::{Counts, Key, Metric, Origin, Results, Series, Stat, count, counted};

/// A workload's key on an engine.
pub(crate) fn key<F: Replayable>(replay: &Replay<F>, entry: &Listed<F::Facts>) -> Key {
    let workload = &replay.workload;
    F::scene_key(&workload.scene, workload.with_params(entry.key(&workload.title())))
}

/// Adds engines to those that were shown.
pub(crate) fn describe<F: Family>(
    results: &mut Results,
    entries: impl IntoIterator<Item = Listed<F::Facts>>,
) {
    for entry in entries {
        if let Some(library) = entry.outside {
            results.note(library.note());
        }
        let engine = (entry.label(), entry.about, entry.is_default());
        if results.engines.iter().all(|other| other.0 != engine.0) {
            results.engines.push(engine);
        }
    }
}

/// Says what was replayed, and on which engines it was not.
pub(crate) fn tell<F: Replayable>(results: &mut Results, replay: &Replay<F>) {
    let title = replay.workload.title();
    results.fact(&format!("about:{title}"), replay.workload.description.clone());
    for (entry, reason) in &replay.refused {
        results.note(format!("{title}: {} left out: {reason}", entry.label()));
    }
    if replay.floor.is_some() {
        results.note(FLOOR_NOTE);
    }
}

/// Adds a replay: figures, series, pictures and notes.
pub fn add_replay<F: Replayable>(results: &mut Results, replay: Replay<F>) {
    let title = replay.workload.title();
    results.fact(&format!("operations:{title}"), count(replay.workload.ops.len() as u64));
    results.fact("rounds", replay.rounds.to_string());
    results.fact(&format!("steps:{title}"), F::STEPS);
    results.fact(&format!("kind:{title}"), F::KINDS.first().map_or("", |kind| kind.noun));
    describe::<F>(results, replay.runs.iter().map(|run| run.entry));
    for (kind, skipped) in &replay.workload.skipped {
        results.note(format!("{title}: not replayed: {} x {kind}", count(*skipped)));
    }
    tell(results, &replay);
    refusals(results, &replay);
    F::pictures(&replay, results);
    for run in &replay.runs {
        run_figures(results, &replay, run);
    }
    if let Some(floor) = &replay.floor {
        times::<F>(results, &floor.timed, &key(&replay, &floor.entry));
    }
    lines(results, &replay);
}

/// Says who refused more than others, and so did less than they did.
fn refusals<F: Replayable>(results: &mut Results, replay: &Replay<F>) {
    let of = |run: &EngineRun<F>| run.counted.failures;
    let least = replay.runs.iter().map(of).min().unwrap_or(0);
    if replay.runs.iter().any(|run| of(run) > least) {
        let each = replay.runs.iter().map(|run| format!("{} {}", run.entry.label(), count(of(run))));
        results.note(format!(
            "{}: not all did the same work: of {} they refused: {}",
            replay.workload.title(),
            counted(replay.workload.ops.len() as u64, "operation"),
            each.collect::<Vec<_>>().join(", ")
        ));
    }
}

fn run_figures<F: Replayable>(results: &mut Results, replay: &Replay<F>, run: &EngineRun<F>) {
    let key = key(replay, &run.entry);
    for (at, kind) in F::KINDS.iter().enumerate() {
        let mut figures = results.of(key.clone().op(kind.op));
        figures.counts(Metric::Work, &mut run.counted.work_of(&replay.workload.ops, at));
        let nodes = run.counted.nodes_taken.get(at).copied().filter(|&nodes| nodes > 0);
        figures.some(Metric::NodesUsed, Stat::Total, nodes.map(|nodes| nodes as f64));
    }
    times::<F>(results, &run.timed, &key);
    let mut whole = results.of(key);
    whole
        .total(Metric::Count, run.counted.answers.len() as u64)
        .total(Metric::Refused, run.counted.failures)
        .origin(run.entry.memory())
        .put(Metric::Metadata, Stat::Max, run.counted.metadata_peak_bytes as f64, 1);
    F::seen(run, whole.origin(Origin::Measured));
}

/// Single operations, kind by kind, for their spread; and whole runs, which are what is compared.
fn times<F: Family>(results: &mut Results, timed: &Timed, key: &Key) {
    for (at, kind) in F::KINDS.iter().enumerate() {
        let mut times = timed.of(at);
        results.of(key.clone().op(kind.op)).singles(&mut times.all_ns, &times.rounds_ns);
    }
    let operations: usize = timed.kinds.iter().map(|kind| kind.all_ns.len()).sum();
    results.of(key.clone().op("loop")).rounds(Metric::Time, &timed.loop_ns, operations as u64);
}

/// Points of a line over time, at most.
const POINTS: usize = 200;
/// Operations in a stretch of time, at least: a 99th percentile of fewer says nothing.
const STRETCH: usize = 50;

/// Adds what is drawn over time.
fn lines<F: Replayable>(results: &mut Results, replay: &Replay<F>) {
    let workload = &replay.workload;
    let time = workload.time();
    // Stretches that hold about as many operations of the first kind each.
    let ops = workload.ops.iter().enumerate();
    let first_kind: Vec<usize> = ops.filter(|(_, op)| F::kind(op) == 0).map(|(at, _)| at).collect();
    let length = first_kind.len().div_ceil(POINTS).max(STRETCH);
    let stretches: Vec<&[usize]> = first_kind.chunks(length).collect();
    let middle: Vec<f64> =
        stretches.iter().filter_map(|stretch| stretch.get(stretch.len() / 2)).map(|&at| at as f64).collect();
    results.fact(
        &format!("stretch:{}", workload.title()),
        stretches.first().map_or(0, |of| of.len()).to_string(),
    );
    for run in &replay.runs {
        let mut series = |id, at: &[f64], values| {
            let clock_s = if id == "distribution" { Vec::new() } else { time.seconds(at) };
            let (workload, line) = (workload.title(), run.entry.label());
            results.series.push(Series { id, workload, line, at: at.to_vec(), clock_s, values });
        };
        if replay.rounds > 0 {
            series("latency", &middle, latency_ns(&stretches, &run.timed.least_ns));
            series("distribution", &quantiles().map(one_in).collect::<Vec<_>>(), vec![curve_ns(run)]);
        }
        let buckets = &run.counted.buckets;
        let at: Vec<f64> = buckets.iter().map(|bucket| bucket.end.saturating_sub(1) as f64).collect();
        let of =
            |figure: &dyn Fn(&Bucket<F>) -> f64| buckets.iter().map(|bucket| Some(figure(bucket))).collect();
        series("work", &at, vec![of(&|bucket| bucket.work_mean), of(&|bucket| bucket.work_max as f64)]);
        for (id, figure) in F::STATE {
            series(id, &at, vec![of(&|bucket| figure(&bucket.state))]);
        }
    }
}

/// Median and 99th percentile of the least times in each stretch.
fn latency_ns(stretches: &[&[usize]], least_ns: &[u64]) -> Vec<Vec<Option<f64>>> {
    let mut lines = vec![Vec::new(), Vec::new()];
    for stretch in stretches {
        // Less than a nanosecond cannot be told from the clock's own cost.
        let times = stretch.iter().filter_map(|&at| least_ns.get(at).map(|&ns| ns.max(1)));
        let mut times: Counts = times.collect();
        for (line, per_mille) in lines.iter_mut().zip([500, 990]) {
            line.push((!times.is_empty()).then(|| times.percentile(per_mille) as f64));
        }
    }
    lines
}

/// The quantiles of a percentile curve, in thousandths: denser towards the slow end, which is looked at.
fn quantiles() -> impl Iterator<Item = u64> {
    (0..900).step_by(10).chain((900..980).step_by(2)).chain(980..1000)
}

/// The place of a quantile on the axis: one in so many is slower.
fn one_in(per_mille: u64) -> f64 {
    1000.0 / 1000u64.saturating_sub(per_mille).max(1) as f64
}

/// An engine's times of the first kind of operation at each of the [`quantiles`], over every round.
fn curve_ns<F: Replayable>(run: &EngineRun<F>) -> Vec<Option<f64>> {
    let mut times = run.timed.of(0).all_ns;
    let some = !times.is_empty();
    quantiles().map(|per_mille| some.then(|| times.percentile(per_mille).max(1) as f64)).collect()
}
