//! The page of a study: a publication's figures beside ours, section by section.

use super::escape::html;
use super::page::{foot, head, method};
use super::palette::Palette;
use super::section::{self, Key, Section};
use super::summary::{Described, KeyFigure, engine_list, key_list};
use crate::output::Environment;
use std::fmt::Write;

/// A publication and what came of trying it again.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// Its heading.
    pub(crate) title: String,
    /// What was published, and what was done about it.
    pub(crate) lead: String,
    /// The figures to remember.
    pub(crate) keys: Vec<Key>,
    /// The engines that were compared.
    pub(crate) engines: Vec<Described>,
    /// The sections, in order.
    pub(crate) sections: Vec<Section>,
    /// How it was measured, in sentences.
    pub(crate) method: Vec<&'static str>,
}

/// The whole page.
pub(super) fn render(study: &Study, environment: &Environment, notes: &[String]) -> anyhow::Result<String> {
    let palette = Palette::known();
    let mut page = head(&study.title);
    let _ = writeln!(
        page,
        "<header><h1>{}</h1><p class=\"lead\">{}</p><p class=\"environment\">{}</p>",
        html(&study.title),
        html(&study.lead),
        html(&environment.lines().join(" \u{b7} "))
    );
    let key = |key: &Key| KeyFigure { value: html(&key.value), text: html(&key.text) };
    page.push_str(&key_list(&study.keys.iter().map(key).collect::<Vec<_>>()));
    page.push_str(&engine_list(&study.engines, &palette));
    page.push_str("</header>\n<nav aria-label=\"contents\">");
    for section in &study.sections {
        let _ = write!(page, "<a href=\"#{}\">{}</a>", section.id, html(&section.title));
    }
    page.push_str("<a href=\"#method\">Method and notes</a></nav>\n");
    for section in &study.sections {
        page.push_str(&section::render(section, &palette)?);
    }
    let sentences: Vec<String> = study.method.iter().map(|sentence| html(sentence)).collect();
    page.push_str(&method(sentences.iter().map(String::as_str), notes));
    page.push_str(&foot());
    Ok(page)
}
