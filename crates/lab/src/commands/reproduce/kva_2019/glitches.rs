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
    audio_costs: Vec<Cost>,
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
    Ok(Part { section, rows, notes, keys: keys(&points), failed: false })
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
        audio_costs: costs.to_vec(),
        out_of_time: false,
    }
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
            audio_costs,
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
        let mean = |point: &Point| {
            let work: u64 = point.audio_costs.iter().map(|cost| u64::from(cost.work)).sum();
            point.ns_per_work[0] * work as f64 / point.audio_costs.len().max(1) as f64
        };
        let of =
            |figure: &dyn Fn(&Point) -> f64| scale.live.iter().map(|live| at(live).map(figure)).collect();
        Line {
            colour: crate::report::colour(&name),
            values: vec![of(&mean), of(&|point| point.audio.worst_work_ns)],
            name,
        }
    };
    Plot {
        heading: "An audio buffer's allocation against its period".to_owned(),
        reading: "Lines are means, rings the worst allocation, both by work at its middle price; both axes \
                  are logarithmic. A ring above the level of the period is audio that dropped out."
            .to_owned(),
        wide: true,
        x: Axis { title: "live objects".to_owned(), unit: Unit::Live, log: true, range: None },
        y: Axis {
            title: "time of an allocation".to_owned(),
            unit: Unit::Nanoseconds,
            log: true,
            range: None,
        },
        switch: false,
        named: true,
        group: None,
        measures: vec![
            Measure { name: "mean", mark: Mark::Points },
            Measure { name: "worst", mark: Mark::Rings },
        ],
        lines: labels.into_iter().map(line).collect(),
        guides: vec![Guide { value: AUDIO_BUDGET.ns as f64, name: "a period of audio, 333 us".to_owned() }],
        at: scale.live.iter().map(|&live| f64::from(live)).collect(),
        clock_s: Vec::new(),
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

/// The largest number of live objects at which the gap allocator missed a deadline, against the same for the others.
fn keys(points: &[Point]) -> Vec<Key> {
    let played = || points.iter().filter(|point| point.live.is_some());
    let Some(worst) = played().max_by_key(|point| (point.live, point.audio.by_work)) else {
        return Vec::new();
    };
    let others =
        played().filter(|point| point.live == worst.live && point.entry.label() != worst.entry.label());
    let others: u64 = others.map(|point| point.audio.by_work).sum();
    vec![Key {
        value: format!("{} : {}", missed(worst.audio.by_work, worst.audio.deadlines), count(others)),
        text: format!(
            "periods of audio missed over {} live objects, by work: {} against all other engines",
            count(worst.live.unwrap_or(0).into()),
            worst.entry.label()
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
