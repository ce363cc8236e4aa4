//! Something that fills up over time, as one picture for each way of filling it: a space with zones in it, or chunks.
//!
//! ```text
//!   addresses,  |      .xx.x.x  |  high end      time, or load, to the right;
//!   or chunks   |   x.x.xx.xxx  |                a pixel's shade is its share: busy, full
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
    /// What the lightest shade is, and the darkest.
    pub(crate) shades: [&'static str; 2],
    /// Where along y, from 0 at the bottom to 1, and what is there.
    pub(crate) heights: Vec<Tick>,
    /// Stretches of y that have a name.
    pub(crate) bands: Vec<Band>,
    /// What lies along x.
    pub(crate) x_title: String,
    /// Where along x, from 0 to 1, and what is there.
    pub(crate) ticks: Vec<Tick>,
    /// The pictures.
    pub(crate) strips: Vec<Strip>,
}

/// A stretch of y.
#[derive(Clone, Debug)]
pub(crate) struct Band {
    /// Its name.
    pub(crate) name: String,
    /// Where it begins, from 0 at the bottom to 1.
    pub(crate) bottom: f64,
    /// How high it is.
    pub(crate) height: f64,
}

/// The zones of a space as bands, and ticks at round addresses.
pub(crate) fn zones(outer: Span, zones: &[(&str, Span)]) -> (Vec<Band>, Vec<Tick>) {
    let whole = outer.size_saturating();
    let share = |bytes: u64| bytes as f64 / whole as f64;
    let band = |(name, zone): &(&str, Span)| Band {
        name: (*name).to_owned(),
        bottom: share(zone.first().saturating_sub(outer.first())),
        height: share(zone.size_saturating()),
    };
    (zones.iter().map(band).collect(), byte_ticks(whole))
}

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    /// The engine.
    pub(crate) engine: String,
    /// What it does here.
    pub(crate) text: String,
    /// Its shades.
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
        legend(strips.shades)
    ))
}

fn panel(strips: &Strips, strip: &Strip, palette: &Palette) -> anyhow::Result<String> {
    let columns: Vec<usize> = (0..strip.picture.columns).collect();
    let Some(uri) = image::data_uri(&strip.picture, &columns)? else { return Ok(String::new()) };
    let mut page = format!(
        "<div class=\"panel\"><h5>{}</h5><p>{}</p><div class=\"frame\"><div class=\"picture\" \
         style=\"background:{}\"><img alt=\"{}\" style=\"height:100%\" src=\"{uri}\">",
        palette.name(&strip.engine),
        html(&strip.text),
        css(0.0),
        html(&strips.heading)
    );
    for Band { name, bottom, height } in &strips.bands {
        let (bottom, height) = (100.0 * bottom, 100.0 * height);
        let _ = write!(
            page,
            "<div class=\"band\" style=\"bottom:{bottom:.3}%;height:{height:.3}%\"><span>{}</span></div>",
            html(name)
        );
    }
    page.push_str("</div><div class=\"yticks\">");
    for (at, text) in &strips.heights {
        let _ = write!(page, "<span style=\"bottom:{:.3}%\">{}</span>", at * 100.0, html(text));
    }
    page.push_str("</div><div class=\"xticks\">");
    for (at, text) in &strips.ticks {
        let _ = write!(page, "<span style=\"left:{:.3}%\">{}</span>", at * 100.0, html(text));
    }
    let _ = write!(page, "</div></div><p class=\"xtitle\">{}</p></div>", html(&strips.x_title));
    Ok(page)
}
