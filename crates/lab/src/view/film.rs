//! A process's address space over time: what is mapped where, and as what.

use super::count;
use super::escape::html;
use super::image;
use crate::engine::vma::Class;
use crate::record::Film;
use std::fmt::Write;

/// Colours of nothing, and of each class in its order.
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
/// Marks along x.
const TICKS: usize = 5;
/// Names of addresses are this far apart, of the height.
const APART: f64 = 0.035;

/// The film as HTML; nothing if it shows nothing.
pub(super) fn render(film: &Film) -> anyhow::Result<String> {
    let Film { heading, film, seconds } = film;
    let Some(uri) = image::cells_uri(&film.cells, film.rows, &COLOURS)? else { return Ok(String::new()) };
    let most = film.areas.iter().max().copied().unwrap_or(0);
    let mut page = format!(
        "<figure class=\"film wide\"><figcaption><h4>{}</h4><p>The process's own calls to the right, addresses \
         upwards, {} areas at most. A stretch's height is the logarithm of its bytes, so that a page is seen \
         beside a reservation of terabytes; what was never mapped is left out but for a gap.</p></figcaption>{}\
         <div class=\"frame\"><div class=\"picture\"><img alt=\"areas over time\" style=\"height:100%\" \
         src=\"{uri}\"></div><div class=\"yticks\">",
        html(heading),
        count(most),
        legend()
    );
    let mut above = -1.0;
    for &(at, address) in &film.begins {
        if at - above >= APART {
            let _ = write!(page, "<span style=\"bottom:{:.3}%\">{address:x}</span>", at * 100.0);
            above = at;
        }
    }
    page.push_str("</div><div class=\"xticks\">");
    // As many decimals as tell one tick from the next.
    let length = seconds.last().zip(seconds.first()).map_or(0.0, |(last, first)| last - first);
    let step = if length > 0.0 { length / TICKS as f64 } else { 1.0 };
    let decimals = (1.0 - step.log10().floor()).clamp(1.0, 9.0) as usize;
    for tick in 0..=TICKS {
        let share = tick as f64 / TICKS as f64;
        let at = (share * seconds.len().saturating_sub(1) as f64) as usize;
        if let Some(second) = seconds.get(at) {
            let _ = write!(page, "<span style=\"left:{:.3}%\">{second:.decimals$} s</span>", share * 100.0);
        }
    }
    page.push_str(
        "</div></div><p class=\"xtitle\">time of the call since the recording started</p></figure>\n",
    );
    Ok(page)
}

fn legend() -> String {
    let mut page = String::from("<p class=\"shades\">");
    for ((_, name), [red, green, blue]) in Class::ALL.iter().zip(COLOURS.iter().skip(1)) {
        let _ = write!(
            page,
            "<span class=\"class\"><i style=\"background:#{red:02x}{green:02x}{blue:02x}\"></i>{name}</span>"
        );
    }
    page.push_str("</p>");
    page
}
