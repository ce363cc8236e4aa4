//! Something that fills up over time, as one picture for each way of filling it: a space with zones in it, or chunks.
//!
//! ```text
//!   addresses,  |      .xx.x.x  |  high end      time, or load, to the right;
//!   or chunks   |   x.x.xx.xxx  |                a pixel's shade is its share: busy, full
//!               | .x.xxxxxxxxx  |  low end
//! ```

use super::escape::html;
use super::image::{self, css, legend};
use super::palette::Palette;
use crate::record::{Band, Strip, Strips};
use std::fmt::Write;

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
