//! How many nodes a store asks for while the kernel's own tests run: the posting's return values of
//! `mas_prealloc_calc()`, the recorded kernels', ours.

use super::forms::{Form, Named, beside, drawn, published, text};
use super::ledger::{Histogram, PLANNERS};
use super::streams::StreamRun;
use super::{percent, row};
use crate::commands::reproduce::Part;
use crate::output::{Row, count};
use crate::published::histogram::of;
use crate::published::prealloc_2025::HISTOGRAM;
use crate::report::section::Figure;
use crate::report::{Key, Section};

/// The recorded kernel's, and our trees'.
fn measured(stream: &StreamRun) -> Vec<Named> {
    let named = |name: String, counts: &Histogram, colour| Named {
        name,
        counts: counts.clone(),
        colour: Some(colour),
    };
    let [own, worst] = &stream.recorded;
    let mut all = vec![named("kernel, worst".to_owned(), worst, 4)];
    if stream.version != "6.12" {
        all.push(named(format!("kernel {}", stream.version), own, 2));
    }
    let ours = PLANNERS.iter().zip(&stream.ours.requests).zip([6, 3, 0]);
    all.extend(
        ours.map(|(((_, planner), requests), colour)| named(format!("ours, {planner}"), requests, colour)),
    );
    all
}

/// The part.
pub(super) fn part(streams: &[StreamRun]) -> Part {
    let mut part = Part::default();
    let [before, after] = published(&HISTOGRAM);
    part.printed.extend([&before, &after].map(|named| text(named, Form::Stars)));
    let mut section = Section {
        id: "prealloc",
        title: "How many nodes a store asks for".to_owned(),
        about: vec![
            "While the kernel's tests of the tree ran, the posting counted what its function that reckons the nodes \
             of a store returned; stores that need none it left out. The same tests were recorded store by store from \
             a kernel before the series, 6.12, and one after, 6.16. Every reckoning of these streams is here, also \
             those for a store that then failed. check_dup alone makes 93 % of them: it is no typical workload."
                .to_owned(),
        ],
        ..Section::default()
    };
    for stream in streams {
        let measured = measured(stream);
        for named in &measured {
            let title = format!("{} ({})", named.name, stream.version);
            part.printed
                .push(text(&Named { name: title, counts: named.counts.clone(), ..*named }, Form::Stars));
        }
        let [before, after] = published(&HISTOGRAM);
        let all: Vec<Named> = [before, after].into_iter().chain(measured).collect();
        section.tables.push(beside(
            &format!("Nodes asked for by a store, over the stream of Linux {}", stream.version),
            &all,
        ));
        let heading = format!("Reckonings by their result, Linux {}'s stores", stream.version);
        section.figures.push(Figure::Histograms(drawn(
            &heading,
            "How often each number of nodes was asked for; a bar is a share of the most in its column. The series moves \
             the weight from 7, 9 and 11 nodes to 3 and 5; what is really taken is 1 nearly always.",
            &all,
        )));
        part.rows.extend(rows(stream));
        let totals = stream.ours.totals();
        part.keys.push(Key {
            value: percent(totals[2], stream.recorded[0].total()),
            text: format!(
                "of the nodes that Linux {} asked for in its own tests are asked for, and taken, by our tree for the same stores",
                stream.version
            ),
        });
        part.failed |= stream.largest_difference > 0 || stream.contents[1] > 0;
    }
    part.section = section;
    part
}

fn rows(stream: &StreamRun) -> Vec<Row> {
    let workload = format!("stream-{}", stream.version);
    let mut rows = Vec::new();
    let published = |planner: &str, value: u64| match planner {
        "worst" => Some(of(HISTOGRAM.before, value)),
        "vacancy" => Some(of(HISTOGRAM.after, value)),
        _ => None,
    };
    let own = if stream.version == "6.12" { "worst" } else { "vacancy" };
    let kernels = [("worst", &stream.recorded[1]), (own, &stream.recorded[0])];
    let kernels = kernels.into_iter().take(if own == "worst" { 1 } else { 2 });
    let ours =
        PLANNERS.iter().zip(&stream.ours.requests).map(|((_, planner), requests)| (*planner, requests, true));
    for (planner, requests, ours) in kernels.map(|(planner, requests)| (planner, requests, false)).chain(ours)
    {
        for value in requests.values() {
            let published = published(planner, value).filter(|_| value > 0);
            rows.push(Row {
                n: Some(value),
                count: Some(requests.of(value)),
                published: published.map(|published| published as f64),
                published_unit: published.map(|_| "reckonings"),
                note: Some(format!("n nodes asked for; {} reckonings in all", count(requests.calls()))),
                ..row(&workload, ours, planner, "prealloc")
            });
        }
    }
    rows
}
