//! What is shown, as data: sections with their words and views, read from TOML.

use super::words::{capital, is_recording, recorded, shown};
use crate::record::{Field, Metric, Record, Results, Select, Stat, parts};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// A command's output, or a page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Definition {
    /// The page's heading.
    pub(super) title: String,
    /// What it is about, in a paragraph.
    pub(super) lead: String,
    /// What was found is the point: of a mail the heads are all.
    pub(super) heads: bool,
    /// Notes are behind `--all`, but for what was left out or failed.
    pub(super) quiet: bool,
    /// How it was measured, in sentences.
    pub(super) method: Vec<String>,
    /// The sections, in order.
    pub(super) section: Vec<Section>,
}

/// A section.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
    /// What it is about, a paragraph each; one that names a fact which there is not is left out.
    pub(super) about: Vec<String>,
    /// There is a section for each value of this field.
    pub(super) each: Option<Field>,
    /// Of these records; without `each` the section is left out where there are none.
    pub(super) of: Select,
    /// Figures to remember.
    pub(super) key: Vec<Key>,
    pub(super) view: Vec<View>,
}

/// A figure to remember: one by another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    pub(super) of: Select,
    pub(super) over: Option<Select>,
    pub(super) text: String,
}

/// A view, told by the key of its title.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum View {
    Table(TableView),
    Bars(BarsView),
    Plot(PlotView),
    Histogram(HistogramView),
    Picture(PictureView),
    /// Published figures about a family, source by source, beside ours.
    Published {
        #[serde(rename = "published")]
        title: String,
        suite: String,
    },
    /// Figures of two documents or recordings as the kernel's test robots print them, under this title.
    SideBySide {
        #[serde(rename = "side-by-side")]
        title: String,
    },
    /// What the engines that were shown can be asked, under this title.
    Features {
        #[serde(rename = "features")]
        title: String,
    },
}

/// Records by rows and columns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TableView {
    /// What it shows; may name facts and the field of `each`.
    #[serde(rename = "table")]
    pub(super) title: String,
    pub(super) of: Select,
    /// There is a table for each value of these fields.
    #[serde(deserialize_with = "fields")]
    pub(super) each: Vec<Field>,
    /// What names a row: the engine, if nothing else is said.
    #[serde(deserialize_with = "fields", default = "engine")]
    pub(super) rows: Vec<Field>,
    /// What names a column; none if the cells alone do.
    #[serde(deserialize_with = "fields")]
    pub(super) columns: Vec<Field>,
    /// Times, if nothing else is said.
    #[serde(deserialize_with = "cells", default = "times")]
    pub(super) cells: Vec<Cell>,
    /// With the ratio to the default engine, or to the first.
    pub(super) ratio: bool,
    /// Not on the screen unless all tables are asked for.
    pub(super) more: bool,
    /// What its words mean.
    pub(super) reading: String,
}

/// A figure of a table: `metric`, `metric:stat`, either with ` as its heading`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Cell {
    pub(super) metric: Metric,
    pub(super) stat: Stat,
    pub(super) head: String,
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

/// Fields by their names, between spaces.
fn fields<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<Field>, D::Error> {
    let field = |name| Field::named(name).ok_or_else(|| D::Error::custom(format!("no field {name:?}")));
    String::deserialize(text)?.split_whitespace().map(field).collect()
}

/// Cells between semicolons.
fn cells<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<Cell>, D::Error> {
    let text = String::deserialize(text)?;
    text.split("; ").map(|cell| Cell::try_from(cell.to_owned()).map_err(D::Error::custom)).collect()
}

fn engine() -> Vec<Field> {
    vec![Field::Engine]
}

fn time() -> Cell {
    Cell { metric: Metric::Time, stat: Stat::Median, head: Metric::Time.name().to_owned() }
}

fn times() -> Vec<Cell> {
    vec![time()]
}

impl Cell {
    /// Whether the record is such a figure.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        (self.metric, self.stat) == (record.metric, record.stat)
    }
}

/// Records as bars in groups.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BarsView {
    #[serde(rename = "bars")]
    pub(super) title: String,
    #[serde(default)]
    pub(super) reading: String,
    /// What is along the scale.
    pub(super) scale: String,
    pub(super) of: Select,
    #[serde(default = "time")]
    pub(super) cell: Cell,
    /// What names a group.
    #[serde(deserialize_with = "fields")]
    pub(super) groups: Vec<Field>,
    /// The title of the same figures as a table: with a row for each group, a column for each bar; none if another view has them.
    #[serde(default)]
    pub(super) table: Option<String>,
    /// That table is not on the screen unless all are asked for.
    #[serde(default)]
    pub(super) more: bool,
}

impl BarsView {
    /// The same figures as a table, if it has one. What does no work has a column, though no bar.
    pub(super) fn as_table(&self) -> Option<TableView> {
        let Self { table, of, groups, cell, more, .. } = self;
        table.clone().map(|title| TableView {
            title,
            of: of.clone(),
            rows: groups.clone(),
            columns: engine(),
            cells: vec![cell.clone()],
            more: *more,
            ..TableView::default()
        })
    }
}

/// A picture by its name, and its words.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PictureView {
    /// What results call it.
    pub(super) id: String,
    #[serde(rename = "picture")]
    pub(super) title: String,
    pub(super) reading: String,
    /// What the lightest shade is, and the darkest.
    pub(super) shades: [String; 2],
    /// What lies along x.
    pub(super) x: String,
}

/// An axis of a plot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AxisView {
    pub(super) title: String,
    /// How its numbers are written.
    #[serde(default)]
    pub(super) unit: AxisUnit,
    /// Logarithmic.
    #[serde(default)]
    pub(super) log: bool,
    /// Its ends, where the data do not decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<[f64; 2]>,
}

/// The axis of what happens over time.
fn operations() -> AxisView {
    AxisView { title: "operations".to_owned(), unit: AxisUnit::Operations, log: false, range: None }
}

/// What an axis counts; decides how its numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AxisUnit {
    /// Since the start.
    Operations,
    /// Live objects.
    Live,
    /// One in so many is slower: 1 / (1 - quantile).
    OneIn,
    Nanoseconds,
    /// Any other whole number.
    #[default]
    Count,
    Ratio,
    /// Since the start.
    Samples,
    Bytes,
    Percent,
    /// Allocations of one size in a row.
    Run,
}

/// How a measure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mark {
    Line,
    /// A line with a mark at each point.
    Points,
    /// A thin, lighter line.
    Light,
    /// Lighter marks without a line.
    Rings,
}

/// What is drawn of each line: a name, a mark, and of records the figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct MeasureView {
    pub(super) name: String,
    pub(super) mark: Mark,
    #[serde(skip_serializing)]
    pub(super) cell: Option<Cell>,
}

impl TryFrom<String> for MeasureView {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut words = text.split(' ');
        let name = words.next().unwrap_or_default().to_owned();
        let mark = match words.next() {
            Some("line") => Mark::Line,
            Some("points") => Mark::Points,
            Some("light") => Mark::Light,
            Some("rings") => Mark::Rings,
            mark => return Err(format!("no mark {mark:?}")),
        };
        Ok(Self { name, mark, cell: words.next().map(|cell| cell.to_owned().try_into()).transpose()? })
    }
}

/// Lines over an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlotView {
    #[serde(rename = "plot")]
    pub(super) title: String,
    pub(super) reading: String,
    /// Of these series; otherwise of records.
    pub(super) series: Option<String>,
    #[serde(default)]
    pub(super) of: Select,
    /// The field along x, of records.
    #[serde(default)]
    pub(super) at: Option<Field>,
    #[serde(default = "operations")]
    pub(super) x: AxisView,
    pub(super) y: AxisView,
    /// What is drawn of each line; a series without it has one.
    #[serde(default)]
    pub(super) measure: Vec<MeasureView>,
    /// Published records as levels to hold the lines against.
    pub(super) guides: Option<Select>,
    /// Takes the whole width.
    #[serde(default)]
    pub(super) wide: bool,
    /// Lines are named at their ends.
    #[serde(default)]
    pub(super) named: bool,
}

/// How a histogram is written in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// As bpftrace writes it: `[4, 5)  54170 |@      |`.
    Brackets,
    /// As return values are written in the posting: `5 : *****  (271192)`.
    Stars,
}

/// Counts of values, side by side.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistogramView {
    #[serde(rename = "histogram")]
    pub(super) title: String,
    pub(super) reading: String,
    /// What a value is a number of.
    pub(super) unit: String,
    pub(super) of: Select,
    /// The field with the value.
    pub(super) value: Field,
    /// What names a histogram.
    #[serde(deserialize_with = "fields")]
    pub(super) columns: Vec<Field>,
    pub(super) cell: Cell,
    /// How it is written in text.
    pub(super) form: Form,
    /// Not on the screen unless all tables are asked for.
    #[serde(default)]
    pub(super) more: bool,
}

/// A part of the output: what its views are of, and what its texts may name.
#[derive(Clone, Debug)]
pub(super) struct Scope<'a> {
    pub(super) results: &'a Results,
    /// The field and value of the section.
    pub(super) each: Option<(Field, String)>,
}

impl<'a> Scope<'a> {
    /// The records within the scope that are taken, of these figures if there are any.
    pub(super) fn records(&self, of: &Select, cells: &[Cell]) -> Vec<&'a Record> {
        let scoped = self.each.as_ref().filter(|(field, _)| !of.asks(*field));
        let of = match scoped {
            Some((field, value)) => &of.clone().and(*field, value),
            None => of,
        };
        // Of thousands of workloads most records are of others: the rest of their fields is not looked at.
        let may_be = |record: &&Record| {
            scoped.is_none_or(|(field, value)| *field != Field::Workload || record.key.workload == *value)
        };
        let is_cell = |record: &&Record| cells.is_empty() || cells.iter().any(|cell| cell.is_of(record));
        let records = self.results.records.iter().filter(may_be);
        records.filter(|record| of.takes(record)).filter(is_cell).collect()
    }

    /// Whether it is of this workload, or of all.
    pub(super) fn has(&self, workload: &str) -> bool {
        self.each.as_ref().is_none_or(|(_, value)| value == workload)
    }

    /// The text with its facts, nothing if it names one that there is not.
    pub(super) fn text(&self, text: &str) -> String {
        self.fill(text, &BTreeMap::new()).unwrap_or_default()
    }

    /// The text with its facts; `None` if it names one that there is not. A fact may be of the scope's value. A workload is
    /// called what was recorded, and `recording` is the recording's own name.
    pub(super) fn fill(&self, text: &str, more: &BTreeMap<String, String>) -> Option<String> {
        let facts = &self.results.facts;
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, behind) = after.split_once('}')?;
            let scoped = self.each.as_ref().and_then(|(field, value)| match name {
                _ if field.name() == name => Some(shown(*field, value)),
                "recording" => recorded(value).map(|_| value.clone()),
                _ => facts.get(&format!("{name}:{value}")).cloned(),
            });
            let fact = more.get(name).cloned().or(scoped).or_else(|| facts.get(name).cloned())?;
            filled.push_str(before);
            // Headings begin with what was recorded.
            let begins = filled.is_empty() && is_recording(&fact);
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
    /// It is none, or shows nothing; a test reads all that the program has.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let definition: Self = toml::from_str(text)?;
        anyhow::ensure!(!definition.section.is_empty(), "nothing is shown");
        Ok(definition)
    }

    /// The sections with their scopes, as far as there are records for them.
    pub(super) fn sections<'a>(&'a self, results: &'a Results) -> Vec<(&'a Section, Scope<'a>)> {
        let mut all = Vec::new();
        for section in &self.section {
            let records = Scope { results, each: None }.records(&section.of, &[]);
            let Some(field) = section.each else {
                all.extend((!records.is_empty()).then_some((section, Scope { results, each: None })));
                continue;
            };
            let of_field =
                records.into_iter().filter(|record| record.field(field).is_some()).collect::<Vec<_>>();
            for (value, _) in parts(&of_field, &[field]) {
                all.push((section, Scope { results, each: Some((field, value.concat())) }));
            }
        }
        all
    }
}
