//! The talk's plots: least, mean and greatest cost of an allocation, sample by sample.

use super::runs::SuiteRuns;
use super::suite::TOGETHER;
use crate::commands::reproduce::{Part, row};
use crate::measure::{Cost, Counts, SampledRun, Spread};
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::published::{Statistic, Subject, find, talk_2019};
use crate::report::plot::{Axis, Guide, Line, Mark, Measure, Plot, Unit};
use crate::report::section::Figure;
use crate::report::{Key, Section};

/// Times below are the clock's own.
const CLOCK_NS: f64 = 10.0;

/// What is drawn of a sample.
const SPREAD: [Measure; 3] = [
    Measure { name: "mean", mark: Mark::Line },
    Measure { name: "least", mark: Mark::Light },
    Measure { name: "greatest", mark: Mark::Light },
];

/// The part.
pub(super) fn part(runs: &SuiteRuns) -> Part {
    let engines = &runs.together.runs;
    let mut figures = Vec::new();
    for (kind, plots) in [(Kind::Work, "Work"), (Kind::Time, "Time")] {
        let range = range(engines, kind);
        for run in engines.iter().take(2) {
            figures.push(Figure::Plot(of_one(run, kind, plots, range)));
        }
    }
    figures.push(Figure::Plot(means(engines, Kind::Work, "Work")));
    figures.push(Figure::Plot(means(engines, Kind::Time, "Time")));
    figures.push(Figure::Plot(state(engines)));
    let section = Section {
        id: "samples",
        title: "Cost of an allocation over time".to_owned(),
        about: vec![
            "The talk's plots: 120 samples while all CPUs run the test, of each the least, the mean and \
             the greatest time of an allocation. Its first plot is the gap allocator, its second the \
             rework, its third the means of both. Here a sample is a number of operations, the same ones \
             for every engine, and what the test sets up between its bodies does not count."
                .to_owned(),
            "Levels: what the talk read off its plots, on a laptop of 2012 and for whole vmalloc calls. \
             What to see: the gap allocator goes up and down by orders of magnitude with what the cases \
             leave behind, the rework does not."
                .to_owned(),
        ],
        figures,
        tables: vec![table(engines)],
    };
    Part { section, rows: engines.iter().map(alloc_row).collect(), keys: keys(engines), ..Part::default() }
}

/// What a plot shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Work,
    Time,
}

impl Kind {
    fn spreads(self, run: &SampledRun) -> Vec<Option<Spread>> {
        match self {
            Self::Work => run.work().collect(),
            Self::Time => run.times_ns().collect(),
        }
    }

    fn axis(self, range: Option<[f64; 2]>) -> Axis {
        let (title, unit) = match self {
            Self::Work => ("steps per allocation", Unit::Count),
            Self::Time => ("nanoseconds per allocation", Unit::Nanoseconds),
        };
        Axis { title: title.to_owned(), unit, log: true, range }
    }
}

/// The samples from left to right.
pub(super) fn axis(samples: usize) -> Axis {
    Axis::linear("sample", Unit::Samples).between(0.0, samples as f64 + 1.0)
}

/// The samples' places on it.
pub(super) fn numbers(samples: usize) -> Vec<f64> {
    (1..=samples).map(|sample| sample as f64).collect()
}

/// An engine's line, in its colour.
pub(super) fn line(run: &SampledRun, values: Vec<Vec<Option<f64>>>) -> Line {
    let name = run.entry.label();
    Line { colour: crate::report::colour(&name), name, values }
}

fn plot(heading: impl Into<String>, reading: &str, samples: usize, y: Axis) -> Plot {
    let group = Some("samples".to_owned());
    Plot { group, at: numbers(samples), ..Plot::new(heading, reading, [axis(samples), y]) }
}

/// From the least to the greatest of the first two engines, so that their plots can be laid side by side.
fn range(engines: &[SampledRun], kind: Kind) -> Option<[f64; 2]> {
    let spreads = engines.iter().take(2).flat_map(|run| kind.spreads(run)).flatten();
    let floor = if kind == Kind::Work { 0.5 } else { CLOCK_NS };
    let [low, high] = spreads.fold([f64::INFINITY, floor], |[low, high], spread| {
        [low.min(spread.least.max(floor)), high.max(spread.greatest)]
    });
    let guides = guides(kind, "gap-list").into_iter().chain(guides(kind, "rbtree"));
    let [low, high] =
        guides.fold([low, high], |[low, high], guide| [low.min(guide.value), high.max(guide.value)]);
    (low < high).then_some([low / 1.3, high * 1.5])
}

/// What the talk says of that engine's times.
fn guides(kind: Kind, engine: &str) -> Vec<Guide> {
    if kind == Kind::Work {
        return Vec::new();
    }
    let of = |(statistic, name): (Statistic, &str)| {
        let figure = find(&talk_2019::TABLE, Subject::AllocationTime(statistic))?;
        let quantity = if engine == "gap-list" { figure.before } else { figure.after };
        Some(Guide { value: quantity?.in_base() * 1e9, name: format!("talk: {name}") })
    };
    let statistics =
        [(Statistic::Least, "least"), (Statistic::Mean, "mean"), (Statistic::Greatest, "greatest")];
    statistics.into_iter().filter_map(of).collect()
}

/// Least, mean and greatest of one engine.
fn of_one(run: &SampledRun, kind: Kind, what: &str, range: Option<[f64; 2]>) -> Plot {
    let label = run.entry.label();
    let spreads = kind.spreads(run);
    let of = |figure: fn(&Spread) -> f64| spreads.iter().map(|spread| spread.as_ref().map(figure)).collect();
    let reading = match kind {
        Kind::Work => {
            "Exact, the same on every machine. A line that leaves at the bottom is below half a step: the \
             cached place was right."
        }
        Kind::Time => {
            "Each allocation at the least of its rounds; 10 ns and less is the clock itself. Both plots \
             have one scale."
        }
    };
    Plot {
        measures: SPREAD.to_vec(),
        lines: vec![line(
            run,
            vec![of(|spread| spread.mean), of(|spread| spread.least), of(|spread| spread.greatest)],
        )],
        guides: guides(kind, run.entry.engine),
        ..plot(format!("{what} of an allocation: {label}"), reading, spreads.len(), kind.axis(range))
    }
}

/// The means of all engines.
fn means(engines: &[SampledRun], kind: Kind, what: &str) -> Plot {
    let samples = engines.iter().map(|run| run.samples.len()).max().unwrap_or(0);
    let of = |run: &SampledRun| {
        let mut means: Vec<Option<f64>> =
            kind.spreads(run).iter().map(|spread| spread.as_ref().map(|spread| spread.mean)).collect();
        means.resize(samples, None);
        line(run, vec![means])
    };
    let reading = "The talk's third plot, ours with it. rbtree:lowest is exact for every alignment, and \
                   pays for it with visits where aligned requests meet many holes; the B+tree is as exact \
                   at a few visits of larger nodes.";
    Plot {
        switch: true,
        lines: engines.iter().map(of).collect(),
        ..plot(format!("{what} of an allocation: the means"), reading, samples, kind.axis(None))
    }
}

/// What lies in the space.
fn state(engines: &[SampledRun]) -> Plot {
    let Some(run) = engines.get(1) else { return plot("", "", 0, Kind::Work.axis(None)) };
    let of = |figure: fn(&crate::measure::Sample) -> u64| {
        run.samples.iter().map(|sample| Some(figure(sample) as f64)).collect()
    };
    let lines =
        [("live areas", 4, of(|sample| sample.live)), ("free blocks", 2, of(|sample| sample.free_blocks))];
    let reading = "What the cases hold at the end of each sample, and into how many pieces the free space \
                   is cut (under the rework). The gap allocator's steps go with the first, where its cache \
                   does not help.";
    let y = Axis::linear("areas, blocks", Unit::Count);
    let lines =
        lines.map(|(name, colour, values)| Line { name: name.to_owned(), colour, values: vec![values] });
    Plot { wide: true, lines: lines.into(), ..plot("What is in the space", reading, run.samples.len(), y) }
}

/// The spread over the whole run: the least of all, the mean of the samples' means, the greatest of all.
pub(super) fn overall(spreads: impl Iterator<Item = Option<Spread>>) -> Option<Spread> {
    let spreads: Vec<Spread> = spreads.flatten().collect();
    let means = Spread::of(spreads.iter().map(|spread| spread.mean))?;
    Some(Spread {
        least: spreads.iter().map(|spread| spread.least).fold(f64::INFINITY, f64::min),
        mean: means.mean,
        greatest: spreads.iter().map(|spread| spread.greatest).fold(0.0, f64::max),
    })
}

fn time_text(ns: f64) -> String {
    if ns < CLOCK_NS { format!("< {}", nanoseconds(CLOCK_NS)) } else { nanoseconds(ns) }
}

fn table(engines: &[SampledRun]) -> Table {
    let header = ["", "time: least", "mean", "greatest", "steps: least", "mean", "greatest", "samples"];
    let title = "An allocation while all cases run together: over the samples, the least, the mean of \
                 their means, the greatest";
    let mut table = Table::new(title, &header);
    for (name, before) in [("talk: gap allocator", true), ("talk: rework", false)] {
        let of = |statistic| {
            let figure = find(&talk_2019::TABLE, Subject::AllocationTime(statistic));
            let quantity = figure.and_then(|figure| if before { figure.before } else { figure.after });
            quantity.map_or_else(|| "-".to_owned(), |quantity| quantity.to_string())
        };
        let times = [Statistic::Least, Statistic::Mean, Statistic::Greatest].map(of);
        let mut cells = vec![name.to_owned()];
        cells.extend(times);
        cells.extend(["-", "-", "-"].map(str::to_owned));
        cells.push(count(talk_2019::SAMPLES as u64));
        table.row(cells);
    }
    for run in engines {
        let of = |spread: Option<Spread>, text: fn(f64) -> String| {
            spread.map_or_else(
                || vec!["-".to_owned(); 3],
                |spread| [spread.least, spread.mean, spread.greatest].map(text).to_vec(),
            )
        };
        let mut cells = vec![run.entry.label()];
        cells.extend(of(overall(run.times_ns()), time_text));
        cells.extend(of(overall(run.work()), fixed));
        cells.push(count(run.samples.len() as u64));
        table.row(cells);
    }
    table
}

fn keys(engines: &[SampledRun]) -> Vec<Key> {
    let work = |at: usize| overall(engines.get(at)?.work());
    let (Some(before), Some(after)) = (work(0), work(1)) else { return Vec::new() };
    vec![Key {
        value: format!("{} : {}", fixed(before.greatest), fixed(after.greatest)),
        text: format!(
            "steps of the worst allocation, gap allocator against rework; in the mean {} : {}",
            fixed(before.mean),
            fixed(after.mean)
        ),
    }]
}

/// What allocations cost, put into a row.
pub(super) fn costs_row(row: Row, costs: &[Cost]) -> Row {
    let mut work: Counts = costs.iter().map(|cost| u64::from(cost.work)).collect();
    let mut ns: Counts = costs.iter().map(|cost| u64::from(cost.ns)).collect();
    Row {
        count: Some(costs.len() as u64),
        ns_median: Some(ns.percentile(500) as f64),
        ns_p99: Some(ns.percentile(990)),
        ns_p999: Some(ns.percentile(999)),
        work_mean: Some(work.mean()),
        work_p99: Some(work.percentile(990)),
        work_p999: Some(work.percentile(999)),
        work_max: Some(work.percentile(1000)),
        ..row
    }
}

fn alloc_row(run: &SampledRun) -> Row {
    let figure = find(&talk_2019::TABLE, Subject::AllocationTime(Statistic::Mean));
    let published = figure.and_then(|figure| match (run.entry.engine, run.entry.placement) {
        ("gap-list", _) => figure.before,
        (_, Some("linux")) => figure.after,
        _ => None,
    });
    let mean = overall(run.times_ns()).map_or(0.0, |spread| spread.mean);
    Row {
        published: published.map(|quantity| quantity.value),
        published_unit: published.map(|quantity| quantity.unit.name()),
        note: Some(format!("published is the mean; the mean of the samples' means here is {mean:.1} ns")),
        ..costs_row(row(TOGETHER, &run.entry, "alloc"), &run.costs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_run_is_the_mean_of_its_samples() {
        let spread = |least, mean, greatest| Some(Spread { least, mean, greatest });
        let all = overall([spread(2.0, 4.0, 9.0), None, spread(1.0, 2.0, 3.0)].into_iter()).unwrap();
        assert_eq!(all, Spread { least: 1.0, mean: 3.0, greatest: 9.0 });
        assert_eq!(overall([None].into_iter()), None);
    }

    #[test]
    fn the_talks_levels_are_in_nanoseconds() {
        let levels =
            |engine| guides(Kind::Time, engine).iter().map(|guide| guide.value.round()).collect::<Vec<_>>();
        assert_eq!(levels("gap-list"), [25_000.0, 400_000.0, 4_000_000.0]);
        assert_eq!(levels("rbtree"), [7_000.0, 10_000.0]);
        assert!(guides(Kind::Work, "gap-list").is_empty());
    }
}
