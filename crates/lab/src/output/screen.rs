//! Tables for a terminal.

use super::{Document, Table};
use comfy_table::{CellAlignment, ContentArrangement, presets};
use std::fmt::Write;

pub(super) fn render(document: &Document) -> String {
    let mut text = String::new();
    for table in &document.tables {
        let _ = writeln!(text, "{}\n{}\n", table.title, drawn(table));
    }
    for note in &document.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn drawn(table: &Table) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(presets::UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_header(&table.header);
    for row in &table.rows {
        drawn.add_row(row);
    }
    for at in table.name_columns..table.header.len() {
        if let Some(column) = drawn.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawn.to_string()
}
