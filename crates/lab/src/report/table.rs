//! A printed table as an HTML table that scrolls in a box of its own.

use super::escape::html;
use super::palette::Palette;
use crate::output::Table;
use std::fmt::Write;

/// The table under the given caption, which is HTML already.
pub(super) fn render(table: &Table, caption: &str, palette: &Palette) -> String {
    let mut page = String::from("<div class=\"scroll\"><table>");
    if !caption.is_empty() {
        let _ = write!(page, "<caption>{caption}</caption>");
    }
    page.push_str("<thead><tr>");
    for (at, name) in table.header.iter().enumerate() {
        let _ = write!(page, "<th scope=\"col\"{}>{}</th>", class(table, at), html(name));
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
    page
}

fn class(table: &Table, column: usize) -> &'static str {
    if column < table.name_columns { "" } else { " class=\"figure\"" }
}
