//! A plot: axes, one line per engine and measure, as the model that the page's script draws in an element of the page.

use super::definition::{AxisUnit, AxisView, Mark, MeasureView, PlotView, Scope};
use super::escape::{self, html, json};
use super::palette::Palette;
use super::words::capital;
use crate::record::{self, Field, Record, Results, figure, fixed, nanoseconds, parts};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// A line, mostly an engine's.
#[derive(Serialize)]
struct Line {
    name: String,
    /// Decides its colour and how it is dashed.
    number: usize,
    /// For each measure a value at each point, `None` where there is none.
    #[serde(skip)]
    values: Vec<Vec<Option<f64>>>,
}

/// A level to hold the lines against.
#[derive(Serialize)]
struct Guide {
    value: f64,
    name: String,
}

/// The model that the script draws.
#[derive(Serialize)]
struct Plot<'a> {
    x: &'a AxisView,
    y: &'a AxisView,
    named: bool,
    measures: &'a [MeasureView],
    /// In the order in which they are drawn: the default engine last, so that no other covers it.
    lines: &'a [Line],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guides: Vec<Guide>,
    /// Points of each line.
    points: usize,
    /// x, then each measure of each line.
    data: Vec<Vec<Figure>>,
    /// When each point was, in seconds, where x is not time and there is a clock.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clock: Vec<Figure>,
}

/// Values that differ by no more than this part cannot be told apart in a plot.
const ALIKE: f64 = 0.005;

/// A number with no more digits than can be seen.
#[derive(Clone, Copy, Debug)]
struct Figure(Option<f64>);

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(value) = self.0.filter(|value| value.is_finite()) else {
            return serializer.serialize_none();
        };
        let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
        if short.fract() == 0.0 && short.abs() < 1e15 {
            serializer.serialize_i64(short as i64)
        } else {
            serializer.serialize_f64(short)
        }
    }
}

fn figures(values: &[f64]) -> Vec<Figure> {
    values.iter().map(|&value| Figure(Some(value))).collect()
}

/// Lines over points along x, ascending, and when each point was, if there is a clock.
type Lines = (Vec<Line>, Vec<f64>, Vec<f64>);

/// Lines of the series of that name.
fn of_series(id: &str, scope: &Scope) -> Lines {
    let (mut lines, mut at, mut clock_s) = (Vec::new(), Vec::new(), Vec::new());
    let series = scope.results.series.iter().filter(|series| series.id == id && scope.has(&series.workload));
    for series in series {
        if at.len() < series.at.len() {
            (at, clock_s) = (series.at.clone(), series.clock_s.clone());
        }
        lines.push(Line { name: series.line.clone(), number: 0, values: series.values.clone() });
    }
    lines.iter_mut().flat_map(|line| &mut line.values).for_each(|values| values.resize(at.len(), None));
    (lines, at, clock_s)
}

/// Lines of the records of a view.
fn of_records(view: &PlotView, scope: &Scope) -> Lines {
    let records = scope.records(&view.of, &[]);
    let x = |record: &Record| view.at.and_then(|at| record.field(at)).and_then(|at| at.parse::<u64>().ok());
    let at: BTreeSet<u64> = records.iter().filter_map(|record| x(record)).collect();
    let line = |(name, of_line): (Vec<String>, Vec<&Record>)| {
        let value = |measure: &MeasureView, at: u64| {
            let cell = measure.cell.as_ref()?;
            let same = |record: &&&Record| cell.is_of(record) && x(record) == Some(at);
            of_line.iter().find(same).map(|record| record.value)
        };
        let of_measure = |measure| at.iter().map(|&at| value(measure, at)).collect();
        Line { name: name.concat(), number: 0, values: view.measure.iter().map(of_measure).collect() }
    };
    let lines = parts(&records, &[Field::Engine]).into_iter().map(line);
    // Whose records have none of the figures has no line.
    let lines = lines.filter(|line| line.values.iter().flatten().any(Option::is_some)).collect();
    (lines, at.iter().map(|&at| at as f64).collect(), Vec::new())
}

/// Puts the default engine's line last, and gives each its number.
fn order(lines: &mut [Line], results: &Results, palette: &Palette) {
    let is_default =
        |line: &Line| results.engines.iter().any(|(label, _, default)| *default && *label == line.name);
    // Legends have the default engine first, and turn the order round.
    lines.sort_by_key(|line| !is_default(line));
    let mut numbers: Vec<usize> = Vec::new();
    for line in lines.iter_mut() {
        // A line that is no engine's has the first number that is left.
        let free = (0..).find(|number| !numbers.contains(number)).unwrap_or(0);
        line.number = palette.number(&line.name).unwrap_or(free);
        numbers.push(line.number);
    }
    lines.reverse();
}

/// Whether there are several lines, and no eye could tell them apart.
fn shows_nothing(lines: &[Line]) -> bool {
    let Some((first, others)) = lines.split_first() else { return true };
    let alike = |(a, b): (&Option<f64>, &Option<f64>)| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= ALIKE * a.abs().max(b.abs()),
        (a, b) => a == b,
    };
    let is_alike = |line: &Line| line.values.iter().flatten().zip(first.values.iter().flatten()).all(alike);
    !others.is_empty() && others.iter().all(is_alike)
}

/// What a plot would show whose lines are all one.
fn sentence(y: &AxisView, lines: &[Line], least: f64, most: f64) -> String {
    let text = |value: f64| match y.unit {
        AxisUnit::Nanoseconds => nanoseconds(value),
        AxisUnit::Bytes => figure(record::Unit::Bytes, value),
        AxisUnit::Percent => format!("{} %", fixed(value)),
        AxisUnit::Ratio => figure(record::Unit::Ratio, value),
        _ => figure(record::Unit::Count, value),
    };
    let range = if most - least <= ALIKE * most.abs() {
        format!("always {}{}", if least < most { "about " } else { "" }, text(most))
    } else {
        format!("from {} to {}", text(least), text(most))
    };
    let engines: Vec<&str> = lines.iter().rev().map(|line| line.name.as_str()).collect();
    capital(&format!("{}: {range}, the same for {}.", y.title, engines.join(", ")))
}

/// The plot as HTML, a sentence if it would show nothing; nothing if it has no points.
pub(super) fn render(view: &PlotView, scope: &Scope, palette: &Palette) -> anyhow::Result<String> {
    let (mut lines, at, clock_s) = match &view.series {
        Some(id) => of_series(id, scope),
        None => of_records(view, scope),
    };
    order(&mut lines, scope.results, palette);
    let values = || lines.iter().flat_map(|line| &line.values).flatten().flatten().copied();
    let range = values().reduce(f64::min).zip(values().reduce(f64::max));
    let Some((least, most)) = range.filter(|_| !at.is_empty()) else { return Ok(String::new()) };
    let [title, reading] = [&view.title, &view.reading].map(|text| scope.text(text));
    if shows_nothing(&lines) {
        return Ok(escape::figure("class=\"said\"", &title, &sentence(&view.y, &lines, least, most), ""));
    }
    let mut x = view.x.clone();
    // A single point has no range of its own.
    if let ([at], None) = (at.as_slice(), x.range) {
        x.range = Some(if x.log { [at / 2.0, at * 2.0] } else { [at - 1.0, at + 1.0] });
    }
    let one = [MeasureView { name: String::new(), mark: Mark::Line, cell: None }];
    // A logarithm has no place for 0.
    let shown = |value: &f64| *value > 0.0 || !view.y.log;
    let of_values =
        |values: &Vec<Option<f64>>| values.iter().map(|value| Figure(value.filter(shown))).collect();
    let mut data = vec![figures(&at)];
    data.extend(lines.iter().flat_map(|line| &line.values).map(of_values));
    let levels =
        view.guides.iter().flat_map(|guides| scope.results.records.iter().filter(|of| guides.takes(of)));
    let guide = |level: &Record| Guide {
        value: level.value,
        name: format!("{}: {}", level.key.engine, nanoseconds(level.value)),
    };
    let plot = Plot {
        x: &x,
        y: &view.y,
        named: view.named,
        measures: if view.measure.is_empty() { &one } else { &view.measure },
        lines: &lines,
        guides: levels.map(guide).collect(),
        points: at.len(),
        data,
        clock: figures(&clock_s),
    };
    let body = format!(
        "<div class=\"bar\"><span class=\"ytitle\">{}</span></div><div class=\"canvas\"></div>\
         <noscript><p class=\"noscript\">This plot is drawn by a script that the page carries in itself; \
         the tables show its main figures.</p></noscript>\
         <script type=\"application/json\">{}</script>",
        html(&view.y.title),
        json(&plot)?
    );
    let attributes = if view.wide { "class=\"plot wide\"" } else { "class=\"plot\"" };
    Ok(escape::figure(attributes, &title, &reading, &body))
}
