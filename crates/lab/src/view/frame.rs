//! Pictures in frames: what fills up over time, one for each way of filling it, all on one scale, an address space, one
//! with zones in it, or chunks; and a process's address space over time, what is mapped where, and as what.
//!
//! ```text
//!   addresses,  |      .xx.x.x  |  high end      time, or load, to the right; a pixel's
//!   or chunks   |   x.x.xx.xxx  |                shade is its share, busy or full, and in
//!               | .x.xxxxxxxxx  |  low end       a film its colour what is mapped
//! ```

use super::definition::PictureView;
use super::escape::{figure, html};
use super::image::{css, legend, shades, uri};
use super::palette::Palette;
use crate::engine::vma::Class;
use crate::record::{Band, Film, Grid, Strip, Strips, Tick, count};

/// Shades, of 255, that a pixel's neighbour may differ by unseen.
const UNSEEN: u8 = 24;
/// Colours of a film: of nothing, and of each class in its order.
const COLOURS: [[u8; 3]; 8] = [
    [247, 248, 250],
    [214, 218, 226],
    [118, 183, 215],
    [64, 160, 110],
    [232, 128, 46],
    [222, 190, 60],
    [176, 58, 96],
    [96, 76, 168],
];
/// Marks along x of a film.
const TICKS: usize = 5;
/// Names of addresses are this far apart, of the height.
const APART: f64 = 0.035;

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
    let band = |Band { name, bottom, height }: &Band| {
        let [bottom, height] = [bottom, height].map(|share| 100.0 * share);
        let name = html(name);
        format!(
            "<div class=\"band\" style=\"bottom:{bottom:.3}%;height:{height:.3}%\"><span>{name}</span></div>"
        )
    };
    let picture = format!(
        " style=\"background:{}\"><img alt=\"{}\" style=\"height:{:.3}%\" src=\"{uri}\">{}",
        shades.first().copied().map_or_else(String::new, css),
        html(&view.title),
        100.0 * strip.height,
        strips.bands.iter().map(band).collect::<String>()
    );
    let mut ticks = strips.ticks.clone();
    ticks.iter_mut().zip(&view.ticks).for_each(|(tick, name)| tick.1.clone_from(name));
    let frame = frame(&picture, &strips.heights, &ticks, &view.x);
    Ok(format!("<div class=\"panel\"><h5>{}</h5><p>{}</p>{frame}</div>", names.join(" "), html(&strip.text)))
}

/// The film as HTML; nothing if it shows nothing.
pub(super) fn film(film: &Film) -> anyhow::Result<String> {
    let seconds = &film.seconds;
    let columns: Vec<usize> = (0..film.cells.len().checked_div(film.rows).unwrap_or(0)).collect();
    let Some(uri) = uri(&film.cells, film.rows, &columns, &COLOURS)? else { return Ok(String::new()) };
    let mut heights: Vec<Tick> = Vec::new();
    for &(at, address) in &film.begins {
        if heights.last().is_none_or(|(above, _)| at - above >= APART) {
            heights.push((at, format!("{address:x}")));
        }
    }
    // As many decimals as tell one tick from the next.
    let length = seconds.last().zip(seconds.first()).map_or(0.0, |(last, first)| last - first);
    let step = if length > 0.0 { length / TICKS as f64 } else { 1.0 };
    let decimals = (1.0 - step.log10().floor()).clamp(1.0, 9.0) as usize;
    let tick = |tick| {
        let share = tick as f64 / TICKS as f64;
        let second = seconds.get((share * seconds.len().saturating_sub(1) as f64) as usize)?;
        Some((share, format!("{second:.decimals$} s")))
    };
    let ticks: Vec<Tick> = (0..=TICKS).filter_map(tick).collect();
    let picture = format!("><img alt=\"areas over time\" style=\"height:100%\" src=\"{uri}\">");
    let classes = Class::ALL.iter().zip(COLOURS.iter().skip(1));
    let class = |(class, colour): (&Class, &[u8; 3])| {
        format!("<span class=\"class\"><i style=\"background:{}\"></i>{}</span>", css(*colour), class.name())
    };
    let body = format!(
        "<p class=\"shades\">{}</p>{}",
        classes.map(class).collect::<String>(),
        frame(&picture, &heights, &ticks, "time of the call since the recording started")
    );
    let reading = format!(
        "The process's own calls to the right, addresses upwards, {} areas at most. A stretch's height is the logarithm of \
         its bytes, so that a page is seen beside a reservation of terabytes; what was never mapped is left out but for a \
         gap.",
        count(film.areas.iter().max().copied().unwrap_or(0))
    );
    let heading = format!("The busiest address space over time, number {}", film.space);
    Ok(figure("class=\"film wide\"", &heading, &reading, &body))
}
