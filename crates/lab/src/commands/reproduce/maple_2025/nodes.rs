//! What of the nodes that are asked for is used: totals, by type of store, and over the stream.

use super::ledger::{PLANNERS, TYPES};
use super::streams::{Point, StreamRun};
use super::{percent, row};
use crate::commands::reproduce::Part;
use crate::output::{Row, Table, count, fixed};
use crate::report::plot::{Axis, Line, Plot, Unit};
use crate::report::section::Figure;
use crate::report::{Key, Section};

/// The part.
pub(super) fn part(streams: &[StreamRun]) -> Part {
    let mut part = Part::default();
    let mut section = Section {
        id: "nodes",
        title: "What is used of what is asked for".to_owned(),
        about: vec![
            "What the kernel asks for and does not take is handed back; some of what it takes it hands back as well, \
             since old nodes are used again. A plan of ours holds the nodes that its store takes: the largest \
             difference over the whole stream stands in the table. Requests are of the kernel's reckonings, \
             as in its histogram; what is taken is over all stores, also those that it had asked for before, or for many \
             at once (bulk mode), so that more can be taken than was reckoned."
                .to_owned(),
            "Nearly all nodes are taken by splits, most of a last leaf that is appended to. A split takes one node at \
             least, and the series' formula asks for three at least, so that on one and the same tree exact plans ask for a \
             third at best where splits are all there is, however a tree splits and merges: that formula is beaten by \
             more only where nodes are removed, which takes none here."
                .to_owned(),
        ],
        ..Section::default()
    };
    for stream in streams {
        section.tables.push(totals(stream));
        section.tables.push(types(stream));
        section.figures.push(Figure::Plot(over_time(stream)));
        part.rows.extend(rows(stream));
        let ours = stream.ours.totals();
        part.keys.push(Key {
            value: fixed(ours[2] as f64 / ours[1].max(1) as f64),
            text: format!(
                "of what the series' formula asks for on our trees is asked for by exact plans, over the stream of {}",
                stream.version
            ),
        });
    }
    part.notes = streams.iter().map(note).collect();
    part.section = section;
    part
}

fn note(stream: &StreamRun) -> String {
    format!(
        "Stream of {}: {} stores, content of {} trees right at their end, of {} wrong; the largest difference between \
         a plan's nodes and those taken is {}.",
        stream.version,
        count(stream.stores),
        count(stream.contents[0]),
        count(stream.contents[1]),
        stream.largest_difference
    )
}

/// Name, whether ours, the planner, nodes asked for, nodes taken, nodes handed back by the kernel.
type Total = (String, bool, &'static str, u64, u64);

fn all(stream: &StreamRun) -> Vec<Total> {
    let [own, worst] = stream.recorded.each_ref().map(super::ledger::Histogram::total);
    let taken = stream.kernel_used[0];
    let mut all = vec![("kernel, worst".to_owned(), false, "worst", worst, taken)];
    if stream.version != "6.12" {
        all.push((format!("kernel {}", stream.version), false, "vacancy", own, taken));
    }
    let ours = PLANNERS.iter().zip(stream.ours.totals());
    all.extend(ours.map(|((_, name), total)| (format!("ours, {name}"), true, *name, total, stream.taken)));
    all
}

fn totals(stream: &StreamRun) -> Table {
    let title = format!("Nodes asked for and taken, over the stream of Linux {}", stream.version);
    let header = ["planner", "asked for", "taken", "taken/asked", "old ones returned", "net"];
    let mut table = Table::new(title, &header);
    for (name, ours, _, asked, taken) in all(stream) {
        let back = if ours { 0 } else { stream.kernel_used[1] };
        let dash = |value: u64| if ours { "-".to_owned() } else { count(value) };
        table.row(vec![
            name,
            count(asked),
            count(taken),
            if ours { "-".to_owned() } else { percent(taken, asked) },
            dash(back),
            dash(taken.saturating_sub(back)),
        ]);
    }
    table.row(vec![
        "largest difference of plan and store, ours".to_owned(),
        count(stream.largest_difference),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    ]);
    table
}

fn types(stream: &StreamRun) -> Table {
    let title = format!("Our trees' stores by type, over the stream of Linux {}", stream.version);
    let mut table = Table::new(title, &["type", "stores"]);
    table.header.extend(PLANNERS.iter().map(|(_, name)| format!("{name}, asked for")));
    for ((_, name), of_type) in TYPES.iter().zip(&stream.ours.types) {
        let mut cells = vec![(*name).to_owned(), count(of_type.calls)];
        cells.extend(of_type.requested.map(count));
        table.row(cells);
    }
    table
}

fn over_time(stream: &StreamRun) -> Plot {
    let x = Axis::linear("stores", Unit::Operations);
    let y = Axis::linear("nodes so far", Unit::Count);
    let line = |name: &str, colour: usize, figure: fn(&Point) -> u64| Line {
        name: name.to_owned(),
        colour,
        values: vec![stream.points.iter().map(|point| Some(figure(point) as f64)).collect()],
    };
    let mut lines = vec![line("kernel, worst", 4, |point| point.kernel[1])];
    if stream.version != "6.12" {
        lines.push(line("kernel, the series", 2, |point| point.kernel[0]));
    }
    lines.extend([
        line("kernel, taken", 5, |point| point.kernel_taken),
        line("ours, worst", 6, |point| point.ours[0]),
        line("ours, vacancy", 3, |point| point.ours[1]),
        line("ours, exact", 0, |point| point.ours[2]),
    ]);
    Plot {
        wide: true,
        switch: true,
        lines,
        at: stream.points.iter().map(|point| point.stores as f64).collect(),
        ..Plot::new(
            format!("Nodes asked for, over the stores of Linux {}'s tests", stream.version),
            "Each line is the sum so far. The kernel's lines are as recorded; ours are of our trees for the same \
             stores, where exact is also what is taken.",
            [x, y],
        )
    }
}

fn rows(stream: &StreamRun) -> Vec<Row> {
    let workload = format!("stream-{}", stream.version);
    let row = |(name, ours, planner, asked, taken): Total| Row {
        count: Some(stream.stores),
        nodes_requested: Some(asked),
        nodes_used: Some(taken),
        mismatches: ours.then_some(stream.contents[1]),
        note: Some(name),
        ..row(&workload, ours, planner, "total")
    };
    all(stream).into_iter().map(row).collect()
}
