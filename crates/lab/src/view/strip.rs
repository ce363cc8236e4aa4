//! Something that fills up over time, as one picture for each way of filling it, all on one scale: an address space, one with
//! zones in it, or chunks.
//!
//! ```text
//!   addresses,  |      .xx.x.x  |  high end      time, or load, to the right;
//!   or chunks   |   x.x.xx.xxx  |                a pixel's shade is its share: busy, full
//!               | .x.xxxxxxxxx  |  low end
//! ```

use super::definition::PictureView;
use super::escape::html;
use super::image::{self, css, legend};
use super::palette::Palette;
use crate::record::{Band, Grid, Strip, Strips};
use std::fmt::Write;

/// Shades, of 255, that a pixel's neighbour may differ by unseen.
const UNSEEN: u8 = 24;

/// Whether nothing can be seen to happen: each row has one shade from the first column to the last.
fn shows_nothing(strip: &Strip) -> bool {
    let Grid { busy, columns, .. } = &strip.picture;
    let rows = busy.len().checked_div(*columns).unwrap_or(0);
    (0..rows).all(|row| {
        let shades = || busy.iter().skip(row).step_by(rows);
        shades().max().zip(shades().min()).is_none_or(|(most, least)| most - least <= UNSEEN)
    })
}

/// The pictures as HTML, a sentence if nothing can be seen in any. The words of the view are filled in.
pub(super) fn render(view: &PictureView, strips: &Strips, palette: &Palette) -> anyhow::Result<String> {
    let head = format!("<figcaption><h4>{}</h4><p>{}", html(&view.title), html(&view.reading));
    if strips.strips.iter().all(shows_nothing) {
        let told = |strip: &Strip| format!("{}: {}", strip.engines.join(", "), strip.text);
        let panels: Vec<String> = strips.strips.iter().map(told).collect();
        let panels = html(&panels.join("; "));
        return Ok(format!(
            "<figure class=\"said wide\">{head} A picture would show no change. {panels}.</p></figcaption></figure>\n"
        ));
    }
    let mut panels = String::new();
    for strip in &strips.strips {
        panels.push_str(&panel(view, strips, strip, palette)?);
    }
    let [lightest, darkest] = &view.shades;
    Ok(format!(
        "<figure class=\"space wide\">{head}</p></figcaption>{}<div class=\"panels\">{panels}</div></figure>\n",
        legend(&html(lightest), &html(darkest))
    ))
}

fn panel(view: &PictureView, strips: &Strips, strip: &Strip, palette: &Palette) -> anyhow::Result<String> {
    let Some(uri) = image::data_uri(&strip.picture, &strip.columns)? else { return Ok(String::new()) };
    let names: Vec<String> = strip.engines.iter().map(|label| palette.name(label)).collect();
    let mut page = format!(
        "<div class=\"panel\"><h5>{}</h5><p>{}</p><div class=\"frame\"><div class=\"picture\" \
         style=\"background:{}\"><img alt=\"{}\" style=\"height:{:.3}%\" src=\"{uri}\">",
        names.join(" "),
        html(&strip.text),
        css(0.0),
        html(&view.title),
        100.0 * strip.height
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
    let names = view.ticks.iter().map(Some).chain(std::iter::repeat(None));
    for ((at, text), name) in strips.ticks.iter().zip(names) {
        let text = name.unwrap_or(text);
        let _ = write!(page, "<span style=\"left:{:.3}%\">{}</span>", at * 100.0, html(text));
    }
    let _ = write!(page, "</div></div><p class=\"xtitle\">{}</p></div>", html(&view.x));
    Ok(page)
}
