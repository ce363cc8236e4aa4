//! The document: head, sections in order, style and scripts within it.

use super::escape::html;
use super::palette::Palette;
use super::{Input, growth, summary, table};
use crate::output::Table;
use std::fmt::Write;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/plots.js");
const UPLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("assets/uplot/LICENSE");

/// Forbids every fetch: what the page shows, it carries in itself.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// How it was measured, in sentences; HTML.
const METHOD: [&str; 5] = [
    "<b>Checked first.</b> Each engine ran the workload once while a model held every answer against the rules: \
     inside what it may use, aligned, overlapping nothing that lives. Engines whose placement is the \
     exact lowest address had to agree with each other on every answer. The timed runs had to give the same \
     answers again.",
    "<b>Counted exactly.</b> In that checked run the work of every operation was counted; each plot of it says in \
     which steps. These figures have no noise.",
    "<b>Timed in turn.</b> Each round ran all engines one after the other, every second round in reverse, each \
     on a fresh structure: once with the clock read around every operation, for the spread, and once as a whole, \
     for the time per operation of the loop.",
    "<b>The clock's cost removed.</b> What two readings with nothing between them cost was measured in each round \
     and taken off every time.",
    "<b>Compared within one run.</b> Ratios are to the first engine of the same run. Times of different machines \
     or runs do not compare; work does.",
];

/// The whole page.
pub(super) fn render(input: &Input<'_>) -> anyhow::Result<String> {
    let palette = Palette::of(input);
    let mut page = head("freehold report");
    page.push_str(&summary::render(input, &palette));
    let growth = growth::render(input.growth, &palette)?;
    page.push_str(&contents(input, !growth.is_empty()));
    page.push_str(&growth);
    let mut left: Vec<&Table> = input.tables.iter().collect();
    for (number, replay) in input.replays.iter().enumerate() {
        let (own, others): (Vec<&Table>, Vec<&Table>) =
            left.into_iter().partition(|table| replay.shown().owns(table));
        left = others;
        page.push_str(&replay.shown().render(number, &own, &palette)?);
    }
    page.push_str(&tables(&left, &palette));
    page.push_str(&method(METHOD, input.notes));
    page.push_str(&foot());
    Ok(page)
}

/// Everything before what is on the page.
pub(super) fn head(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>\n{UPLOT_STYLE}\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        html(title)
    )
}

fn contents(input: &Input<'_>, growth: bool) -> String {
    let mut page = String::from("<nav aria-label=\"contents\">");
    if growth {
        page.push_str("<a href=\"#growth\">Growth of work</a>");
    }
    for (number, replay) in input.replays.iter().enumerate() {
        let _ = write!(page, "<a href=\"#w{number}\">{}</a>", html(&replay.shown().title()));
    }
    page.push_str("<a href=\"#method\">Method and notes</a></nav>\n");
    page
}

/// The tables that belong to no workload.
fn tables(tables: &[&Table], palette: &Palette) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let tables: String =
        tables.iter().map(|table| table::render(table, &html(&table.title), palette)).collect();
    format!("<section id=\"tables\"><h2>Over all workloads</h2>\n{tables}</section>\n")
}

/// How it was measured, in sentences of HTML, and what else is to be said.
pub(super) fn method<'a>(sentences: impl IntoIterator<Item = &'a str>, notes: &[String]) -> String {
    let mut page = String::from("<section id=\"method\"><h2>How it was measured</h2><ul class=\"method\">");
    for sentence in sentences {
        let _ = write!(page, "<li>{sentence}</li>");
    }
    page.push_str("</ul>\n");
    if !notes.is_empty() {
        page.push_str("<h3>Notes</h3><ul class=\"notes\">");
        for note in notes {
            let _ = write!(page, "<li>{}</li>", html(note));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</section>\n");
    page
}

/// Everything after it.
pub(super) fn foot() -> String {
    format!(
        "</main>\n<script>\n/*\n{UPLOT_LICENCE}\n*/\n{UPLOT_SCRIPT}\n</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}
