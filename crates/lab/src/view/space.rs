//! The address space over time: a picture for each engine, all on one scale, and one for engines that placed
//! everything alike.

use super::escape::html;
use super::image::{self, css, legend};
use super::palette::Palette;
use crate::record::{Grid, Panel, Spaces, byte_ticks};
use freehold::units::Bytes;
use std::fmt::Write;

/// Shades, of 255, that a pixel's neighbour may differ by unseen.
const UNSEEN: u8 = 24;

/// Whether nothing can be seen to happen: each row has one shade from the first column to the last.
fn shows_nothing(panel: &Panel) -> bool {
    let Grid { busy, columns, .. } = &panel.picture;
    let rows = busy.len().checked_div(*columns).unwrap_or(0);
    (0..rows).all(|row| {
        let shades = || busy.iter().skip(row).step_by(rows);
        shades().max().zip(shades().min()).is_none_or(|(most, least)| most - least <= UNSEEN)
    })
}

/// The pictures as HTML, a sentence if nothing can be seen in any.
pub(super) fn render(spaces: &Spaces, palette: &Palette) -> anyhow::Result<String> {
    if spaces.panels.iter().all(shows_nothing) {
        let told = |panel: &Panel| format!("{}: {}", panel.engines.join(", "), panel.text);
        let panels: Vec<String> = spaces.panels.iter().map(told).collect();
        return Ok(format!(
            "<figure class=\"said wide\"><figcaption><h4>Address space over time</h4><p>{} from {:#x} on, where a picture \
             would show no change. {}.</p></figcaption></figure>\n",
            Bytes::from(spaces.longest_bytes),
            spaces.first,
            html(&panels.join("; "))
        ));
    }
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
