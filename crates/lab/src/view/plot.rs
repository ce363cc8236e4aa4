//! A plot before it is drawn: axes, one line per engine and measure, and the element that the page's script
//! draws it in.

use super::definition::{AxisView, MeasureView, PlotView, Scope, capital};
use super::escape::{html, json};
use super::palette::Palette;
use super::table::{figure, fixed, nanoseconds, values};
use crate::record::{self, Record, Results};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// What an axis counts; decides how its numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations since the start.
    Operations,
    /// Live objects.
    Live,
    /// One in so many is slower: 1 / (1 - quantile).
    OneIn,
    /// Nanoseconds.
    Nanoseconds,
    /// Any other whole number.
    Count,
    /// A quotient.
    Ratio,
    /// Samples since the start.
    Samples,
    /// Bytes.
    Bytes,
    /// Hundredths.
    Percent,
    /// Allocations of one size in a row.
    Run,
}

/// How a measure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A line.
    Line,
    /// A line with a mark at each point.
    Points,
    /// A thin, lighter line.
    Light,
    /// Lighter marks without a line.
    Rings,
}

/// An engine in a plot.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    /// The engine.
    pub(super) name: String,
    /// The number of its colour.
    pub(super) colour: usize,
    /// For each measure a value at each point, `None` where there is none.
    #[serde(skip)]
    pub(super) values: Vec<Vec<Option<f64>>>,
}

/// A level to hold the lines against.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Guide {
    /// Where, along y.
    pub(super) value: f64,
    /// What it is.
    pub(super) name: String,
}

/// A plot of several engines over one axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Plot {
    /// What it shows, its heading.
    #[serde(skip)]
    pub(super) heading: String,
    /// How to read it, a sentence.
    #[serde(skip)]
    pub(super) reading: String,
    /// Whether it takes the whole width.
    #[serde(skip)]
    pub(super) wide: bool,
    /// From left to right.
    pub(super) x: AxisView,
    /// From bottom to top.
    pub(super) y: AxisView,
    /// Whether the reader may switch the vertical axis between linear and logarithmic.
    pub(super) switch: bool,
    /// Whether the lines are named at their ends.
    pub(super) named: bool,
    /// Plots of one group share cursor and zoom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    /// What is drawn of each engine.
    pub(super) measures: Vec<MeasureView>,
    /// The engines in the order in which they are drawn: the default one last, so that no other covers it.
    pub(super) lines: Vec<Line>,
    /// Levels that are none of the engines'.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) guides: Vec<Guide>,
    /// The points along x, ascending.
    #[serde(skip)]
    pub(super) at: Vec<f64>,
    /// When each point was, in seconds, where x is not time and there is a clock; may be empty.
    #[serde(skip)]
    pub(super) clock_s: Vec<f64>,
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

#[derive(Serialize)]
struct Drawn<'a> {
    #[serde(flatten)]
    plot: &'a Plot,
    /// Points of each line.
    points: usize,
    /// x, then each measure of each engine.
    data: Vec<Vec<Figure>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clock: Vec<Figure>,
}

impl Plot {
    /// What a view draws of results.
    pub(super) fn of(view: &PlotView, results: &Results, scope: &Scope, palette: &Palette) -> Self {
        let fill = |text: &str| scope.fill(text, results, &BTreeMap::new()).unwrap_or_default();
        let one = MeasureView { name: String::new(), mark: Mark::Line, cell: None };
        let measures = if view.measure.is_empty() { vec![one] } else { view.measure.clone() };
        let mut plot = Self {
            heading: fill(&view.title),
            reading: fill(&view.reading),
            wide: view.wide,
            x: view.x.clone(),
            y: view.y.clone(),
            switch: view.switch,
            named: view.named,
            group: view
                .group
                .as_ref()
                .map(|group| group.clone() + scope.each.as_ref().map_or("", |each| &each.1)),
            measures,
            lines: Vec::new(),
            guides: Vec::new(),
            at: Vec::new(),
            clock_s: Vec::new(),
        };
        match &view.series {
            Some(id) => plot.add_series(id, results, scope),
            None => plot.add_records(view, results, scope),
        }
        // A single point has no range of its own.
        if let ([at], None) = (plot.at.as_slice(), plot.x.range) {
            plot.x.range = Some(if plot.x.log { [at / 2.0, at * 2.0] } else { [at - 1.0, at + 1.0] });
        }
        let is_default =
            |line: &Line| results.engines.iter().any(|(label, _, default)| *default && *label == line.name);
        // Legends have the default engine first, and turn the order round.
        plot.lines.sort_by_key(|line| !is_default(line));
        let mut colours: Vec<usize> = Vec::new();
        for line in &mut plot.lines {
            // A line that is no engine's has the first colour that is left.
            let free = (0..).find(|colour| !colours.contains(colour)).unwrap_or(0);
            line.colour = palette.colour(&line.name).unwrap_or(free);
            colours.push(line.colour);
        }
        plot.lines.reverse();
        if let Some(guides) = &view.guides {
            let levels = results.records.iter().filter(|record| guides.takes(record));
            plot.guides.extend(levels.map(|record| Guide {
                value: record.value,
                name: format!("{}: {}", record.key.engine, nanoseconds(record.value)),
            }));
        }
        plot
    }

    fn add_series(&mut self, id: &str, results: &Results, scope: &Scope) {
        let in_scope = |workload: &str| scope.each.as_ref().is_none_or(|(_, value)| value == workload);
        for series in results.series.iter().filter(|series| series.id == id && in_scope(&series.workload)) {
            if self.at.len() < series.at.len() {
                self.at.clone_from(&series.at);
                self.clock_s.clone_from(&series.clock_s);
            }
            self.lines.push(Line { name: series.line.clone(), colour: 0, values: series.values.clone() });
        }
        for values in self.lines.iter_mut().flat_map(|line| &mut line.values) {
            values.resize(self.at.len(), None);
        }
    }

    fn add_records(&mut self, view: &PlotView, results: &Results, scope: &Scope) {
        let of = scope.narrow(&view.of);
        let records: Vec<&Record> = results.records.iter().filter(|record| of.takes(record)).collect();
        let x = |record: &Record| record.field(&view.at).and_then(|at| at.parse::<u64>().ok());
        let mut at: Vec<u64> = records.iter().filter_map(|record| x(record)).collect();
        at.sort_unstable();
        at.dedup();
        let line = std::slice::from_ref(&view.line);
        for name in super::table::groups(&records, line) {
            let of_line: Vec<&&Record> =
                records.iter().filter(|record| values(record, line) == name).collect();
            let value = |measure: &MeasureView, at: u64| {
                let cell = measure.cell.as_ref()?;
                let same = |record: &&&&Record| {
                    (record.metric, record.stat) == (cell.metric, cell.stat) && x(record) == Some(at)
                };
                of_line.iter().find(same).map(|record| record.value)
            };
            let of_measure = |measure| at.iter().map(|&at| value(measure, at)).collect();
            let values = view.measure.iter().map(of_measure).collect();
            self.lines.push(Line { name: name.concat(), colour: 0, values });
        }
        self.at = at.into_iter().map(|at| at as f64).collect();
    }

    /// The model that the script draws.
    pub(super) fn json(&self) -> anyhow::Result<String> {
        let mut data = vec![self.at.iter().map(|&at| Figure(Some(at))).collect()];
        for values in self.lines.iter().flat_map(|line| &line.values) {
            // A logarithm has no place for 0; a switch to linear does not bring it back.
            let shown = |value: &f64| *value > 0.0 || !(self.y.log || self.switch);
            data.push(values.iter().map(|value| Figure(value.filter(shown))).collect());
        }
        let clock = self.clock_s.iter().map(|&at| Figure(Some(at))).collect();
        json(&Drawn { plot: self, points: self.at.len(), data, clock })
    }

    /// Whether there are several lines, and no eye could tell them apart.
    fn shows_nothing(&self) -> bool {
        let Some((first, others)) = self.lines.split_first() else { return true };
        let alike = |(a, b): (&Option<f64>, &Option<f64>)| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= ALIKE * a.abs().max(b.abs()),
            (a, b) => a == b,
        };
        let is_alike =
            |line: &Line| line.values.iter().flatten().zip(first.values.iter().flatten()).all(alike);
        !others.is_empty() && others.iter().all(is_alike)
    }

    /// What a plot would show whose lines are all one.
    fn sentence(&self, least: f64, most: f64) -> String {
        let text = |value: f64| match self.y.unit {
            Unit::Nanoseconds => nanoseconds(value),
            Unit::Bytes => figure(record::Unit::Bytes, value),
            Unit::Percent => format!("{} %", fixed(value)),
            Unit::Ratio => figure(record::Unit::Ratio, value),
            _ => figure(record::Unit::Count, value),
        };
        let range = if most - least <= ALIKE * most.abs() {
            format!("always {}{}", if least < most { "about " } else { "" }, text(most))
        } else {
            format!("from {} to {}", text(least), text(most))
        };
        let engines: Vec<&str> = self.lines.iter().rev().map(|line| line.name.as_str()).collect();
        format!("{}: {range}, the same for {}.", self.y.title, engines.join(", "))
    }

    /// The plot as HTML, a sentence if it would show nothing; nothing if it has no points.
    pub(super) fn html(&self) -> anyhow::Result<String> {
        let values = || self.lines.iter().flat_map(|line| &line.values).flatten().flatten().copied();
        let range = values().reduce(f64::min).zip(values().reduce(f64::max));
        let Some((least, most)) = range.filter(|_| !self.at.is_empty()) else { return Ok(String::new()) };
        if self.shows_nothing() {
            return Ok(format!(
                "<figure class=\"said\"><figcaption><h4>{}</h4><p>{}</p></figcaption></figure>\n",
                html(&self.heading),
                html(&capital(&self.sentence(least, most)))
            ));
        }
        let class = if self.wide { "plot wide" } else { "plot" };
        Ok(format!(
            "<figure class=\"{class}\"><figcaption><h4>{}</h4><p>{}</p></figcaption>\
             <div class=\"bar\"><span class=\"ytitle\">{}</span></div><div class=\"canvas\"></div>\
             <noscript><p class=\"noscript\">This plot is drawn by a script that the page carries in itself; \
             the tables show its main figures.</p></noscript>\
             <script type=\"application/json\">{}</script></figure>\n",
            html(&self.heading),
            html(&self.reading),
            html(&self.y.title),
            self.json()?
        ))
    }
}
