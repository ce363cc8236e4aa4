//! The talk's reason: audio that drops out and frames that are late, since an allocation took too long.

use super::runs::{Scale, SuiteRuns};
use super::suite::TOGETHER;
use crate::commands::reproduce::{Part, row};
use crate::engine::EngineEntry;
use crate::measure::{Budget, Cost, Glitches, Sampled, Sampling, interruptions, ns_per_work};
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::report::plot::{Axis, Guide, Line, Mark, Measure, Plot, Unit};
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload::playback::{AUDIO, BACKGROUND, FRAME, FRAME_BUFFERS, Playback};
use std::time::Duration;

/// A period of 64 samples at 192 kHz.
const AUDIO_BUDGET: Budget = Budget { name: "audio", ns: 333_333, allocations: 1 };
/// A frame at 60 Hz, and all that it allocates.
const FRAME_BUDGET: Budget = Budget { name: "frame", ns: 16_666_667, allocations: FRAME_BUFFERS as usize };
/// Thousandths of the steps that cost no more: in the middle, and all but the dearest tenth.
const PRICES: [u64; 2] = [500, 900];
const SEED: u64 = 20_190_911;
/// Samples of a run: where an engine may be stopped for time.
const SAMPLES: usize = 10;
/// How long the machine alone is watched.
const WATCHED: Duration = Duration::from_millis(500);

/// An engine at one number of live objects.
struct Point {
    entry: EngineEntry,
    /// Live objects; `None` for the test with all cases together.
    live: Option<u32>,
    /// The price of a step, in the middle and of the dearest tenth.
    ns_per_work: [f64; 2],
    audio: Glitches,
    frame: Option<Glitches>,
    /// The mean of an audio buffer's allocation, by work.
    audio_mean_ns: f64,
    out_of_time: bool,
}

/// The part.
pub(super) fn part(
    scale: &Scale,
    runs: &SuiteRuns,
    engines: &[EngineEntry],
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Part> {
    let mut points: Vec<Point> =
        runs.together.runs.iter().map(|run| in_the_test(&run.entry, &run.costs)).collect();
    for &live in &scale.live {
        points.extend(play(live, scale, engines, tick)?);
    }
    let machine = interruptions(WATCHED, AUDIO_BUDGET.ns);
    let section = Section {
        id: "glitches",
        title: "Missed deadlines".to_owned(),
        about: vec![
            format!(
                "Why there was a rework at all: audio dropped out and frames came late, since an \
                 allocation took too long. Here sound and pictures play over a space fragmented by others: \
                 each period of audio (64 samples at 192 kHz, {}) needs one buffer, each frame (60 Hz, {}) \
                 needs {FRAME_BUFFERS}, while the others free and allocate two objects a period, all of 1 \
                 to 64 pages. An allocation that takes longer than its period, or the allocations of a \
                 frame longer than the frame, are a glitch.",
                nanoseconds(AUDIO_BUDGET.ns as f64),
                nanoseconds(FRAME_BUDGET.ns as f64)
            ),
            format!(
                "Counted twice. By the clock: each allocation at the least of its {} rounds. By work: its \
                 steps, each at the price that a step had in the middle of the same run, half of all steps \
                 being cheaper; beside it the price below which nine tenths of them lie. Where the clock \
                 finds more glitches than the work, steps were dear, as those along a list that lies \
                 scattered in memory are. Budgets are those of any machine, times those of this one.",
                scale.rounds
            ),
        ],
        figures: vec![Figure::Plot(plot(&points, scale))],
        tables: vec![table(&points)],
    };
    let mut notes = vec![format!(
        "missed deadlines: left alone for {}, this machine took the CPU away for longer than a period {} \
         times, at worst for {}. The clock of a single round counts that too; the least of {} rounds \
         hardly does.",
        nanoseconds(WATCHED.as_nanos() as f64),
        count(machine.count),
        nanoseconds(machine.worst_ns as f64),
        scale.rounds
    )];
    for point in points.iter().filter(|point| point.out_of_time) {
        let (label, live) = (point.entry.label(), point.live.unwrap_or(0));
        notes.push(format!(
            "missed deadlines: {label} was stopped for time at {} live objects after {} periods.",
            count(live.into()),
            count(point.audio.deadlines)
        ));
    }
    let rows = points.iter().flat_map(rows).collect();
    Ok(Part { section, rows, notes, keys: keys(&points), ..Part::default() })
}

/// The test's allocations, each against a period of audio.
fn in_the_test(entry: &EngineEntry, costs: &[Cost]) -> Point {
    let prices = PRICES.map(|share| ns_per_work(costs, share));
    Point {
        entry: *entry,
        live: None,
        ns_per_work: prices,
        audio: Glitches::count(costs, &AUDIO_BUDGET, prices[0]),
        frame: None,
        audio_mean_ns: mean_ns(costs, prices[0]),
        out_of_time: false,
    }
}

fn mean_ns(costs: &[Cost], ns_per_work: f64) -> f64 {
    let work: u64 = costs.iter().map(|cost| u64::from(cost.work)).sum();
    ns_per_work * work as f64 / costs.len().max(1) as f64
}

fn play(
    live: u32,
    scale: &Scale,
    engines: &[EngineEntry],
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Vec<Point>> {
    let name = format!("playing over {} live objects", count(live.into()));
    tick(&format!("{name}: setting up"));
    let playback = Playback::new(live, scale.periods, SEED)?;
    let sampling = Sampling {
        layout: playback.layout.clone(),
        objects: playback.objects(),
        ops_per_sample: playback.sampled_ops().div_ceil(SAMPLES),
        samples: SAMPLES,
        rounds: scale.rounds,
        limit: scale.limit / 5,
    };
    let sampled =
        Sampled::measure(&playback, &sampling, engines, &mut |what| tick(&format!("{name}: {what}")))?;
    let point = |run: &crate::measure::SampledRun| {
        let of = |part| sampled.costs_of_part(run, part);
        let all = [of(AUDIO), of(FRAME), of(BACKGROUND)].concat();
        let prices = PRICES.map(|share| ns_per_work(&all, share));
        let audio_costs = of(AUDIO);
        Point {
            entry: run.entry,
            live: Some(live),
            ns_per_work: prices,
            audio: Glitches::count(&audio_costs, &AUDIO_BUDGET, prices[0]),
            frame: Some(Glitches::count(&of(FRAME), &FRAME_BUDGET, prices[0])),
            audio_mean_ns: mean_ns(&audio_costs, prices[0]),
            out_of_time: run.out_of_time,
        }
    };
    Ok(sampled.runs.iter().map(point).collect())
}

/// The worst of a period at each number of live objects, against the budget.
fn plot(points: &[Point], scale: &Scale) -> Plot {
    let mut labels: Vec<String> = Vec::new();
    for point in points {
        if !labels.contains(&point.entry.label()) {
            labels.push(point.entry.label());
        }
    }
    let line = |name: String| {
        let at =
            |live: &u32| points.iter().find(|point| point.live == Some(*live) && point.entry.label() == name);
        let of =
            |figure: &dyn Fn(&Point) -> f64| scale.live.iter().map(|live| at(live).map(figure)).collect();
        Line {
            colour: crate::report::colour(&name),
            values: vec![of(&|point| point.audio_mean_ns), of(&|point| point.audio.worst_work_ns)],
            name,
        }
    };
    let reading = "Lines are means, rings the worst allocation, both by work at its middle price; both axes \
                   are logarithmic. A ring above the level of the period is audio that dropped out.";
    let axes = [Axis::log("live objects", Unit::Live), Axis::log("time of an allocation", Unit::Nanoseconds)];
    let budget_ns = AUDIO_BUDGET.ns as f64;
    Plot {
        wide: true,
        named: true,
        measures: vec![
            Measure { name: "mean", mark: Mark::Points },
            Measure { name: "worst", mark: Mark::Rings },
        ],
        lines: labels.into_iter().map(line).collect(),
        guides: vec![Guide {
            value: budget_ns,
            name: format!("a period of audio, {}", nanoseconds(budget_ns)),
        }],
        at: scale.live.iter().map(|&live| f64::from(live)).collect(),
        ..Plot::new("An audio buffer's allocation against its period", reading, axes)
    }
}

fn missed(missed: u64, deadlines: u64) -> String {
    format!("{} of {}", count(missed), count(deadlines))
}

fn table(points: &[Point]) -> Table {
    let header = [
        "live objects",
        "engine",
        "audio missed, by work",
        "by clock",
        "worst by work",
        "by clock",
        "frames missed, by work",
        "by clock",
        "worst by work",
        "ns a step",
        "dear",
    ];
    let title = format!(
        "Missed deadlines: periods of {} with one allocation, frames of {} with {FRAME_BUFFERS}; in the \
         whole test, every allocation against a period",
        nanoseconds(AUDIO_BUDGET.ns as f64),
        nanoseconds(FRAME_BUDGET.ns as f64)
    );
    let mut table = Table { name_columns: 2, ..Table::new(title, &header) };
    for point in points {
        let audio = &point.audio;
        let mut cells = vec![
            point.live.map_or_else(|| "the test".to_owned(), |live| count(live.into())),
            point.entry.label(),
            missed(audio.by_work, audio.deadlines),
            missed(audio.by_clock, audio.deadlines),
            nanoseconds(audio.worst_work_ns),
            nanoseconds(audio.worst_clock_ns as f64),
        ];
        cells.extend(point.frame.map_or_else(
            || vec!["-".to_owned(); 3],
            |frame| {
                vec![
                    missed(frame.by_work, frame.deadlines),
                    missed(frame.by_clock, frame.deadlines),
                    nanoseconds(frame.worst_work_ns),
                ]
            },
        ));
        cells.extend(point.ns_per_work.map(fixed));
        table.row(cells);
    }
    table
}

/// What the first engine, the gap allocator, missed over the most live objects, against all others together.
fn keys(points: &[Point]) -> Vec<Key> {
    let most = points.iter().filter_map(|point| point.live).max();
    let mut there = points.iter().filter(|point| point.live.is_some() && point.live == most);
    let Some(first) = there.next() else { return Vec::new() };
    let others: u64 = there.map(|point| point.audio.by_work).sum();
    vec![Key {
        value: format!("{} : {}", missed(first.audio.by_work, first.audio.deadlines), count(others)),
        text: format!(
            "periods of audio missed over {} live objects, by work: {} against all others together",
            count(first.live.unwrap_or(0).into()),
            first.entry.label()
        ),
    }]
}

fn rows(point: &Point) -> Vec<Row> {
    let workload = if point.live.is_some() { "playback" } else { TOGETHER };
    let budgets = [(&AUDIO_BUDGET, Some(point.audio)), (&FRAME_BUDGET, point.frame)];
    let of = |(budget, glitches): (&Budget, Option<Glitches>)| {
        let glitches = glitches?;
        let note = format!(
            "{} deadlines of {} ns for {} allocations; missed {} by work at {:.3} ns a step, {} by the clock",
            budget.name,
            budget.ns,
            budget.allocations,
            glitches.by_work,
            point.ns_per_work[0],
            glitches.by_clock
        );
        Some(Row {
            n: point.live.map(u64::from),
            count: Some(glitches.deadlines),
            failures: Some(glitches.by_work),
            note: Some(note),
            ..row(workload, &point.entry, budget.name)
        })
    };
    budgets.into_iter().filter_map(of).collect()
}
