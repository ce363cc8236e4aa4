//! Histograms side by side: how often each value came, a column for each source.
//!
//! ```text
//!             published, before    kernel 6.16         ours
//!   3 nodes   . 11_836             =========== 3.5 M   ..
//!   7 nodes   ========= 2_329_329  . 73_479            ..      a bar is a share of its column's most
//! ```

use super::escape::html;
use crate::output::count;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Histograms over the same values.
#[derive(Clone, Debug)]
pub(crate) struct Histograms {
    /// What they show.
    pub(crate) heading: String,
    /// How to read them.
    pub(crate) reading: String,
    /// What a value is a number of.
    pub(crate) unit: &'static str,
    /// The columns.
    pub(crate) columns: Vec<Column>,
}

/// One histogram.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Where it is from.
    pub(crate) name: String,
    /// The number of its colour; none of what others published.
    pub(crate) colour: Option<usize>,
    /// Values, and how often they came.
    pub(crate) counts: Vec<(u64, u64)>,
}

impl Column {
    fn of(&self, value: u64) -> u64 {
        self.counts.iter().find(|(other, _)| *other == value).map_or(0, |(_, count)| *count)
    }
}

/// The histograms as HTML; nothing of none.
pub(super) fn render(histograms: &Histograms) -> String {
    let columns = &histograms.columns;
    let values: BTreeSet<u64> =
        columns.iter().flat_map(|column| column.counts.iter().map(|(value, _)| *value)).collect();
    if values.is_empty() {
        return String::new();
    }
    let mut page = format!(
        "<figure class=\"histograms wide\"><figcaption><h4>{}</h4><p>{}</p></figcaption><div class=\"scroll\"><div \
         class=\"grid\" style=\"--columns:{}\"><span></span>",
        html(&histograms.heading),
        html(&histograms.reading),
        columns.len()
    );
    for column in columns {
        let _ = write!(page, "<b>{}</b>", html(&column.name));
    }
    for value in values {
        let _ = write!(page, "<span>{value} {}</span>", html(histograms.unit));
        for column in columns {
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
    let class = column.colour.map_or_else(|| "published".to_owned(), |colour| format!("e{colour}"));
    let width = 100.0 * number as f64 / most.max(1) as f64;
    format!("<div><i class=\"{class}\" style=\"width:{width:.2}%\"></i><em>{}</em></div>", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_share_of_its_column() {
        let column = |name: &str, colour, counts: &[(u64, u64)]| Column {
            name: name.to_owned(),
            colour,
            counts: counts.to_vec(),
        };
        let page = render(&Histograms {
            heading: "a & b".to_owned(),
            reading: String::new(),
            unit: "nodes",
            columns: vec![column("<them>", None, &[(3, 400), (7, 100)]), column("us", Some(2), &[(3, 9)])],
        });
        assert!(page.contains("a &amp; b") && page.contains("&lt;them&gt;") && page.contains("--columns:2"));
        assert!(page.contains("class=\"published\" style=\"width:25.00%\"></i><em>100<"), "{page}");
        assert!(page.contains("class=\"e2\" style=\"width:100.00%\"></i><em>9<"));
        assert_eq!(page.matches("class=\"none\"").count(), 1);
    }
}
