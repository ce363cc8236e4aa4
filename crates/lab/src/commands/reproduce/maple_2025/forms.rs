//! Histograms as the posting has them, in text, and the same drawn on the page.

use super::ledger::Histogram;
use crate::output::{Table, count};
use crate::published::histogram as published;
use crate::report::histogram::{Column, Histograms};
use std::collections::BTreeSet;

/// A histogram with its name.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) counts: Histogram,
    /// The number of its colour; none of what was published.
    pub(super) colour: Option<usize>,
}

/// What was published, before and after.
pub(super) fn published(histogram: &published::Histogram) -> [Named; 2] {
    [("published, before", histogram.before), ("published, after", histogram.after)]
        .map(|(name, counts)| Named { name: name.to_owned(), counts: Histogram::from(counts), colour: None })
}

/// How a histogram is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As bpftrace writes it: `[4, 5)  54170 |@      |`.
    Brackets,
    /// As the posting writes return values: `5 : *****  (271192)`.
    Stars,
}

impl Form {
    fn label(self, value: u64) -> String {
        match self {
            Self::Brackets => format!("[{value}, {})", value + 1),
            Self::Stars => format!("{value:<3} :"),
        }
    }

    /// A bar as long as its share of the most.
    fn bar(self, number: u64, most: u64) -> String {
        let (width, letter) = match self {
            Self::Brackets => (52, '@'),
            Self::Stars => (50, '*'),
        };
        let length = (number.saturating_mul(width) / most.max(1)) as usize;
        let bar: String = std::iter::repeat_n(letter, length).collect();
        let width = width as usize;
        if self == Self::Brackets { format!("|{bar:<width$}|") } else { format!("{bar:<width$}") }
    }
}

/// The histogram as text; 0 is left out, as in the posting.
pub(super) fn text(named: &Named, form: Form) -> Table {
    let counts = &named.counts;
    let mut table = Table::new(named.name.clone(), &["nodes", "", "count"]);
    table.name_columns = 2;
    let values: Vec<u64> = counts.values().filter(|&value| value > 0).collect();
    let most = values.iter().map(|&value| counts.of(value)).max().unwrap_or(0);
    // bpftrace shows every value between the least and the largest.
    let shown: Vec<u64> = match (form, values.first().zip(values.last())) {
        (Form::Brackets, Some((&least, &largest))) => (least..=largest).collect(),
        _ => values,
    };
    for value in shown {
        let number = counts.of(value);
        table.row(vec![form.label(value), form.bar(number, most), count(number)]);
    }
    table.row(vec!["total".to_owned(), String::new(), count(counts.total())]);
    table
}

/// All histograms side by side, a row for each value.
pub(super) fn beside(title: &str, named: &[Named]) -> Table {
    let mut table = Table::new(title, &["nodes"]);
    table.header.extend(named.iter().map(|named| named.name.clone()));
    for value in values(named) {
        let mut row = vec![value.to_string()];
        row.extend(named.iter().map(|named| match (value, named.colour) {
            (0, None) => "-".to_owned(),
            _ => count(named.counts.of(value)),
        }));
        table.row(row);
    }
    let mut row = |name: &str, figure: fn(&Histogram) -> u64| {
        let mut cells = vec![name.to_owned()];
        cells.extend(named.iter().map(|named| count(figure(&named.counts))));
        table.row(cells);
    };
    row("calls", Histogram::calls);
    row("nodes in all", Histogram::total);
    table
}

fn values(named: &[Named]) -> BTreeSet<u64> {
    named.iter().flat_map(|named| named.counts.values()).collect()
}

/// The same to look at; 0 is left out.
pub(super) fn drawn(heading: &str, reading: &str, named: &[Named]) -> Histograms {
    let column = |named: &Named| Column {
        name: named.name.clone(),
        colour: named.colour,
        counts: named
            .counts
            .values()
            .filter(|&value| value > 0)
            .map(|value| (value, named.counts.of(value)))
            .collect(),
    };
    Histograms {
        heading: heading.to_owned(),
        reading: reading.to_owned(),
        unit: "nodes",
        columns: named.iter().map(column).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::bulk_2025;

    #[test]
    fn the_posting_s_own_lines_come_out() {
        let [before, _] = published(&bulk_2025::HISTOGRAM);
        let table = text(&before, Form::Brackets);
        let line = |row: usize| table.rows[row].join(" ");
        assert_eq!(line(1), format!("[4, 5) |@{}| 54_170", " ".repeat(51)));
        assert_eq!(line(2), format!("[5, 6) |{}| 0", " ".repeat(52)));
        assert_eq!(line(3), format!("[6, 7) |{}{}| 893_057", "@".repeat(20), " ".repeat(32)));
        assert_eq!(line(5), format!("[8, 9) |{}| 2_230_287", "@".repeat(52)));
        assert_eq!(line(12), format!("[15, 16) |{}{}| 367_197", "@".repeat(8), " ".repeat(44)));
        assert_eq!(line(13), "total  46_630_160");
    }
}
