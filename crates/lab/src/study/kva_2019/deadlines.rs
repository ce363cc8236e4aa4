//! The talk's reason: audio that drops out and frames that are late, since an allocation took too long. Counted twice: by
//! the clock, each allocation at the least of its rounds; and by work, each step at the price that it had in the middle of
//! the same run.

use super::TOGETHER;
use super::runs::{Scale, SuiteRuns};
use crate::engine::EngineEntry;
use crate::record::{Key, Metric, Results, Stat, count, nanoseconds};
use crate::run::{Budget, Cost, Glitches, interruptions, measure, ns_per_work};
use crate::workload::playback::{AUDIO, BACKGROUND, FRAME, FRAME_BUFFERS, playback};
use std::time::Duration;

/// A period of 64 samples at 192 kHz.
const AUDIO_BUDGET: Budget = Budget { name: "audio", ns: 333_333, allocations: 1 };
/// A frame at 60 Hz, and all that it allocates.
const FRAME_BUDGET: Budget = Budget { name: "frame", ns: 16_666_667, allocations: FRAME_BUFFERS as usize };
const SEED: u64 = 20_190_911;
/// Samples of a run: where an engine may be stopped for time.
const SAMPLES: usize = 10;
/// How long the machine alone is watched.
const WATCHED: Duration = Duration::from_millis(500);

/// Plays sound and pictures over spaces that others fragment; and holds every allocation of the test against a period.
pub(super) fn add(
    scale: &Scale,
    runs: &SuiteRuns,
    engines: &[EngineEntry],
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    let together = &runs.together;
    for run in &together.runs {
        let costs = together.costs(run, 0..together.workload.ops.len(), None);
        missed(results, &run.entry.key(TOGETHER), &costs, &costs, &AUDIO_BUDGET);
    }
    for &live in &scale.live {
        play(live, scale, engines, results, tick)?;
    }
    results.fact("period", nanoseconds(AUDIO_BUDGET.ns as f64));
    results.fact("frame", nanoseconds(FRAME_BUDGET.ns as f64));
    results.fact("buffers", FRAME_BUFFERS.to_string());
    results.of(Key::new("kva", "playback").engine("a period of audio")).put(
        Metric::Time,
        Stat::Total,
        AUDIO_BUDGET.ns as f64,
        1,
    );
    let machine = interruptions(WATCHED, AUDIO_BUDGET.ns);
    results.note(format!(
        "missed deadlines: left alone for {}, this machine took the CPU away for longer than a period {} times, at worst for \
         {}. The clock of a single round counts that too; the least of {} rounds hardly does.",
        nanoseconds(WATCHED.as_nanos() as f64),
        count(machine.count),
        nanoseconds(machine.worst_ns as f64),
        scale.rounds
    ));
    Ok(())
}

fn play(
    live: u32,
    scale: &Scale,
    engines: &[EngineEntry],
    results: &mut Results,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    tick(&format!("playing over {} live objects: setting up", count(live.into())));
    let mut workload = playback(live, scale.periods, SEED, SAMPLES)?;
    workload.cut.limit = Some(scale.limit / 5);
    let sampled = measure(workload, engines, scale.rounds, tick)?;
    for run in &sampled.runs {
        let of = |part| sampled.costs(run, 0..run.counted.answers.len(), Some(part));
        let all = [of(AUDIO), of(FRAME), of(BACKGROUND)].concat();
        let key = run.entry.key("playback").param("n", live);
        missed(results, &key, &of(AUDIO), &all, &AUDIO_BUDGET);
        missed(results, &key, &of(FRAME), &all, &FRAME_BUDGET);
        if run.counted.out_of_time {
            let (label, live) = (run.entry.label(), count(live.into()));
            results.note(format!("missed deadlines: {label} was stopped for time at {live} live objects."));
        }
    }
    Ok(())
}

/// How often a budget was missed, and the worst, by work and by the clock; prices are those of all operations.
fn missed(results: &mut Results, key: &Key, costs: &[Cost], all: &[Cost], budget: &Budget) {
    let [price, dear] = [500, 900].map(|share| ns_per_work(all, share));
    let glitches = Glitches::count(costs, budget, price);
    let work: u64 = costs.iter().map(|cost| u64::from(cost.work)).sum();
    let mean_ns = price * work as f64 / costs.len().max(1) as f64;
    let key = key.clone().op(budget.name);
    results
        .of(key.clone())
        .total(Metric::Deadlines, glitches.deadlines)
        .put(Metric::StepPrice, Stat::Median, price, 1)
        .put(Metric::StepPrice, Stat::Max, dear, 1);
    results
        .of(key.clone().param("by", "work"))
        .total(Metric::MissedDeadlines, glitches.by_work)
        .put(Metric::Time, Stat::Mean, mean_ns, costs.len() as u64)
        .put(Metric::Time, Stat::Max, glitches.worst_work_ns, glitches.deadlines);
    results.of(key.param("by", "clock")).total(Metric::MissedDeadlines, glitches.by_clock).put(
        Metric::Time,
        Stat::Max,
        glitches.worst_clock_ns as f64,
        glitches.deadlines,
    );
}
