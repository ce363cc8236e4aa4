//! A plot before it is drawn: axes, one line per engine and measure, and the element that the page's script
//! draws it in.

use super::escape::{html, json};
use serde::{Serialize, Serializer};

/// What an axis counts; decides how its numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
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

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Axis {
    /// What it shows, with the unit.
    pub(crate) title: String,
    /// How its numbers are written.
    pub(crate) unit: Unit,
    /// Logarithmic, at first.
    pub(crate) log: bool,
    /// Its ends, where the data do not decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<[f64; 2]>,
}

/// How a measure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    /// A line.
    Line,
    /// A line with a mark at each point.
    Points,
    /// A thin, lighter line.
    Light,
    /// Lighter marks without a line.
    Rings,
}

/// What is drawn of each engine.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Measure {
    /// Its name in the legend.
    pub(crate) name: &'static str,
    /// How it looks.
    pub(crate) mark: Mark,
}

/// An engine in a plot.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    /// The engine.
    pub(crate) name: String,
    /// The number of its colour.
    pub(crate) colour: usize,
    /// For each measure a value at each point, `None` where there is none.
    #[serde(skip)]
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

/// A level to hold the lines against.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Guide {
    /// Where, along y.
    pub(crate) value: f64,
    /// What it is.
    pub(crate) name: String,
}

/// A plot of several engines over one axis.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plot {
    /// What it shows, its heading.
    #[serde(skip)]
    pub(crate) heading: String,
    /// How to read it, a sentence.
    #[serde(skip)]
    pub(crate) reading: String,
    /// Whether it takes the whole width.
    #[serde(skip)]
    pub(crate) wide: bool,
    /// From left to right.
    pub(crate) x: Axis,
    /// From bottom to top.
    pub(crate) y: Axis,
    /// Whether the reader may switch the vertical axis between linear and logarithmic.
    pub(crate) switch: bool,
    /// Whether the lines are named at their ends.
    pub(crate) named: bool,
    /// Plots of one group share cursor and zoom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// What is drawn of each engine.
    pub(crate) measures: Vec<Measure>,
    /// The engines.
    pub(crate) lines: Vec<Line>,
    /// Levels that are none of the engines'.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) guides: Vec<Guide>,
    /// The points along x, ascending.
    #[serde(skip)]
    pub(crate) at: Vec<f64>,
    /// When each point was, in seconds, where x is not time and there is a clock; may be empty.
    #[serde(skip)]
    pub(crate) clock_s: Vec<f64>,
}

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

impl Axis {
    /// From end to end of the data.
    pub(crate) fn linear(title: impl Into<String>, unit: Unit) -> Self {
        Self { title: title.into(), unit, log: false, range: None }
    }

    /// The same, logarithmic.
    pub(crate) fn log(title: impl Into<String>, unit: Unit) -> Self {
        Self { log: true, ..Self::linear(title, unit) }
    }

    /// From one value to another.
    pub(crate) fn between(self, first: f64, last: f64) -> Self {
        Self { range: Some([first, last]), ..self }
    }
}

impl Plot {
    /// One value of each line at each point, and nothing beside.
    pub(crate) fn new(heading: impl Into<String>, reading: impl Into<String>, axes: [Axis; 2]) -> Self {
        let [x, y] = axes;
        Self {
            heading: heading.into(),
            reading: reading.into(),
            wide: false,
            x,
            y,
            switch: false,
            named: false,
            group: None,
            measures: vec![Measure { name: "", mark: Mark::Line }],
            lines: Vec::new(),
            guides: Vec::new(),
            at: Vec::new(),
            clock_s: Vec::new(),
        }
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

    /// The plot as HTML; nothing if it has no points.
    pub(super) fn html(&self) -> anyhow::Result<String> {
        let values = || self.lines.iter().flat_map(|line| &line.values).flatten().flatten();
        if self.at.is_empty() || values().next().is_none() {
            return Ok(String::new());
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A plot of one engine over three points.
    pub(in super::super) fn small() -> Plot {
        let axis = |unit| Axis { title: "x & y".to_owned(), unit, log: false, range: None };
        Plot {
            heading: "A plot".to_owned(),
            reading: "Lower is better.".to_owned(),
            wide: false,
            x: axis(Unit::Operations),
            y: Axis { log: true, ..axis(Unit::Nanoseconds) },
            switch: true,
            named: false,
            group: None,
            measures: vec![
                Measure { name: "median", mark: Mark::Line },
                Measure { name: "p99", mark: Mark::Light },
            ],
            lines: vec![Line {
                name: "</script><b>".to_owned(),
                colour: 0,
                values: vec![
                    vec![Some(1.0), None, Some(1_234.567_89)],
                    vec![Some(0.0), Some(f64::INFINITY), Some(2.5)],
                ],
            }],
            guides: Vec::new(),
            at: vec![0.0, 10.0, 20.0],
            clock_s: Vec::new(),
        }
    }

    #[test]
    fn json_is_valid_and_has_the_points_it_says() {
        let value: serde_json::Value = serde_json::from_str(&small().json().unwrap()).unwrap();
        let points = value["points"].as_u64().unwrap() as usize;
        let data = value["data"].as_array().unwrap();
        let series = value["lines"].as_array().unwrap().len() * value["measures"].as_array().unwrap().len();
        assert_eq!((points, data.len()), (3, 1 + series));
        assert!(data.iter().all(|values| values.as_array().unwrap().len() == points));
        assert_eq!(data[1].to_string(), "[1,null,1234.57]");
        assert_eq!(data[2].to_string(), "[null,null,2.5]", "0 and infinity have no place");
        assert_eq!(value["y"]["unit"], "nanoseconds");
    }

    #[test]
    fn html_is_safe_and_absent_when_empty() {
        let page = small().html().unwrap();
        assert_eq!(page.matches("</script>").count(), 1, "{page}");
        assert!(page.contains("x &amp; y") && page.contains("<noscript>"));
        assert_eq!(Plot { at: Vec::new(), ..small() }.html().unwrap(), "");
    }
}
