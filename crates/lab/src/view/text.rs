//! Results as plain text: 100 columns for a terminal, 72 for a mailing list. A table that is too wide is continued below
//! itself, the names of its rows repeated.

use super::definition::{Definition, Scope, View};
use super::escape::plain;
use super::findings::{self, findings};
use super::{Table, changes, histogram, published, side_by_side, table};
use crate::record::{Environment, Results, comes_first, counted};
use std::fmt::Write;

/// Columns of a terminal, and of a mail.
pub const SCREEN: usize = 100;
pub(crate) const MAIL: usize = 72;
/// Lines of findings on the screen, either way.
const FINDINGS: usize = 6;

/// For a terminal of so many columns: what was found, then the tables. Those that are marked as more come only if `all` are asked
/// for.
pub fn screen(
    definition: &Definition,
    results: &Results,
    environment: &Environment,
    width: usize,
    all: bool,
) -> String {
    let mut text = String::new();
    wrap(&mut text, &environment.line(), width);
    first(&mut text, results, width);
    let found = findings(results);
    for table in changes::table(results).into_iter().chain(findings::tables(&found, FINDINGS)) {
        text.push('\n');
        write_table(&mut text, &table, width);
    }
    body(&mut text, definition, results, width, all);
    text
}

/// For a mail: where and how it was measured, then the heads if recorded workloads were run; otherwise, or if `all` is asked for,
/// everything.
pub fn lkml(definition: &Definition, results: &Results, environment: &Environment, all: bool) -> String {
    let mut text = String::new();
    for line in environment.lines() {
        wrap(&mut text, &line, MAIL);
    }
    let facts = ["rounds", "repeat", "loops", "seed"].into_iter();
    let facts: Vec<String> =
        facts.filter_map(|name| Some(format!("{name}: {}", results.facts.get(name)?))).collect();
    if !facts.is_empty() {
        wrap(&mut text, &facts.join(", "), MAIL);
    }
    first(&mut text, results, MAIL);
    let found = findings(results);
    if let Some(heads) = findings::heads(&found).filter(|_| !all && definition.heads) {
        text.push('\n');
        write_table(&mut text, &heads, MAIL);
        wrap(&mut text, &findings::summary(&found), MAIL);
        return text;
    }
    for table in changes::table(results).into_iter().chain(findings::tables(&found, usize::MAX)) {
        text.push('\n');
        write_table(&mut text, &table, MAIL);
    }
    body(&mut text, definition, results, MAIL, true);
    text
}

/// What comes before any figure.
fn first(text: &mut String, results: &Results, width: usize) {
    results.notes.iter().filter(|note| comes_first(note)).for_each(|note| wrap(text, note, width));
}

/// Tables, how many were left out, and notes: the last of these is the last line.
fn body(text: &mut String, definition: &Definition, results: &Results, width: usize, all: bool) {
    let mut hidden = 0;
    for (section, scope) in definition.sections(results) {
        for view in &section.view {
            let tables = of_view(view, &scope);
            let is_more = match view {
                View::Table(view) => view.more,
                View::Histogram(view) => view.more,
                View::Bars(view) => view.more,
                _ => false,
            };
            if is_more && !all {
                hidden += tables.len();
                continue;
            }
            for table in tables {
                text.push('\n');
                write_table(text, &table, width);
            }
            if let View::SideBySide { title } = view {
                text.push_str(&side_by_side::lines(title, scope.results, width));
            }
            if let View::Published { suite, .. } = view {
                for (at, note) in published::notes(suite).iter().enumerate() {
                    wrap(text, &format!("({}) {note}", at + 1), width);
                }
            }
        }
    }
    if hidden > 0 {
        let _ = write!(text, "\n{}: freehold show --all\n", counted(hidden as u64, "more table"));
    }
    let matters = |note: &str| note.starts_with("FAILED") || note.contains("left out");
    let (said, behind): (Vec<&String>, Vec<&String>) = results
        .notes
        .iter()
        .filter(|note| !comes_first(note))
        .partition(|note| all || !definition.quiet || matters(note));
    if !said.is_empty() {
        text.push('\n');
    }
    for note in said {
        wrap(text, note, width);
    }
    if !behind.is_empty() {
        let _ = write!(text, "\n{}: freehold show --all\n", counted(behind.len() as u64, "note"));
    }
}

/// The tables of a view, those that it is as text.
pub(super) fn of_view(view: &View, scope: &Scope) -> Vec<Table> {
    match view {
        View::Table(view) => table::tables(view, scope),
        View::Histogram(view) => histogram::texts(view, scope),
        View::Published { title, suite } => vec![published::table(title, suite, scope)],
        View::Features { title } => vec![table::features(title, scope.results)],
        View::Bars(view) => view.as_table().map_or_else(Vec::new, |view| table::tables(&view, scope)),
        View::Plot(_) | View::Picture(_) | View::SideBySide { .. } => Vec::new(),
    }
}

/// Breaks a text at its spaces; a word longer than a line stays whole.
pub(crate) fn wrap(text: &mut String, line: &str, width: usize) {
    let mut column = 0;
    for word in line.split_whitespace().map(plain) {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += length;
    }
    text.push('\n');
}

/// Columns of names have at least so much room, if their names are as long.
const NAME: usize = 12;

fn write_table(text: &mut String, table: &Table, width: usize) {
    wrap(text, &table.title, width);
    if table.header.is_empty() {
        return;
    }
    let table = &table.plain();
    let length = |cell: &String| cell.chars().count();
    let column_width = |column: usize| {
        let cells = table.rows.iter().chain(std::iter::once(&table.header)).filter_map(|row| row.get(column));
        cells.map(length).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..table.header.len()).map(column_width).collect();
    let names = table.name_columns.min(widths.len());
    // Names leave room for figures, for all of them if that is a third of the line, and for the widest in any case; the longest of
    // those that do not go on below.
    let figures = widths.iter().skip(names).map(|width| width + 2);
    let (all, widest) = (figures.clone().sum::<usize>(), figures.max().unwrap_or(0));
    let left = |taken: usize| width.saturating_sub(taken + 2 * names);
    let room = left(all.max(width / 3)).max(NAME * names).min(left(widest)).max(names);
    while widths.iter().take(names).sum::<usize>() > room {
        let longest = widths.iter().take(names).copied().max().unwrap_or(0);
        widths.iter_mut().take(names).for_each(|width| *width = (*width).min(longest - 1));
    }
    let names_width: usize = widths.iter().take(names).map(|width| width + 2).sum();
    let mut from = names;
    loop {
        let (mut until, mut used) = (from, names_width + 2);
        while let Some(next) = widths.get(until).filter(|next| until == from || used + *next + 2 <= width + 2)
        {
            used += next + 2;
            until += 1;
        }
        for row in std::iter::once(&table.header).chain(&table.rows) {
            let figures = row.iter().zip(&widths).take(until).skip(from);
            let figures: String = figures.map(|(cell, &width)| format!("{cell:>width$}  ")).collect();
            write_row(text, row.iter().take(names).zip(&widths), &figures);
        }
        from = until;
        if from >= widths.len() {
            break;
        }
        text.push('\n');
    }
    if !table.reading.is_empty() {
        wrap(text, &table.reading, width);
    }
}

/// Names in their widths, what does not fit below; the figures behind the first line of them.
fn write_row<'a>(text: &mut String, names: impl Iterator<Item = (&'a String, &'a usize)>, figures: &str) {
    let cells: Vec<(Vec<String>, usize)> = names.map(|(name, &width)| (lines(name, width), width)).collect();
    let most = cells.iter().map(|(lines, _)| lines.len()).max().unwrap_or(1);
    for at in 0..most {
        let mut line = String::from("  ");
        for (lines, width) in &cells {
            let part = lines.get(at).map_or("", String::as_str);
            let _ = write!(line, "{part:<width$}  ");
        }
        line.push_str(if at == 0 { figures } else { "" });
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// A name in lines of that width, broken at spaces; what is longer than a line is broken anywhere.
pub(super) fn lines(name: &str, width: usize) -> Vec<String> {
    if name.chars().count() <= width {
        return vec![name.to_owned()];
    }
    let indent = name.len() - name.trim_start().len();
    let mut text = String::new();
    wrap(&mut text, name, width.saturating_sub(indent).max(1));
    let broken = text.lines().flat_map(|line| {
        let letters: Vec<char> = line.chars().collect();
        let parts = letters.chunks((width - indent.min(width - 1)).max(1));
        parts.map(|part| " ".repeat(indent) + &part.iter().collect::<String>()).collect::<Vec<_>>()
    });
    broken.collect()
}
