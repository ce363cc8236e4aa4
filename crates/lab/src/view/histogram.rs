//! Histograms side by side: how often each value came, a column for each source.
//!
//! ```text
//!             published, before    kernel 6.16         ours
//!   3 nodes   . 11_836             =========== 3.5 M   ..
//!   7 nodes   ========= 2_329_329  . 73_479            ..      a bar is a share of its column's most
//! ```

use super::definition::{Form, HistogramView, Scope};
use super::escape::{self, html};
use super::table::Table;
use crate::record::{Origin, Record, count, parts};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Letters of the longest bar in text.
const WIDTH: u64 = 40;

/// One histogram.
struct Column {
    name: String,
    /// The class of its bars.
    class: String,
    /// Values, and how often they came; 0 is left out.
    counts: BTreeMap<u64, u64>,
    /// How often the commonest came.
    most: u64,
}

impl Column {
    fn of(&self, value: u64) -> u64 {
        self.counts.get(&value).copied().unwrap_or(0)
    }
}

/// The histograms of a view, each by the name of its column.
fn columns(view: &HistogramView, scope: &Scope) -> Vec<Column> {
    let records = scope.records(&view.of, std::slice::from_ref(&view.cell));
    let column = |(at, (names, same)): (usize, (Vec<String>, Vec<&Record>))| {
        let value = |record: &&Record| {
            let value = record.field(view.value)?.parse().ok().filter(|&value| value > 0)?;
            Some((value, record.value as u64))
        };
        // Of several for one value the first stands.
        let counts: BTreeMap<u64, u64> = same.iter().rev().filter_map(value).collect();
        let published = same.iter().any(|record| matches!(record.origin, Origin::Published(_)));
        let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
        Column {
            name: names.join(", "),
            class: if published { "published".to_owned() } else { format!("e{}", at % 8) },
            most: counts.values().copied().max().unwrap_or(0),
            counts,
        }
    };
    parts(&records, &view.columns).into_iter().enumerate().map(column).collect()
}

/// Each histogram as text.
pub(super) fn texts(view: &HistogramView, scope: &Scope) -> Vec<Table> {
    columns(view, scope).iter().map(|column| text(column, &view.title, view.form)).collect()
}

fn text(column: &Column, title: &str, form: Form) -> Table {
    let ends = column.counts.keys().next().zip(column.counts.keys().next_back());
    // bpftrace shows every value between the least and the largest.
    let values: Vec<u64> = match (form, ends) {
        (Form::Brackets, Some((&least, &largest))) => (least..=largest).collect(),
        _ => column.counts.keys().copied().collect(),
    };
    let row = |&value: &u64| {
        let number = column.of(value);
        let length = (number.saturating_mul(WIDTH) / column.most.max(1)) as usize;
        let [label, bar] = match form {
            Form::Brackets => {
                [format!("[{value}, {})", value + 1), format!("|{:<1$}|", "@".repeat(length), WIDTH as usize)]
            }
            Form::Stars => [format!("{value:<3} :"), "*".repeat(length)],
        };
        vec![label, bar, count(number)]
    };
    let mut rows: Vec<Vec<String>> = values.iter().map(row).collect();
    let total = column.counts.iter().map(|(value, count)| value * count).sum();
    rows.push(vec!["total".to_owned(), String::new(), count(total)]);
    let header = ["nodes", "", "count"].map(str::to_owned).to_vec();
    Table { title: format!("{title}: {}", column.name), header, rows, name_columns: 2, ..Table::default() }
}

/// The histograms side by side as HTML; nothing of none.
pub(super) fn render(view: &HistogramView, scope: &Scope) -> String {
    let columns = columns(view, scope);
    let values: BTreeSet<u64> = columns.iter().flat_map(|column| column.counts.keys().copied()).collect();
    if values.is_empty() {
        return String::new();
    }
    let mut body = format!(
        "<div class=\"scroll\"><div class=\"grid\" style=\"--columns:{}\"><span></span>",
        columns.len()
    );
    for column in &columns {
        let _ = write!(body, "<b>{}</b>", html(&column.name));
    }
    for value in values {
        let _ = write!(body, "<span>{value} {}</span>", html(&view.unit));
        for column in &columns {
            body.push_str(&cell(column, column.of(value)));
        }
    }
    body.push_str("</div></div>");
    escape::figure("class=\"histograms wide\"", &scope.text(&view.title), &view.reading, &body)
}

fn cell(Column { class, most, .. }: &Column, number: u64) -> String {
    if number == 0 {
        return "<i class=\"none\">-</i>".to_owned();
    }
    let width = 100.0 * number as f64 / (*most).max(1) as f64;
    format!("<div><i class=\"{class}\" style=\"width:{width:.2}%\"></i><em>{}</em></div>", count(number))
}
