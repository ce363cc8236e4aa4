//! Tables: records by rows and columns.

use super::definition::{Cell, Scope, TableView};
use super::escape::{html, plain, prose};
use super::palette::Palette;
use super::words::shown;
use crate::engine::FEATURES;
use crate::record::{Field, Origin, Record, Results, figure_like, fixed, largest, parts, values};
use std::collections::HashMap;
use std::fmt::Write;

/// A spread below this is not told.
const SPREAD: f64 = 0.05;

/// Rows under a heading; the first columns are text, the others are figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One name per column.
    pub header: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// Leading columns that name the row and are text.
    pub name_columns: usize,
    /// What its words mean, said below it; empty of what says itself.
    pub reading: String,
}

impl Table {
    /// The same for a terminal.
    pub(super) fn plain(&self) -> Self {
        let row = |row: &Vec<String>| row.iter().map(|cell| plain(cell)).collect();
        Self { header: row(&self.header), rows: self.rows.iter().map(row).collect(), ..self.clone() }
    }
}

/// The tables of a view; none where there are no records.
pub(super) fn tables(view: &TableView, scope: &Scope) -> Vec<Table> {
    let table = |(each, records): (Vec<String>, Vec<&Record>)| {
        let names =
            view.each.iter().zip(&each).map(|(field, value)| (field.name().to_owned(), shown(*field, value)));
        let title = scope.fill(&view.title, &names.collect()).unwrap_or_else(|| view.title.clone());
        one(view, &records, title)
    };
    parts(&scope.records(&view.of, &view.cells), &view.each).into_iter().map(table).collect()
}

fn one(view: &TableView, records: &[&Record], title: String) -> Table {
    // What no record has is no column.
    let fields = view.rows.iter().copied();
    let fields: Vec<Field> =
        fields.filter(|&field| records.iter().any(|record| record.field(field).is_some())).collect();
    let mut header: Vec<String> = fields.iter().map(|field| field.name().replace('_', " ")).collect();
    let mut cells: Vec<(Vec<String>, &Cell)> = Vec::new();
    for (column, of_column) in parts(records, &view.columns) {
        // What no row has is no column.
        for cell in view.cells.iter().filter(|cell| of_column.iter().any(|record| cell.is_of(record))) {
            let first = cells.last().is_none_or(|last| last.0 != column);
            header.push(heading(view, &column, cell, first));
            cells.push((column.clone(), cell));
        }
    }
    let rows = parts(records, &fields);
    let names = |row: &[String]| -> Vec<String> {
        fields.iter().zip(row).map(|(field, value)| shown(*field, value)).collect()
    };
    let mut called: HashMap<Vec<String>, usize> = HashMap::new();
    rows.iter().for_each(|(row, _)| *called.entry(names(row)).or_default() += 1);
    let least = |(column, cell): &(Vec<String>, &Cell)| {
        let same = records.iter().filter(|record| {
            cell.is_of(record) && record.value > 0.0 && values(record, &view.columns) == *column
        });
        same.map(|record| record.value).reduce(f64::min).unwrap_or(0.0)
    };
    let leasts: Vec<f64> = cells.iter().map(least).collect();
    let row = |(row, of_row): (Vec<String>, Vec<&Record>)| {
        // What would be called alike, as files of one name in two folders are, is told in full.
        let names = Some(names(&row)).filter(|names| called.get(names) == Some(&1)).unwrap_or(row);
        let figure = |((column, cell), least): (&(Vec<String>, &Cell), &f64)| {
            let same = of_row.iter().copied();
            let same = same.filter(|record| cell.is_of(record) && values(record, &view.columns) == *column);
            largest(&same.collect::<Vec<_>>())
                .map_or_else(|| "-".to_owned(), |record| text(view, record, records, *least))
        };
        names.into_iter().chain(cells.iter().zip(&leasts).map(figure)).collect()
    };
    let rows = rows.into_iter().map(row).collect();
    Table { title, header, rows, name_columns: fields.len(), reading: view.reading.clone() }
}

fn heading(view: &TableView, column: &[String], cell: &Cell, first: bool) -> String {
    let names = view.columns.iter().zip(column).map(|(field, value)| shown(*field, value));
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    match (names.is_empty(), view.cells.len() == 1, first) {
        (true, ..) => cell.head.clone(),
        (false, true, _) => names.join(" "),
        (false, false, true) => format!("{} {}", names.join(" "), cell.head),
        (false, false, false) => cell.head.clone(),
    }
}

/// The figure in the unit of its column's least, with its ratio, and its spread if that is worth a word.
fn text(view: &TableView, record: &Record, records: &[&Record], least: f64) -> String {
    let mut text = figure_like(record.metric.unit(), record.value, least);
    text.push_str(record.origin.mark());
    let compared = view.ratio
        && record.metric.is_compared()
        && record.key.engine != "floor"
        && !matches!(record.origin, Origin::Published(_));
    if compared && let Some(first) = reference(record, records) {
        let _ = write!(text, " {}x", fixed(record.value / first.value));
    }
    let spread = record.spread.map_or(0.0, |[least, largest]| (largest - least) / record.value);
    if spread.is_finite() && spread >= SPREAD {
        let _ = write!(text, ", spread {:.0} %", 100.0 * spread);
    }
    text
}

/// The default engine's figure of the same, or the first engine's; `None` if it is this one.
fn reference<'a>(record: &Record, records: &[&'a Record]) -> Option<&'a Record> {
    let same = || {
        records.iter().filter(|other| {
            (other.metric, other.stat) == (record.metric, record.stat) && other.key.compares(&record.key)
        })
    };
    let first = same().find(|other| other.key.default).or_else(|| same().next())?;
    (first.key != record.key && first.value > 0.0).then_some(first)
}

/// What the engines that were shown can be asked.
pub(super) fn features(title: &str, results: &Results) -> Table {
    let is_shown = |row: &&Vec<String>| {
        results.engines.iter().any(|(label, ..)| label.split(':').next() == row.first().map(String::as_str))
    };
    let (header, rows) = (FEATURES.columns.clone(), FEATURES.rows.iter().filter(is_shown).cloned().collect());
    Table { title: title.to_owned(), header, rows, name_columns: 1, ..Table::default() }
}

/// The table as HTML, in a box that scrolls.
pub(super) fn render(table: &Table, palette: &Palette) -> String {
    let class = |at: usize| if at < table.name_columns { "" } else { " class=\"figure\"" };
    let mut page = format!(
        "<div class=\"scroll\"><table><caption><span>{}</span></caption><thead><tr>",
        html(&table.title)
    );
    for (at, name) in table.header.iter().enumerate() {
        let _ = write!(page, "<th scope=\"col\"{}>{}</th>", class(at), html(name));
    }
    page.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        let heads_others = row.len() > 1 && row.iter().skip(1).all(String::is_empty);
        page.push_str(if heads_others { "<tr class=\"group\">" } else { "<tr>" });
        for (at, cell) in row.iter().enumerate() {
            let _ = if at < table.name_columns {
                write!(page, "<th scope=\"row\">{}</th>", palette.name(cell))
            } else {
                write!(page, "<td class=\"figure\">{}</td>", html(cell))
            };
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>\n");
    if !table.reading.is_empty() {
        let _ = writeln!(page, "<p class=\"about\">{}</p>", prose(&table.reading));
    }
    page
}
