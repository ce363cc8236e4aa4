//! A section of a study: what it is about, what to look at, and the figures as they are printed.

use super::bars::Bars;
use super::escape::html;
use super::film::Film;
use super::histogram::Histograms;
use super::palette::Palette;
use super::plot::Plot;
use super::strip::Strips;
use super::table;
use super::tree::Trees;
use crate::output::Table;
use std::fmt::Write;

/// A figure to remember, and what it is.
#[derive(Clone, Debug)]
pub struct Key {
    /// The figure.
    pub(crate) value: String,
    /// What it is.
    pub(crate) text: String,
}

/// Something to look at.
#[derive(Clone, Debug)]
pub(crate) enum Figure {
    /// A plot of lines.
    Plot(Plot),
    /// Bars in groups.
    Bars(Bars),
    /// Histograms side by side.
    Histograms(Histograms),
    /// Pictures of a space, or of chunks, over time.
    Strips(Strips),
    /// A tree before and after.
    Trees(Trees),
    /// An address space over time.
    Film(Film),
}

/// A section.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its anchor.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) title: String,
    /// What it is about, a paragraph each.
    pub(crate) about: Vec<String>,
    /// What to look at.
    pub(crate) figures: Vec<Figure>,
    /// What is printed of it; also in the terminal.
    pub(crate) tables: Vec<Table>,
}

/// The section as HTML.
pub(super) fn render(section: &Section, palette: &Palette) -> anyhow::Result<String> {
    let mut page = format!("<section id=\"{}\"><h2>{}</h2>", section.id, html(&section.title));
    for paragraph in &section.about {
        let _ = write!(page, "<p class=\"about\">{}</p>", html(paragraph));
    }
    if !section.figures.is_empty() {
        page.push_str("<div class=\"plots\">");
        for figure in &section.figures {
            page.push_str(&match figure {
                Figure::Plot(plot) => plot.html()?,
                Figure::Bars(bars) => super::bars::render(bars, palette),
                Figure::Histograms(histograms) => super::histogram::render(histograms),
                Figure::Strips(strips) => super::strip::render(strips, palette)?,
                Figure::Trees(trees) => super::tree::render(trees),
                Figure::Film(film) => super::film::render(film)?,
            });
        }
        page.push_str("</div>\n");
    }
    for table in &section.tables {
        page.push_str(&table::render(table, &html(&table.title), palette));
    }
    page.push_str("</section>\n");
    Ok(page)
}
