//! A space that fills up, as one picture for each way of filling it, with the zones in it.
//!
//! ```text
//!   addresses   |      .xx.x.x  |  high end      time, or load, to the right;
//!               |   x.x.xx.xxx  |                a pixel's shade is its busy share
//!               | .x.xxxxxxxxx  |  low end
//! ```

use super::axis::{Tick, byte_ticks};
use super::drawn::{css, legend};
use super::escape::html;
use super::image;
use super::palette::Palette;
use crate::measure::Picture;
use freehold::units::Span;
use std::fmt::Write;

/// Pictures on one scale.
#[derive(Clone, Debug)]
pub(crate) struct Strips {
    /// What they show.
    pub(crate) heading: String,
    /// How to read them.
    pub(crate) reading: String,
    /// The addresses from bottom to top.
    pub(crate) outer: Span,
    /// Stretches of them that have a name.
    pub(crate) bands: Vec<(String, Span)>,
    /// What lies along x.
    pub(crate) x_title: String,
    /// Where along x, from 0 to 1, and what is there.
    pub(crate) ticks: Vec<Tick>,
    /// The pictures.
    pub(crate) strips: Vec<Strip>,
}

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    /// The engine.
    pub(crate) engine: String,
    /// What it does here.
    pub(crate) text: String,
    /// Its busy addresses.
    pub(crate) picture: Picture,
}

/// The pictures as HTML.
pub(super) fn render(strips: &Strips, palette: &Palette) -> anyhow::Result<String> {
    let mut panels = String::new();
    for strip in &strips.strips {
        panels.push_str(&panel(strips, strip, palette)?);
    }
    Ok(format!(
        "<figure class=\"space wide\"><figcaption><h4>{}</h4><p>{}</p></figcaption>{}\
         <div class=\"panels\">{panels}</div></figure>\n",
        html(&strips.heading),
        html(&strips.reading),
        legend()
    ))
}

fn panel(strips: &Strips, strip: &Strip, palette: &Palette) -> anyhow::Result<String> {
    let columns: Vec<usize> = (0..strip.picture.columns).collect();
    let Some(uri) = image::data_uri(&strip.picture, &columns)? else { return Ok(String::new()) };
    let mut page = format!(
        "<div class=\"panel\"><h5>{}</h5><p>{}</p><div class=\"frame\"><div class=\"picture\" \
         style=\"background:{}\"><img alt=\"busy addresses\" style=\"height:100%\" src=\"{uri}\">",
        palette.name(&strip.engine),
        html(&strip.text),
        css(0.0)
    );
    let whole = strips.outer.size_saturating();
    let share = |bytes: u64| 100.0 * bytes as f64 / whole as f64;
    for (name, band) in &strips.bands {
        let (bottom, height) = (share(band.first() - strips.outer.first()), share(band.size_saturating()));
        let _ = write!(
            page,
            "<div class=\"band\" style=\"bottom:{bottom:.3}%;height:{height:.3}%\"><span>{}</span></div>",
            html(name)
        );
    }
    page.push_str("</div><div class=\"yticks\">");
    for (at, text) in byte_ticks(whole) {
        let _ = write!(page, "<span style=\"bottom:{:.3}%\">{text}</span>", at * 100.0);
    }
    page.push_str("</div><div class=\"xticks\">");
    for (at, text) in &strips.ticks {
        let _ = write!(page, "<span style=\"left:{:.3}%\">{}</span>", at * 100.0, html(text));
    }
    let _ = write!(page, "</div></div><p class=\"xtitle\">{}</p></div>", html(&strips.x_title));
    Ok(page)
}
