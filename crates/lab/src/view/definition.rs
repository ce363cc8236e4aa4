//! What is shown, as data: sections with their words and views, read from TOML.

use super::plot::{Mark, Unit};
use super::table::shown;
use crate::record::{Metric, Results, Select, Stat};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[allow(clippy::expect_used, reason = "a test reads it")]
static RECORDED: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../bench/recorded.toml")).expect("names of recordings"));

/// What was recorded, if the workload is a recording that has a name.
pub(super) fn recorded(workload: &str) -> Option<&'static str> {
    RECORDED.get(workload).map(String::as_str)
}

/// The text as a sentence begins.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A command's output, or a page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Definition {
    /// The page's heading.
    pub title: String,
    /// What it is about, in a paragraph.
    pub lead: String,
    /// How it was measured, in sentences.
    pub method: Vec<String>,
    /// The sections, in order.
    pub section: Vec<Section>,
}

/// A section.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Its anchor.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it is about, a paragraph each; one that names a fact which there is not is left out.
    pub about: Vec<String>,
    /// There is a section for each value of this field.
    pub each: Option<String>,
    /// Of these records; without `each` the section is left out where there are none.
    pub of: Select,
    /// Figures to remember.
    pub key: Vec<Key>,
    /// What is shown.
    pub view: Vec<View>,
}

/// A figure to remember: one by another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The one.
    pub of: Select,
    /// The other.
    pub over: Option<Select>,
    /// What it is.
    pub text: String,
}

/// A kind of view.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum View {
    /// Records by rows and columns.
    Table(TableView),
    /// Records as bars in groups.
    Bars(BarsView),
    /// Records or series as lines.
    Plot(PlotView),
    /// Counts of values, side by side.
    Histogram(HistogramView),
    /// A picture by its name.
    Picture(PictureView),
    /// Published figures, source by source, beside ours.
    Published(PublishedView),
    /// What the engines that were shown can be asked.
    Features {
        /// The heading of the table.
        title: String,
    },
}

/// Records by rows and columns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableView {
    /// What it shows; may name facts and the field of `each`.
    pub title: String,
    /// Which records.
    pub of: Select,
    /// There is a table for each value of these fields.
    pub each: Vec<String>,
    /// What names a row.
    pub rows: Vec<String>,
    /// What names a column; none if the cells alone do.
    pub columns: Vec<String>,
    /// The figures.
    pub cells: Vec<Cell>,
    /// With the ratio to the default engine, or to the first.
    pub ratio: bool,
    /// Not on the screen unless all tables are asked for.
    pub more: bool,
}

/// A figure of a table: `metric`, `metric:stat`, either with ` as its heading`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Cell {
    /// The metric.
    pub metric: Metric,
    /// The figure of it.
    pub stat: Stat,
    /// The heading.
    pub head: String,
}

impl TryFrom<String> for Cell {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (what, head) = text.split_once(" as ").unwrap_or((&text, ""));
        let (name, stat) = what.split_once(':').unwrap_or((what, ""));
        let metric = Metric::named(name).ok_or_else(|| format!("no metric {name:?}"))?;
        let usual = match metric {
            Metric::Time => Stat::Median,
            Metric::Work | Metric::Instructions => Stat::Mean,
            _ => Stat::Total,
        };
        let stat = match stat {
            "" => usual,
            _ => Stat::named(stat).ok_or_else(|| format!("no stat {stat:?}"))?,
        };
        let head = if head.is_empty() { name.replace('_', " ") } else { head.to_owned() };
        Ok(Self { metric, stat, head })
    }
}

/// Records as bars in groups.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarsView {
    /// What they show.
    pub title: String,
    /// How to read them.
    #[serde(default)]
    pub reading: String,
    /// What is along the scale.
    pub scale: String,
    /// Which records.
    pub of: Select,
    /// The figure.
    pub cell: Cell,
    /// What names a group.
    pub groups: Vec<String>,
    /// What names a bar.
    #[serde(default = "engine")]
    pub bar: String,
}

fn engine() -> String {
    "engine".to_owned()
}

/// A picture by its name, and its words, where the picture has none of its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PictureView {
    /// What results call it.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub reading: String,
    /// What the lightest shade is, and the darkest.
    pub shades: [String; 2],
    /// What lies along x.
    pub x: String,
    /// What the marks along x are called, if they have no numbers.
    pub ticks: Vec<String>,
}

/// An axis of a plot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisView {
    /// What it shows.
    pub title: String,
    /// How its numbers are written.
    pub unit: Unit,
    /// Logarithmic.
    #[serde(default)]
    pub log: bool,
    /// Its ends, where the data do not decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
}

/// What is drawn of each line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureView {
    /// Its name in the legend.
    pub name: String,
    /// How it looks.
    pub mark: Mark,
    /// The figure, of records.
    #[serde(skip_serializing)]
    pub cell: Option<Cell>,
}

/// Lines over an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotView {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub reading: String,
    /// Of these series; otherwise of records.
    pub series: Option<String>,
    /// Which records.
    #[serde(default)]
    pub of: Select,
    /// The field along x, of records.
    #[serde(default)]
    pub at: String,
    /// The field that names a line, of records.
    #[serde(default = "engine")]
    pub line: String,
    /// Along x.
    pub x: AxisView,
    /// Along y.
    pub y: AxisView,
    /// What is drawn of each line; a series without it has one.
    #[serde(default)]
    pub measure: Vec<MeasureView>,
    /// Published records as levels to hold the lines against.
    pub guides: Option<Select>,
    /// Takes the whole width.
    #[serde(default)]
    pub wide: bool,
    /// The reader may switch between scales.
    #[serde(default)]
    pub switch: bool,
    /// Lines are named at their ends.
    #[serde(default)]
    pub named: bool,
    /// Plots of one group share cursor and zoom.
    pub group: Option<String>,
}

/// How a histogram is written in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As bpftrace writes it: `[4, 5)  54170 |@      |`.
    Brackets,
    /// As return values are written in the posting: `5 : *****  (271192)`.
    Stars,
}

/// Counts of values, side by side.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistogramView {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub reading: String,
    /// What a value is a number of.
    pub unit: String,
    /// Which records.
    pub of: Select,
    /// The field with the value.
    pub value: String,
    /// What names a histogram.
    pub columns: Vec<String>,
    /// The figure.
    pub cell: Cell,
    /// How it is written in text.
    pub form: Form,
    /// Not on the screen unless all tables are asked for.
    #[serde(default)]
    pub more: bool,
}

/// Published figures beside ours.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedView {
    /// The heading of the table.
    pub title: String,
    /// The family whose sources are shown.
    pub suite: String,
}

/// What texts may name, and what views are of, in a part of the output.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The field and value of the section.
    pub each: Option<(String, String)>,
}

impl Scope {
    /// The selection within the scope.
    pub fn narrow(&self, of: &Select) -> Select {
        match &self.each {
            Some((field, value)) if !of.asks(field) => of.clone().and(field, value),
            _ => of.clone(),
        }
    }

    /// The text with its facts; `None` if it names one that there is not. A fact may be of the scope's value. A workload is
    /// called what was recorded, and `recording` is the recording's own name.
    pub fn fill(&self, text: &str, results: &Results, more: &BTreeMap<String, String>) -> Option<String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, behind) = after.split_once('}')?;
            let scoped = self.each.as_ref().and_then(|(field, value)| match name {
                _ if field == name => Some(shown(field, value)),
                "recording" => recorded(value).map(|_| value.clone()),
                _ => results.facts.get(&format!("{name}:{value}")).cloned(),
            });
            let fact = more.get(name).cloned().or(scoped).or_else(|| results.facts.get(name).cloned())?;
            filled.push_str(before);
            // Headings begin with what was recorded.
            let begins = filled.is_empty() && RECORDED.values().any(|recording| *recording == fact);
            filled.push_str(&if begins { capital(&fact) } else { fact });
            rest = behind;
        }
        filled.push_str(rest);
        Some(filled)
    }
}

impl Definition {
    /// Reads a definition.
    ///
    /// # Errors
    /// It is none; a test reads all that the program has.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// The sections with their scopes, as far as there are records for them.
    pub fn sections<'a>(&'a self, results: &Results) -> Vec<(&'a Section, Scope)> {
        let mut all = Vec::new();
        for section in &self.section {
            let mut records = results.records.iter().filter(|record| section.of.takes(record)).peekable();
            if records.peek().is_none() {
                continue;
            }
            let Some(field) = &section.each else {
                all.push((section, Scope::default()));
                continue;
            };
            let mut values: Vec<String> = Vec::new();
            for value in records.filter_map(|record| record.field(field)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            all.extend(
                values.into_iter().map(|value| (section, Scope { each: Some((field.clone(), value)) })),
            );
        }
        all
    }
}
