//! Published figures, source by source, beside ours; and where there is no like quantity, why.

use super::Table;
use super::definition::Scope;
use crate::published::{self, Figure};
use crate::record::fixed;

/// The table; its notes are numbered below it.
pub(super) fn table(title: &str, suite: &str, scope: &Scope) -> Table {
    let header = ["", "before", "after", "ratio", "ours", "reproduced", "note"].map(str::to_owned).to_vec();
    let (mut rows, notes) = (Vec::new(), notes(suite));
    // Those of histograms alone have plots of their own.
    for source in published::of_suite(suite).filter(|source| !source.figure.is_empty()) {
        rows.push(std::iter::once(source.source.clone()).chain(vec![String::new(); 6]).collect());
        for figure in &source.figure {
            let number = notes.iter().position(|note| *note == figure.note).map_or(0, |at| at + 1);
            let quantity = |text: &Option<published::Quantity>| {
                text.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
            };
            let beside = figure.beside(&scope.results.records).ok().flatten();
            let [ours, reproduced] = beside.map_or_else(
                || ["-".to_owned(), "-".to_owned()],
                |beside| [beside.text, beside.reproduced.name().to_owned()],
            );
            rows.push(vec![
                format!("  {}", figure.what),
                quantity(&figure.before),
                quantity(&figure.after),
                ratio(figure),
                ours,
                reproduced,
                format!("({number})"),
            ]);
        }
    }
    Table { title: title.to_owned(), header, rows, name_columns: 1, ..Table::default() }
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

fn ratio(figure: &Figure) -> String {
    let more = if figure.before.as_ref().is_some_and(|before| before.at_least) { "> " } else { "" };
    figure.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{more}{}x", fixed(ratio)))
}
