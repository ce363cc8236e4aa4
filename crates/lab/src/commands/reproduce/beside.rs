//! Published figures beside ours, source by source; and where there is no like quantity, why.

use super::Part;
use crate::output::{Row, Table};
use crate::published::{Figure, Published, Quantity};
use crate::report::Section;

/// Ours beside a published figure.
pub(super) struct Ours {
    /// As the table has it; empty where there is nothing alike.
    pub(super) text: String,
    /// How far it is alike, or why there is none.
    pub(super) note: String,
}

impl Ours {
    /// There is nothing like it here.
    pub(super) fn none(reason: &str) -> Self {
        Self { text: String::new(), note: format!("not comparable: {reason}") }
    }
}

/// The part of a family of engines: a table of all figures, its notes numbered below what is said `before` it.
pub(super) fn part<S>(
    suite: &'static str,
    before: String,
    sources: &[Published<S>],
    ours: impl Fn(&Figure<S>) -> Ours,
) -> Part {
    let header = ["", "before", "after", "ratio", "ours", "note"];
    let mut table = Table::new("Published then and since, beside this run", &header);
    let (mut rows, mut notes): (Vec<Row>, Vec<String>) = (Vec::new(), Vec::new());
    for source in sources {
        let mut heading = vec![source.source.to_owned()];
        heading.resize(header.len(), String::new());
        table.row(heading);
        for figure in source.figures {
            let ours = ours(figure);
            let number = notes.iter().position(|note| *note == ours.note).unwrap_or_else(|| {
                notes.push(ours.note.clone());
                notes.len() - 1
            });
            table.row(cells(figure, &ours, number + 1));
            rows.push(row(suite, source.source, figure, &ours));
        }
    }
    let mut about = vec![before];
    let numbered = |(at, note): (usize, &String)| format!("({}) {note}.", at + 1);
    about.extend(notes.iter().enumerate().map(numbered));
    let notes = about.iter().skip(1).map(|note| format!("published since: {note}")).collect();
    let section = Section {
        id: "later",
        title: "What was published since".to_owned(),
        about,
        tables: vec![table],
        ..Section::default()
    };
    Part { section, rows, notes, ..Part::default() }
}

fn cells<S>(figure: &Figure<S>, ours: &Ours, note: usize) -> Vec<String> {
    let quantity =
        |quantity: Option<Quantity>| quantity.map_or_else(|| "-".to_owned(), |quantity| quantity.to_string());
    let text = if ours.text.is_empty() { "-".to_owned() } else { ours.text.clone() };
    let what = format!("  {}", figure.what);
    vec![
        what,
        quantity(figure.before),
        quantity(figure.after),
        figure.ratio_text(),
        text,
        format!("({note})"),
    ]
}

fn row<S>(suite: &'static str, source: &str, figure: &Figure<S>, ours: &Ours) -> Row {
    // A ratio where there are two ends, otherwise the one that there is.
    let end = figure.after.or(figure.before);
    let (value, unit) = match figure.ratio() {
        Some(ratio) => (Some(ratio), Some("before / after")),
        None => (end.map(|end| end.value), end.map(|end| end.unit.name())),
    };
    Row {
        suite,
        workload: Some(format!("{}: {source}", figure.what)),
        published: value,
        published_unit: unit,
        note: Some(format!("{} {}", ours.text, ours.note).trim().to_owned()),
        ..Row::default()
    }
}
