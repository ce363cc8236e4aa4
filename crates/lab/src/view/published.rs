//! Published figures, source by source, beside ours; and where there is no like quantity, why.

use super::Table;
use super::definition::Scope;
use crate::published::{self, Figure, Source};
use crate::record::{Record, Select, figure, fixed, largest};

/// The table; its notes are numbered below it.
pub(super) fn table(title: &str, suite: &str, scope: &Scope) -> Table {
    let header = ["", "before", "after", "ratio", "ours", "note"].map(str::to_owned).to_vec();
    let (mut rows, notes) = (Vec::new(), notes(suite));
    for source in published::of_suite(suite) {
        rows.push(std::iter::once(source.source.clone()).chain(vec![String::new(); 5]).collect());
        for figure in &source.figure {
            let number = notes.iter().position(|note| *note == figure.note).map_or(0, |at| at + 1);
            let quantity = |text: &Option<published::Quantity>| {
                text.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
            };
            rows.push(vec![
                format!("  {}", figure.what),
                quantity(&figure.before),
                quantity(&figure.after),
                ratio(figure),
                ours(source, figure, scope).unwrap_or_else(|| "-".to_owned()),
                format!("({number})"),
            ]);
        }
    }
    Table { title: title.to_owned(), header, rows, name_columns: 1 }
}

/// How far ours are alike, or why there are none, in the order of their numbers.
pub(super) fn notes(suite: &str) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for figure in published::of_suite(suite).flat_map(|source| &source.figure) {
        if !notes.contains(&figure.note) {
            notes.push(figure.note.clone());
        }
    }
    notes
}

/// The ratio of the two that stand for before and after, or the figure of the one.
fn ours(source: &Source, of: &Figure, scope: &Scope) -> Option<String> {
    let record = |side: &Select| {
        let select = of.of.clone().with(side);
        let same = scope.results.records.iter().filter(|record| select.takes(record) && of.is_of(record));
        largest(&same.collect::<Vec<&Record>>())
    };
    match of.ours.as_ref().or(source.ours.as_ref())?.as_slice() {
        [before, after] => {
            let (before, after) = (record(before)?, record(after)?);
            let mark = if before.origin.mark().is_empty() { after } else { before }.origin.mark();
            (after.value > 0.0).then(|| format!("{}x{mark}", fixed(before.value / after.value)))
        }
        [side] => {
            let record = record(side)?;
            Some(figure(record.metric.unit(), record.value * source.per) + record.origin.mark())
        }
        _ => None,
    }
}

fn ratio(figure: &Figure) -> String {
    let more = if figure.before.as_ref().is_some_and(|before| before.at_least) { "> " } else { "" };
    figure.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{more}{}x", fixed(ratio)))
}
