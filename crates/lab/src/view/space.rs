//! The address space over time: a picture for each engine, all on one scale, and one for engines that placed
//! everything alike.

use super::escape::html;
use super::image::{self, css, legend};
use super::palette::Palette;
use crate::record::{Panel, Spaces, byte_ticks};
use freehold::units::Bytes;
use std::fmt::Write;

/// The pictures as HTML.
pub(super) fn render(spaces: &Spaces, palette: &Palette) -> anyhow::Result<String> {
    let mut page = format!(
        "<figure class=\"space wide\"><figcaption><h4>Address space over time</h4><p>Time to the right, \
         addresses upwards from {:#x} to as far as any engine spread ({}), one scale for all; a pixel's \
         shade is the share of its addresses that is busy.</p></figcaption>{}<div class=\"panels\">",
        spaces.first,
        Bytes::from(spaces.longest_bytes),
        legend(["free", "busy"])
    );
    for panel in &spaces.panels {
        page.push_str(&one(spaces, panel, palette)?);
    }
    page.push_str("</div></figure>\n");
    Ok(page)
}

fn one(spaces: &Spaces, panel: &Panel, palette: &Palette) -> anyhow::Result<String> {
    let Some(uri) = image::data_uri(&panel.picture, &panel.columns)? else { return Ok(String::new()) };
    let names: Vec<String> = panel.engines.iter().map(|label| palette.name(label)).collect();
    let bytes = panel.picture.hull.map_or(0, |hull| hull.size_saturating());
    let height = 100.0 * bytes as f64 / spaces.longest_bytes.max(1) as f64;
    let mut page = format!(
        "<div class=\"panel\"><h5>{}</h5><p>{}</p><div class=\"frame\"><div class=\"picture\" \
         style=\"background:{}\"><img alt=\"busy addresses over time\" style=\"height:{height:.3}%\" src=\"{uri}\">\
         </div><div class=\"yticks\">",
        names.join(" "),
        html(&panel.text),
        css(0.0)
    );
    for (at, text) in byte_ticks(spaces.longest_bytes) {
        let _ = write!(page, "<span style=\"bottom:{:.3}%\">{text}</span>", at * 100.0);
    }
    page.push_str("</div><div class=\"xticks\">");
    for (at, text) in &spaces.ticks {
        let _ = write!(page, "<span style=\"left:{:.3}%\">{text}</span>", at * 100.0);
    }
    let _ = write!(page, "</div></div><p class=\"xtitle\">{}</p></div>", spaces.x_title);
    Ok(page)
}
