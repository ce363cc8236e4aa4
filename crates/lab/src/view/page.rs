//! One HTML file that needs nothing else: what was found first, then the sections in order, style and scripts within.

use super::definition::{Definition, Key, PictureView, Scope, Section, View};
use super::escape::{html, prose};
use super::findings::{self, Verdict, findings};
use super::palette::Palette;
use super::text::of_view;
use super::{bars, frame, histogram, plot, published, table};
use crate::record::{Environment, Results, comes_first, figure, fixed, largest};
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/plots.js");
const UPLOT_STYLE: &str = include_str!("assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("assets/uplot/LICENSE");

/// Forbids every fetch: what the page shows, it carries in itself.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Findings of either kind on the page.
const FINDINGS: usize = 12;

/// The whole page. The same input gives the same bytes.
///
/// # Errors
/// A picture cannot be encoded.
pub fn page(definition: &Definition, results: &Results, environment: &Environment) -> anyhow::Result<String> {
    let palette = Palette::known();
    let sections = definition.sections(results);
    let mut page = head(&definition.title);
    let _ = writeln!(
        page,
        "<header><h1>{}</h1><p class=\"lead\">{}</p><p class=\"environment\">{}</p>",
        html(&definition.title),
        html(&Scope { results, each: None }.text(&definition.lead)),
        html(&environment.lines().join(" \u{b7} "))
    );
    for note in results.notes.iter().filter(|note| comes_first(note)) {
        let _ = write!(page, "<p><strong>{}</strong></p>", html(note));
    }
    page.push_str(&keys(&sections));
    page.push_str(&findings::sentences(&findings(results), FINDINGS, &palette));
    page.push_str("<dl class=\"engines\">");
    for (label, about, default) in &results.engines {
        let mark = if *default { " <em>default</em>" } else { "" };
        let _ = write!(page, "<dt>{}{mark}</dt><dd>{}</dd>", palette.name(label), html(about));
    }
    page.push_str("</dl>\n</header>\n<nav aria-label=\"contents\">");
    for (number, (section, scope)) in sections.iter().enumerate() {
        let _ = write!(
            page,
            "<a href=\"#{}\">{}</a>",
            anchor(section, number),
            html(&scope.text(&section.title))
        );
    }
    page.push_str("<a href=\"#method\">Method and notes</a></nav>\n");
    for (number, (section, scope)) in sections.iter().enumerate() {
        page.push_str(&one(section, number, scope, &palette)?);
    }
    page.push_str(&method(definition, results));
    let _ = write!(
        page,
        "</main>\n<script>\n/*\n{UPLOT_LICENCE}\n*/\n{UPLOT_SCRIPT}\n</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    );
    Ok(page)
}

fn head(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>\n{UPLOT_STYLE}\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        html(title)
    )
}

/// Figures to remember, one by another, as a row of cards; nothing of none.
fn keys(sections: &[(&Section, Scope)]) -> String {
    let card = |key: &Key, scope: &Scope| {
        let one = largest(&scope.records(&key.of, &[]))?;
        let value = match &key.over {
            Some(over) => {
                let other = largest(&scope.records(over, &[]))?;
                let word = if findings::verdict(other, one) == Verdict::Even { ", even" } else { "" };
                format!("{}x{}{word}", fixed(one.value / other.value), one.origin.mark())
            }
            None => figure(one.metric.unit(), one.value),
        };
        let text = scope.fill(&key.text, &BTreeMap::new())?;
        Some(format!("<li><b>{}</b><span>{}</span></li>", html(&value), html(&text)))
    };
    let all =
        sections.iter().flat_map(|(section, scope)| section.key.iter().filter_map(|key| card(key, scope)));
    let cards: String = all.collect();
    if cards.is_empty() { cards } else { format!("<ul class=\"keys\">{cards}</ul>\n") }
}

fn anchor(section: &Section, number: usize) -> String {
    if section.each.is_some() { format!("{}{number}", section.id) } else { section.id.clone() }
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|text| format!("<li>{}</li>", prose(text))).collect()
}

fn one(section: &Section, number: usize, scope: &Scope, palette: &Palette) -> anyhow::Result<String> {
    let (anchor, title) = (anchor(section, number), html(&scope.text(&section.title)));
    let mut page = format!("<section id=\"{anchor}\"><h2>{title}</h2>");
    for paragraph in section.about.iter().filter_map(|text| scope.fill(text, &BTreeMap::new())) {
        let _ = write!(page, "<p class=\"about\">{}</p>", prose(&paragraph));
    }
    let mut figures = String::new();
    let mut tables = String::new();
    for view in &section.view {
        match view {
            View::Bars(view) => figures.push_str(&bars::render(view, scope, palette)),
            View::Plot(view) => figures.push_str(&plot::render(view, scope, palette)?),
            View::Histogram(view) => {
                figures.push_str(&histogram::render(view, scope));
                continue;
            }
            View::Picture(view) => figures.push_str(&pictures(view, scope, palette)?),
            // No command that has it makes a page.
            View::SideBySide { .. } => {}
            View::Table(_) | View::Published { .. } | View::Features { .. } => {}
        }
        tables.extend(of_view(view, scope).iter().map(|table| table::render(table, palette)));
        if let View::Published { suite, .. } = view {
            let _ = write!(tables, "<ol class=\"notes\">{}</ol>", list(&published::notes(suite)));
        }
    }
    if !figures.is_empty() {
        let _ = writeln!(page, "<div class=\"plots\">{figures}</div>");
    }
    page.push_str(&tables);
    page.push_str("</section>\n");
    Ok(page)
}

fn pictures(view: &PictureView, scope: &Scope, palette: &Palette) -> anyhow::Result<String> {
    let [title, reading, x] = [&view.title, &view.reading, &view.x].map(|text| scope.text(text));
    let filled = PictureView { title, reading, x, ..view.clone() };
    let pictures = scope.results.pictures.iter();
    let wanted = pictures.filter(|(name, workload, _)| *name == view.id && scope.has(workload));
    wanted.map(|(_, _, strips)| frame::strips(&filled, strips, palette)).collect()
}

/// How it was measured, and what else is to be said.
fn method(definition: &Definition, results: &Results) -> String {
    let notes: Vec<String> = results.notes.iter().filter(|note| !comes_first(note)).cloned().collect();
    let notes = if notes.is_empty() {
        String::new()
    } else {
        format!("<h3>Notes</h3><ul class=\"notes\">{}</ul>\n", list(&notes))
    };
    format!(
        "<section id=\"method\"><h2>How it was measured</h2><ul class=\"method\">{}</ul>\n{notes}</section>\n",
        list(&definition.method)
    )
}
