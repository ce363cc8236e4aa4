//! Plain text of 72 columns, fit to paste into a mail. A table too wide is continued below itself, the names of
//! its rows repeated.

use super::{Document, Environment, Table};
use std::fmt::Write;

const WIDTH: usize = 72;

pub(super) fn render(document: &Document, environment: &Environment) -> String {
    let mut text = String::new();
    for line in environment.lines() {
        wrap(&mut text, &line);
    }
    for table in &document.tables {
        text.push('\n');
        wrap(&mut text, &table.title);
        render_table(&mut text, table);
    }
    for note in &document.notes {
        text.push('\n');
        wrap(&mut text, note);
    }
    text
}

/// Breaks a text at its spaces; a word longer than a line stays whole.
fn wrap(text: &mut String, line: &str) {
    let mut column = 0;
    for word in line.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}

fn render_table(text: &mut String, table: &Table) {
    let widths: Vec<usize> = (0..table.header.len()).map(|column| width_of(table, column)).collect();
    let names = table.name_columns.min(widths.len());
    let names_width: usize = widths.iter().take(names).map(|width| width + 2).sum();
    let mut from = names;
    loop {
        let mut until = from;
        let mut used = names_width;
        while let Some(width) = widths.get(until) {
            if until > from && used + width + 2 > WIDTH + 2 {
                break;
            }
            used += width + 2;
            until += 1;
        }
        let shown: Vec<usize> = (0..names).chain(from..until).collect();
        for row in std::iter::once(&table.header).chain(&table.rows) {
            let mut line = String::new();
            for &column in &shown {
                let cell = row.get(column).map_or("", String::as_str);
                let width = widths.get(column).copied().unwrap_or(0);
                let _ = if column < names {
                    write!(line, "{cell:<width$}  ")
                } else {
                    write!(line, "{cell:>width$}  ")
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        from = until;
        if from >= widths.len() {
            break;
        }
        text.push('\n');
    }
}

fn width_of(table: &Table, column: usize) -> usize {
    let cells = table.rows.iter().chain(std::iter::once(&table.header)).filter_map(|row| row.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_continue_below() {
        let header: Vec<String> = (0..12).map(|at| format!("column{at:02}")).collect();
        let rows = vec![(0..12).map(|at| "9".repeat(at + 1)).collect()];
        let mut text = String::new();
        render_table(&mut text, &Table { title: String::new(), header, rows, name_columns: 1 });
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for at in 0..12 {
            assert!(text.contains(&format!("column{at:02}")), "{text}");
        }
        assert!(text.lines().filter(|line| line.starts_with("column00")).count() > 1);
    }
}
