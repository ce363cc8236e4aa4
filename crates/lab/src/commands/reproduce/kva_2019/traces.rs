//! The audience's questions: what do real workloads allocate, and how often?

use crate::commands::main_job::data_folder;
use crate::commands::reproduce::{Part, row, traces_in};
use crate::engine::EngineEntry;
use crate::failure::Failure;
use crate::measure::{Demand, Replay, measure};
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::report::plot::{Axis, Line, Plot, Unit};
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload;
use freehold::units::Bytes;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How traces of this family end.
const ENDING: &str = ".kva.csv.zst";
/// Timed rounds of each trace.
const ROUNDS: usize = 3;
/// A workload whose one size has this share asks for one size.
const ONE_SIZE: f64 = 0.9;
/// A share of a CPU below this is little.
const LITTLE: f64 = 0.01;
/// Colours that a plot can tell apart.
const COLOURS: usize = 8;

/// A trace, what it asks for, and what that costs.
struct Asked {
    name: String,
    description: String,
    demand: Demand,
    replay: Replay,
}

/// The part.
pub(super) fn part(
    files: &[PathBuf],
    engines: &[EngineEntry],
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Part> {
    let mut asked = Vec::new();
    for file in files {
        let workload = workload::from_file(file)?;
        tick(&format!("{}: what it asks for", workload.name));
        let demand = Demand::of(&workload);
        let (name, description) = (workload.name.clone(), workload.description.clone());
        let replay = measure(workload, engines, ROUNDS, tick)?;
        asked.push(Asked { name, description, demand, replay });
    }
    let section = Section {
        id: "traces",
        title: "What real workloads ask for, and how often".to_owned(),
        about: about(&asked),
        figures: vec![Figure::Plot(sizes_plot(&asked)), Figure::Plot(runs_plot(&asked))],
        tables: vec![rates(&asked), shares(&asked, engines), commonest(&asked), histogram(&asked)],
    };
    let notes = asked.iter().map(|asked| format!("{}: {}.", asked.name, asked.description)).collect();
    Ok(Part {
        section,
        rows: asked.iter().flat_map(rows).collect(),
        notes,
        keys: keys(&asked),
        ..Part::default()
    })
}

/// The bundled traces, and those of the folder that have another name.
pub(super) fn files(folder: Option<&Path>) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = traces_in(&data_folder()?.join("traces"), ENDING)?;
    if let Some(folder) = folder {
        let others = traces_in(folder, ENDING)
            .map_err(|error| Failure::Usage(format!("--traces {}: {error}", folder.display())))?;
        if others.is_empty() {
            let reason = format!("--traces {}: no file ends in {ENDING}", folder.display());
            return Err(Failure::Usage(reason).into());
        }
        let bundled: BTreeSet<_> =
            files.iter().filter_map(|file| file.file_name().map(ToOwned::to_owned)).collect();
        files.extend(
            others.into_iter().filter(|file| file.file_name().is_none_or(|name| !bundled.contains(name))),
        );
    }
    files.sort();
    Ok(files)
}

fn share(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

/// The answers in words, out of the figures.
fn about(asked: &[Asked]) -> Vec<String> {
    let demands = || asked.iter().map(|asked| &asked.demand);
    let traces = asked.len();
    let one_size =
        demands().filter(|demand| demand.commonest(1).first().is_some_and(|size| size.1 >= ONE_SIZE)).count();
    let bursts = demands().filter(|demand| demand.middle_run() >= 10).count();
    let fastest = demands().filter_map(Demand::rate).fold(0.0, f64::max);
    let most = demands().map(|demand| demand.busiest[0]).max().unwrap_or(0);
    let busiest = asked.iter().filter_map(|asked| cpu_share(asked, 0)).fold(0.0, f64::max);
    let reworked = asked.iter().filter_map(|asked| cpu_share(asked, 1)).fold(0.0, f64::max);
    vec![
        "Two questions were asked after the talk: whether one size at a time, many times over, would not \
         tell more than random sizes; and how often a real system allocates at all, since with a few \
         hundred forks a second a lock does not matter. The speaker had no figures. These are of recorded \
         kernels, all sizes with their guard page."
            .to_owned(),
        format!(
            "What: in {one_size} of {traces} recorded workloads one size has at least {:.0} % of all \
             allocations; in {bursts} of {traces} half of the allocations come in runs of ten or more of \
             one size. How often: {} a second at most in the mean, {} in the busiest millisecond. At its \
             mean rate the dearest of them costs the gap allocator {} of one CPU, the rework {}.{}",
            100.0 * ONE_SIZE,
            fixed(fastest),
            count(most),
            percent(busiest),
            percent(reworked),
            if busiest.max(reworked) < LITTLE {
                " At such rates the sum hardly matters, as the questioner thought; the worst of one \
                 allocation may."
            } else {
                ""
            }
        ),
        quicker(asked),
    ]
}

/// Where the gap allocator is not the slower one.
fn quicker(asked: &[Asked]) -> String {
    let is_quicker = |asked: &&Asked| {
        let mut loops_ns = asked.replay.runs.iter().map(|run| run.timed.loop_median_ns());
        loops_ns.next().is_some_and(|gap_ns| loops_ns.all(|ns| gap_ns < ns))
    };
    let quicker = asked.iter().filter(is_quicker);
    let names: Vec<&str> = quicker.map(|asked| asked.name.as_str()).collect();
    if names.is_empty() {
        return "On none of these workloads is the gap allocator quicker than all others.".to_owned();
    }
    format!(
        "On {} of {} of these workloads ({}) the gap allocator is quicker than the rework and ours: one \
         size over and over is what its cache is for, and it has fewer things to keep. It is where sizes \
         mix and holes stay that it walks.",
        names.len(),
        asked.len(),
        names.join(", ")
    )
}

fn percent(share: f64) -> String {
    if share < 0.0001 { format!("{:.4} %", 100.0 * share) } else { format!("{:.2} %", 100.0 * share) }
}

/// The share of a CPU that an engine needs for the trace's operations at their mean rate.
fn cpu_share(asked: &Asked, engine: usize) -> Option<f64> {
    let run = asked.replay.runs.get(engine)?;
    let ops = asked.replay.workload.ops.len() as f64;
    (asked.demand.seconds > 0.0).then(|| run.timed.loop_median_ns() * ops / (asked.demand.seconds * 1e9))
}

fn rates(asked: &[Asked]) -> Table {
    let header = [
        "trace",
        "allocations",
        "seconds",
        "a second",
        "most in 1 ms",
        "in 100 ms",
        "in 1 s",
        "same size as before",
        "half in runs of",
        "longest run",
    ];
    let mut table = Table::new("How often: rates, and runs of one size", &header);
    for Asked { name, demand, .. } in asked {
        let mut cells = vec![
            name.clone(),
            count(demand.allocations),
            format!("{:.1}", demand.seconds),
            demand.rate().map_or_else(|| "-".to_owned(), fixed),
        ];
        cells.extend(demand.busiest.map(count));
        cells.extend([share(demand.repeats()), count(demand.middle_run()), count(demand.longest_run())]);
        table.row(cells);
    }
    table
}

/// What the allocator's part is at these rates.
fn shares(asked: &[Asked], engines: &[EngineEntry]) -> Table {
    let title = "What it costs: time of an operation in a loop over the trace, and the share of one CPU at \
                 its mean rate";
    let mut table = Table::new(title, &["trace"]);
    for entry in engines {
        table.header.extend([entry.label(), "of a CPU".to_owned()]);
    }
    for one in asked {
        let mut cells = vec![one.name.clone()];
        for (at, run) in one.replay.runs.iter().enumerate() {
            cells.push(nanoseconds(run.timed.loop_median_ns()));
            cells.push(cpu_share(one, at).map_or_else(|| "-".to_owned(), percent));
        }
        table.row(cells);
    }
    table
}

fn commonest(asked: &[Asked]) -> Table {
    let header = ["trace", "sizes", "commonest", "second", "third", "up to 64 KiB", "up to 1 MiB", "largest"];
    let mut table = Table::new("What: the sizes asked for most, guard page included", &header);
    for Asked { name, demand, .. } in asked {
        let mut cells = vec![name.clone(), count(demand.sizes.len() as u64)];
        let mut common = demand.commonest(3).into_iter();
        for _ in 0..3 {
            let size = common.next().map(|(size, part)| format!("{} ({})", Bytes::from(size), share(part)));
            cells.push(size.unwrap_or_else(|| "-".to_owned()));
        }
        cells.extend([share(demand.up_to(64 << 10)), share(demand.up_to(1 << 20))]);
        cells.push(Bytes::from(demand.sizes.keys().next_back().copied().unwrap_or(0)).to_string());
        table.row(cells);
    }
    table
}

/// Allocations by powers of two.
fn histogram(asked: &[Asked]) -> Table {
    let mut table = Table::new("What: allocations by size", &["from"]);
    table.header.extend(asked.iter().map(|asked| asked.name.clone()));
    let class = |size: &u64| (*size).max(1).ilog2();
    let classes: BTreeSet<u32> =
        asked.iter().flat_map(|asked| asked.demand.sizes.keys().map(class)).collect();
    for of in classes {
        let mut cells = vec![Bytes::from(1u64 << of).to_string()];
        for Asked { demand, .. } in asked {
            let sizes = demand.sizes.iter().filter(|(size, _)| class(size) == of);
            cells.push(count(sizes.map(|(_, count)| count).sum()));
        }
        table.row(cells);
    }
    table
}

fn plot(heading: &str, reading: &str, x: Axis, at: Vec<f64>, lines: Vec<Line>) -> Plot {
    let y = Axis::linear("of the allocations", Unit::Percent).between(0.0, 105.0);
    Plot { lines, at, ..Plot::new(heading, reading, [x, y]) }
}

fn lines(asked: &[Asked], at: &[u64], figure: impl Fn(&Demand, u64) -> f64) -> Vec<Line> {
    let line = |(number, asked): (usize, &Asked)| Line {
        name: asked.name.clone(),
        colour: number % COLOURS,
        values: vec![at.iter().map(|&at| Some(100.0 * figure(&asked.demand, at))).collect()],
    };
    asked.iter().enumerate().map(line).collect()
}

fn sizes_plot(asked: &[Asked]) -> Plot {
    let sizes: BTreeSet<u64> = asked.iter().flat_map(|asked| asked.demand.sizes.keys().copied()).collect();
    // A line that starts at nothing, and shows its steps.
    let first = sizes.first().map(|first| first / 2);
    let at: Vec<u64> = first
        .into_iter()
        .chain(sizes.iter().flat_map(|&size| [size.saturating_sub(1), size]))
        .filter(|&size| size > 0)
        .collect();
    let x = Axis::log("size, guard page included", Unit::Bytes);
    plot(
        "Sizes",
        "Share of the allocations up to a size. A step is a size that many ask for; a task's stack with \
         its guard page is 20 KiB.",
        x,
        at.iter().map(|&at| at as f64).collect(),
        lines(asked, &at, Demand::up_to),
    )
}

fn runs_plot(asked: &[Asked]) -> Plot {
    let lengths: BTreeSet<u64> =
        asked.iter().flat_map(|asked| asked.demand.in_runs.keys().copied()).collect();
    // Each length, and the one after it, at which its runs no longer count.
    let at: BTreeSet<u64> = lengths.into_iter().flat_map(|length| [length, length + 1]).chain([1]).collect();
    let at: Vec<u64> = at.into_iter().collect();
    let x = Axis::log("length of the run", Unit::Run);
    plot(
        "Runs of one size",
        "Share of the allocations that come in runs of at least that many of one size. Random sizes would \
         fall to nothing at once.",
        x,
        at.iter().map(|&at| at as f64).collect(),
        lines(asked, &at, |demand, length| demand.in_runs_from(length)),
    )
}

fn keys(asked: &[Asked]) -> Vec<Key> {
    let repeats = asked.iter().map(|asked| asked.demand.repeats());
    let (least, most) =
        repeats.fold((1.0, 0.0), |(least, most): (f64, f64), part| (least.min(part), most.max(part)));
    let (least, most) = (100.0 * least, 100.0 * most);
    let value = if asked.len() > 1 { format!("{least:.0} to {most:.0} %") } else { format!("{most:.0} %") };
    let traces = if asked.len() > 1 { "by trace" } else { "in the bundled trace" };
    vec![Key { value, text: format!("of real allocations are of the size of the one before, {traces}") }]
}

fn rows(asked: &Asked) -> Vec<Row> {
    let demand = &asked.demand;
    let note = format!(
        "{:.1} a second; most in 1 ms {}, in 100 ms {}, in 1 s {}; repeats {:.4}; half in runs of {}, \
         longest {}",
        demand.rate().unwrap_or(0.0),
        demand.busiest[0],
        demand.busiest[1],
        demand.busiest[2],
        demand.repeats(),
        demand.middle_run(),
        demand.longest_run()
    );
    let mut rows = vec![Row {
        suite: "kva",
        workload: Some(asked.name.clone()),
        file: asked.replay.workload.file.clone(),
        op: Some("alloc"),
        count: Some(demand.allocations),
        note: Some(note),
        ..Row::default()
    }];
    let first_ns = asked.replay.runs.first().map_or(0.0, |run| run.timed.loop_median_ns());
    rows.extend(asked.replay.runs.iter().map(|run| {
        let ns = run.timed.loop_median_ns();
        let counted = &run.counted;
        Row {
            count: Some(asked.replay.workload.ops.len() as u64),
            ns_median: Some(ns),
            ratio: (first_ns > 0.0).then(|| ns / first_ns),
            work_mean: Some(counted.work_of(0).mean()),
            work_max: Some(counted.work_of(0).percentile(1000)),
            failures: Some(counted.failures),
            ..row(&asked.name, &run.entry, "loop")
        }
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_adds_its_traces_to_the_bundled_ones_once() {
        let bundled = data_folder().unwrap().join("traces");
        let alone = files(None).unwrap();
        assert_eq!(files(Some(&bundled)).unwrap(), alone);
        let error = files(Some(Path::new("no-such-folder"))).unwrap_err();
        assert!(error.downcast_ref::<Failure>().is_some_and(|failure| failure.exit_code() == 2), "{error}");
    }
}
