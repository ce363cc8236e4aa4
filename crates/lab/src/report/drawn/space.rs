//! The address space over time: a picture for each engine, all on one scale, and one for engines that placed
//! everything alike.

use crate::measure::{EngineRun, Picture, Replay};
use crate::output::count;
use crate::report::axis::{Time, byte_ticks};
use crate::report::escape::html;
use crate::report::image;
use crate::report::palette::Palette;
use freehold::units::Bytes;
use freehold_trace::kva::Answer;
use std::fmt::Write;

/// Pixels across a picture.
const PIXELS: usize = 400;

/// The pictures of a workload; nothing if no engine has one.
pub(super) fn render(replay: &Replay, palette: &Palette) -> anyhow::Result<String> {
    let time = Time::of(&replay.workload);
    let longest = replay.runs.iter().map(|run| bytes_of(&run.counted.seen.picture)).max().unwrap_or(0);
    if longest == 0 {
        return Ok(String::new());
    }
    let mut panels = String::new();
    for alike in groups(&replay.runs) {
        panels.push_str(&panel(replay, &alike, &time, longest, palette)?);
    }
    let first =
        replay.runs.iter().find_map(|run| run.counted.seen.picture.hull).map_or(0, |hull| hull.first());
    Ok(format!(
        "<figure class=\"space wide\"><figcaption><h4>Address space over time</h4><p>Time to the right, \
         addresses upwards from {first:#x} to as far as any engine spread ({}), one scale for all; a pixel's \
         shade is the share of its addresses that is busy.</p></figcaption>{}<div class=\"panels\">{panels}\
         </div></figure>\n",
        Bytes::from(longest),
        legend()
    ))
}

fn bytes_of(picture: &Picture) -> u64 {
    picture.hull.map_or(0, |hull| hull.size_saturating())
}

/// Engines whose pictures are the same, in the order of the first of them.
fn groups(runs: &[EngineRun]) -> Vec<Vec<&EngineRun>> {
    let mut groups: Vec<Vec<&EngineRun>> = Vec::new();
    for run in runs.iter().filter(|run| run.counted.seen.picture.hull.is_some()) {
        let alike = |group: &&mut Vec<&EngineRun>| {
            let first = group.first().map(|first| &first.counted);
            first.is_some_and(|first| {
                let (a, b) = (&first.seen.picture, &run.counted.seen.picture);
                first.answers == run.counted.answers && a.hull == b.hull && a.busy == b.busy
            })
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

fn panel(
    replay: &Replay,
    alike: &[&EngineRun],
    time: &Time<'_>,
    longest: u64,
    palette: &Palette,
) -> anyhow::Result<String> {
    let Some(run) = alike.first() else { return Ok(String::new()) };
    let picture = &run.counted.seen.picture;
    let ops = replay.workload.ops.len().max(1);
    let columns: Vec<usize> = (0..PIXELS)
        .map(|at| time.operation_at((at as f64 + 0.5) / PIXELS as f64) * picture.columns / ops)
        .map(|column| column.min(picture.columns.saturating_sub(1)))
        .collect();
    let Some(uri) = image::data_uri(picture, &columns)? else { return Ok(String::new()) };
    let names: Vec<String> = alike.iter().map(|run| palette.name(&run.entry.label())).collect();
    let mut page = format!(
        "<div class=\"panel\"><h5>{}</h5><p>{}</p><div class=\"frame\"><div class=\"picture\" \
         style=\"background:{}\">",
        names.join(" "),
        placed(replay, alike),
        css(0.0)
    );
    let height = 100.0 * bytes_of(picture) as f64 / longest as f64;
    let _ = write!(
        page,
        "<img alt=\"busy addresses over time\" style=\"height:{height:.3}%\" src=\"{uri}\"></div>\
         <div class=\"yticks\">"
    );
    for (at, text) in byte_ticks(longest) {
        let _ = write!(page, "<span style=\"bottom:{:.3}%\">{text}</span>", at * 100.0);
    }
    page.push_str("</div><div class=\"xticks\">");
    for (at, text) in time.ticks() {
        let _ = write!(page, "<span style=\"left:{:.3}%\">{text}</span>", at * 100.0);
    }
    let _ = write!(page, "</div></div><p class=\"xtitle\">{}</p></div>", time.title());
    Ok(page)
}

/// How the placements of these engines relate to the first engine's.
fn placed(replay: &Replay, alike: &[&EngineRun]) -> String {
    let (Some(reference), Some(run)) = (replay.runs.first(), alike.first()) else { return String::new() };
    let answers = || reference.counted.answers.iter().zip(&run.counted.answers);
    let placed = |answer: &Answer| matches!(answer, Answer::At(_));
    let elsewhere = answers().filter(|(a, b)| a != b && (placed(a) || placed(b))).count();
    let allocations = count(run.counted.work_of(0).len() as u64);
    let others = if alike.len() > 1 { ", all alike" } else { "" };
    if std::ptr::eq(reference, *run) {
        return format!("{allocations} allocations{others}");
    }
    let first = html(&reference.entry.label());
    match elsewhere {
        0 => format!("{allocations} allocations, all where {first} put them{others}"),
        _ => {
            format!("{} of {allocations} allocations elsewhere than {first}{others}", count(elsewhere as u64))
        }
    }
}

/// What the shades mean.
pub(in crate::report) fn legend() -> String {
    let stops: Vec<String> = (0..=8).map(|at| css(f64::from(at) / 8.0)).collect();
    format!(
        "<p class=\"shades\">free <i style=\"background:linear-gradient(90deg,{})\"></i> busy</p>",
        stops.join(",")
    )
}

/// The shade of a busy share of 0 to 1.
pub(in crate::report) fn css(share: f64) -> String {
    let [red, green, blue] = image::colour(share);
    format!("#{red:02x}{green:02x}{blue:02x}")
}
