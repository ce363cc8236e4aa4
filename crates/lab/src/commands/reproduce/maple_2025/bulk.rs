//! The posting's stress test: how many nodes are asked for at once, and which calls ask for them.

use super::forms::{Form, Named, beside, drawn, published, text};
use super::ledger::{Histogram, PLANNERS};
use super::planned::Program;
use super::{percent, row};
use crate::commands::reproduce::Part;
use crate::output::{Row, Table, count, fixed};
use crate::published::bulk_2025::{AREAS, HISTOGRAM, NODE_TOTALS};
use crate::report::Section;
use crate::report::plot::{Axis, Line, Plot, Unit};
use crate::report::section::Figure;

/// The workload's name in rows.
const WORKLOAD: &str = "stress-mmap";

/// Numbers of the colours of [`PLANNERS`].
const COLOURS: [usize; 3] = [6, 3, 0];

/// The part.
pub(super) fn part(stress: &Program) -> Part {
    let ours = ours(stress, Histogram::bulk);
    let printed: Vec<Table> =
        published(&HISTOGRAM).iter().chain(&ours).map(|named| text(named, Form::Brackets)).collect();
    let all: Vec<Named> = published(&HISTOGRAM).into_iter().chain(ours).collect();
    let section = Section {
        id: "bulk",
        title: "What stress-ng --mmap asks for at once".to_owned(),
        about: about(stress),
        figures: vec![
            Figure::Histograms(drawn(
                "Nodes asked for at once",
                "How often each number of nodes was asked for in bulk; a bar is a share of the most in its column. \
                 Published: 120 seconds of the stress test. Ours: the calls of 5 recorded seconds.",
                &all,
            )),
            Figure::Plot(over_time(stress, "the stress test")),
        ],
        tables: vec![
            beside("Nodes asked for at once under stress-ng --mmap", &all),
            per_area(stress),
            calls(stress),
            meaning(),
        ],
    };
    Part { section, printed, rows: rows(stress), ..Part::default() }
}

/// Histograms of what a program asks for by each planner.
pub(super) fn ours(program: &Program, counts: impl Fn(&Histogram) -> Histogram) -> Vec<Named> {
    let requests = PLANNERS.iter().zip(&program.ledger.requests).zip(COLOURS);
    let named = |(((_, planner), requests), colour): ((&(_, &str), _), _)| Named {
        name: format!("ours, {planner}"),
        counts: counts(requests),
        colour: Some(colour),
    };
    requests.map(named).collect()
}

fn about(stress: &Program) -> Vec<String> {
    vec![
        format!(
            "The posting counted how many nodes were asked for at once, in bulk, while stress-ng --mmap 4 ran. Here \
             are {} calls of 5 recorded seconds of it. mmap stores a range, munmap empties one, mprotect and madvise \
             store each piece that changes: {} stores.",
            count(stress.workload.ops.len() as u64),
            count(stress.stores())
        ),
        "The counts of the histogram are one less than what a store asks for: of n nodes one comes by itself and n - 1 in \
         bulk. So it is that a split, which asks for 2 l + 1 nodes over l levels, shows as 2 l, all the even counts; and \
         a store over several leaves, 3 l + 1, as 3 l: 3, 9 and 15. Read off the posting's own figures: with every count \
         times its frequency its totals come out, to the node."
            .to_owned(),
    ]
}

/// What a count in the histogram is of.
fn meaning() -> Table {
    let title =
        "What the published counts are of: levels l that may have to change, and requests before and after";
    let mut table = Table::new(title, &["count", "split or rebalance", "spanning", "before", "after"]);
    let values: std::collections::BTreeSet<u64> =
        HISTOGRAM.before.iter().chain(HISTOGRAM.after).map(|(value, _)| *value).collect();
    for value in values {
        let levels = |of: u64| if value % of == 0 { format!("l = {}", value / of) } else { "-".to_owned() };
        table.row(vec![
            value.to_string(),
            levels(2),
            levels(3),
            count(crate::published::histogram::of(HISTOGRAM.before, value)),
            count(crate::published::histogram::of(HISTOGRAM.after, value)),
        ]);
    }
    table
}

/// Nodes in bulk for each area that came.
fn per_area(stress: &Program) -> Table {
    let mut table = Table::new(
        "Nodes asked for in bulk, and for each area that is mapped",
        &["who", "nodes in bulk", "areas mapped", "nodes/area", "against before"],
    );
    let mapped = stress.by_call.get("mmap()").map_or(0, |call| call.calls);
    let bulk = PLANNERS.iter().zip(&stress.ledger.requests);
    let ours = bulk.map(|((_, name), requests)| (format!("ours, {name}"), requests.bulk().total(), mapped));
    let published = [
        ("published, before".to_owned(), NODE_TOTALS[0], AREAS[0]),
        ("published, after".to_owned(), NODE_TOTALS[1], AREAS[1]),
    ];
    let mut first: [Option<f64>; 2] = [None; 2];
    for (at, (name, nodes, areas)) in published.into_iter().chain(ours).enumerate() {
        let per_area = nodes as f64 / areas.max(1) as f64;
        // Published figures are against published ones, ours against ours.
        let first =
            first.get_mut(usize::from(at >= 2)).map_or(per_area, |first| *first.get_or_insert(per_area));
        let against = if first > 0.0 { format!("{:.4}x", per_area / first) } else { "-".to_owned() };
        table.row(vec![name, count(nodes), count(areas), format!("{per_area:.4}"), against]);
    }
    table
}

/// Which calls ask for how much.
fn calls(stress: &Program) -> Table {
    let mut table = Table::new(
        "Calls of stress-ng --mmap, what they store and what that asks for",
        &["call", "calls", "stores", "per call"],
    );
    for (_, name) in PLANNERS {
        table.header.extend([format!("{name}, nodes"), "in bulk".to_owned()]);
    }
    for (name, call) in &stress.by_call {
        let stores: u64 = call.ledger.types.iter().map(|of_type| of_type.calls).sum();
        let mut cells = vec![
            (*name).to_owned(),
            count(call.calls),
            count(stores),
            fixed(stores as f64 / call.calls.max(1) as f64),
        ];
        for requests in &call.ledger.requests {
            cells.extend([count(requests.total()), count(requests.bulk().calls())]);
        }
        table.row(cells);
    }
    table
}

/// Nodes asked for by a program, which is named as it goes on in a sentence.
pub(super) fn over_time(program: &Program, name: &str) -> Plot {
    let lines = PLANNERS.iter().enumerate().zip(COLOURS).map(|((at, (_, name)), colour)| Line {
        name: format!("ours, {name}"),
        colour,
        values: vec![
            program.points.iter().map(|point| point.requested.get(at).map(|&nodes| nodes as f64)).collect(),
        ],
    });
    Plot {
        wide: true,
        switch: true,
        lines: lines.collect(),
        at: program.points.iter().map(|point| point.op as f64).collect(),
        ..Plot::new(
            format!("Nodes asked for, over {name}"),
            "The sum so far, by planner, all spaces together; exact is also what is taken.",
            [Axis::linear("calls", Unit::Operations), Axis::linear("nodes so far", Unit::Count)],
        )
    }
}

fn rows(stress: &Program) -> Vec<Row> {
    let totals = stress.ledger.totals();
    let worst = totals[0];
    let mut rows = Vec::new();
    for (((_, planner), requests), total) in PLANNERS.iter().zip(&stress.ledger.requests).zip(totals) {
        rows.push(Row {
            count: Some(requests.calls()),
            nodes_requested: Some(total),
            nodes_used: Some(stress.taken),
            note: Some(format!("{} of worst", percent(total, worst))),
            ..row(WORKLOAD, true, planner, "total")
        });
        let bulk = requests.bulk();
        let published = match *planner {
            "worst" => HISTOGRAM.before,
            "vacancy" => HISTOGRAM.after,
            _ => &[],
        };
        rows.extend(bulk.values().map(|value| Row {
            n: Some(value),
            count: Some(bulk.of(value)),
            published: published.iter().find(|(other, _)| *other == value).map(|(_, count)| *count as f64),
            published_unit: (!published.is_empty()).then_some("requests in 120 s"),
            ..row(WORKLOAD, true, planner, "bulk")
        }));
    }
    rows
}
