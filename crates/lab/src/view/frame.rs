//! Pictures in frames: address spaces that fill up over time, one for each way of filling it, all on one scale.
//!
//! ```text
//!   addresses   |      .xx.x.x  |  high end      time to the right; a pixel's shade is the share
//!               |   x.x.xx.xxx  |                of its addresses that is busy
//!               | .x.xxxxxxxxx  |  low end
//! ```

use super::definition::PictureView;
use super::escape::{figure, html};
use super::image::{css, legend, shades, uri};
use super::palette::Palette;
use crate::record::{Grid, Strip, Strips, Tick};

/// Shades, of 255, that a pixel's neighbour may differ by unseen.
const UNSEEN: u8 = 24;
/// A picture with marks along both sides.
fn frame(picture: &str, heights: &[Tick], ticks: &[Tick], x: &str) -> String {
    let marks = |side: &str, ticks: &[Tick]| -> String {
        let mark =
            |(at, text): &Tick| format!("<span style=\"{side}:{:.3}%\">{}</span>", at * 100.0, html(text));
        ticks.iter().map(mark).collect()
    };
    format!(
        "<div class=\"frame\"><div class=\"picture\"{picture}</div><div class=\"yticks\">{}</div><div class=\"xticks\">{}\
         </div></div><p class=\"xtitle\">{}</p>",
        marks("bottom", heights),
        marks("left", ticks),
        html(x)
    )
}

fn rows(grid: &Grid) -> usize {
    grid.busy.len().checked_div(grid.columns).unwrap_or(0)
}

/// Whether nothing can be seen to happen: each row has one shade from the first column to the last.
fn shows_nothing(Strip { picture, .. }: &Strip) -> bool {
    (0..rows(picture)).all(|row| {
        let shades = || picture.busy.iter().skip(row).step_by(rows(picture));
        shades().max().zip(shades().min()).is_none_or(|(most, least)| most - least <= UNSEEN)
    })
}

/// The pictures as HTML, a sentence if nothing can be seen in any. The words of the view are filled in.
pub(super) fn strips(view: &PictureView, strips: &Strips, palette: &Palette) -> anyhow::Result<String> {
    if strips.strips.iter().all(shows_nothing) {
        let told = |strip: &Strip| format!("{}: {}", strip.engines.join(", "), strip.text);
        let panels: Vec<String> = strips.strips.iter().map(told).collect();
        let said = format!("{} A picture would show no change. {}.", view.reading, panels.join("; "));
        return Ok(figure("class=\"said wide\"", &view.title, &said, ""));
    }
    let panels = strips.strips.iter().map(|strip| panel(view, strips, strip, palette));
    let panels = panels.collect::<anyhow::Result<String>>()?;
    let [lightest, darkest] = view.shades.each_ref().map(|shade| html(shade));
    let body = format!("{}<div class=\"panels\">{panels}</div>", legend(&lightest, &darkest));
    Ok(figure("class=\"space wide\"", &view.title, &view.reading, &body))
}

fn panel(view: &PictureView, strips: &Strips, strip: &Strip, palette: &Palette) -> anyhow::Result<String> {
    let (grid, shades) = (&strip.picture, shades());
    let Some(uri) = uri(&grid.busy, rows(grid), &strip.columns, &shades)? else { return Ok(String::new()) };
    let names: Vec<String> = strip.engines.iter().map(|label| palette.name(label)).collect();
    let picture = format!(
        " style=\"background:{}\"><img alt=\"{}\" style=\"height:{:.3}%\" src=\"{uri}\">",
        shades.first().copied().map_or_else(String::new, css),
        html(&view.title),
        100.0 * strip.height
    );
    let frame = frame(&picture, &strips.heights, &strips.ticks, &view.x);
    Ok(format!("<div class=\"panel\"><h5>{}</h5><p>{}</p>{frame}</div>", names.join(" "), html(&strip.text)))
}
