//! Histograms side by side: how often each value came, a column for each source.
//!
//! ```text
//!             published, before    kernel 6.16         ours
//!   3 nodes   . 11_836             =========== 3.5 M   ..
//!   7 nodes   ========= 2_329_329  . 73_479            ..      a bar is a share of its column's most
//! ```

use super::definition::{Form, HistogramView, Scope};
use super::escape::html;
use super::table::{groups, values};
use super::{Table, count};
use crate::record::{Origin, Record, Results};
use std::collections::BTreeSet;
use std::fmt::Write;

/// One histogram.
struct Column {
    name: String,
    /// The class of its bars.
    class: String,
    /// Values, and how often they came.
    counts: Vec<(u64, u64)>,
}

impl Column {
    fn of(&self, value: u64) -> u64 {
        self.counts.iter().find(|(other, _)| *other == value).map_or(0, |(_, count)| *count)
    }
}

/// The histograms of a view, each by the name of its column; 0 is left out.
fn columns(view: &HistogramView, results: &Results, scope: &Scope) -> Vec<Column> {
    let of = scope.narrow(&view.of);
    let wanted = |record: &&Record| (record.metric, record.stat) == (view.cell.metric, view.cell.stat);
    let records: Vec<&Record> =
        results.records.iter().filter(wanted).filter(|record| of.takes(record)).collect();
    let names = groups(&records, &view.columns);
    let column = |(at, names): (usize, Vec<String>)| {
        let same = || records.iter().filter(|record| values(record, &view.columns) == names);
        let value = |record: &&&Record| record.field(&view.value).and_then(|value| value.parse().ok());
        let counts = same().filter_map(|record| Some((value(&record)?, record.value as u64)));
        let published = same().any(|record| matches!(record.origin, Origin::Published(_)));
        let name = names.iter().filter(|name| !name.is_empty()).cloned();
        Column {
            name: name.collect::<Vec<_>>().join(", "),
            class: if published { "published".to_owned() } else { format!("e{}", at % 8) },
            counts: counts.filter(|(value, _)| *value > 0).collect(),
        }
    };
    names.into_iter().enumerate().map(column).collect()
}

/// Each histogram as text.
pub(super) fn texts(view: &HistogramView, results: &Results, scope: &Scope) -> Vec<Table> {
    columns(view, results, scope).iter().map(|column| text(column, &view.title, view.form)).collect()
}

fn text(column: &Column, title: &str, form: Form) -> Table {
    let mut values: Vec<u64> = column.counts.iter().map(|(value, _)| *value).collect();
    values.sort_unstable();
    let most = column.counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    // bpftrace shows every value between the least and the largest.
    let shown: Vec<u64> = match (form, values.first().zip(values.last())) {
        (Form::Brackets, Some((&least, &largest))) => (least..=largest).collect(),
        _ => values,
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for value in shown {
        let number = column.of(value);
        let label = match form {
            Form::Brackets => format!("[{value}, {})", value + 1),
            Form::Stars => format!("{value:<3} :"),
        };
        rows.push(vec![label, bar(form, number, most), count(number)]);
    }
    let total = column.counts.iter().map(|(value, count)| value * count).sum();
    rows.push(vec!["total".to_owned(), String::new(), count(total)]);
    let header = ["nodes", "", "count"].map(str::to_owned).to_vec();
    Table { title: format!("{title}: {}", column.name), header, rows, name_columns: 2 }
}

/// A bar as long as its share of the most.
fn bar(form: Form, number: u64, most: u64) -> String {
    let (width, letter) = match form {
        Form::Brackets => (40, "@"),
        Form::Stars => (40, "*"),
    };
    let bar = letter.repeat((number.saturating_mul(width as u64) / most.max(1)) as usize);
    if form == Form::Brackets { format!("|{bar:<width$}|") } else { bar }
}

/// The histograms side by side as HTML; nothing of none.
pub(super) fn render(view: &HistogramView, results: &Results, scope: &Scope) -> String {
    let columns = columns(view, results, scope);
    let values: BTreeSet<u64> =
        columns.iter().flat_map(|column| column.counts.iter().map(|(value, _)| *value)).collect();
    if values.is_empty() {
        return String::new();
    }
    let mut page = format!(
        "<figure class=\"histograms wide\"><figcaption><h4>{}</h4><p>{}</p></figcaption><div class=\"scroll\"><div \
         class=\"grid\" style=\"--columns:{}\"><span></span>",
        html(&scope.fill(&view.title, results, &Default::default()).unwrap_or_default()),
        html(&view.reading),
        columns.len()
    );
    for column in &columns {
        let _ = write!(page, "<b>{}</b>", html(&column.name));
    }
    for value in values {
        let _ = write!(page, "<span>{value} {}</span>", html(&view.unit));
        for column in &columns {
            page.push_str(&cell(column, value));
        }
    }
    page.push_str("</div></div></figure>\n");
    page
}

fn cell(column: &Column, value: u64) -> String {
    let most = column.counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let number = column.of(value);
    if number == 0 {
        return "<i class=\"none\">-</i>".to_owned();
    }
    let class = &column.class;
    let width = 100.0 * number as f64 / most.max(1) as f64;
    format!("<div><i class=\"{class}\" style=\"width:{width:.2}%\"></i><em>{}</em></div>", count(number))
}
