//! What was seen of runs as pictures: how full each chunk is, how far its hint is from the truth, and lines of both.

use crate::measure::Picture;
use crate::measure::percpu::{ChunkSeen, Look, Watched};
use crate::output::{Row, Table, count, fixed};
use crate::report::colour;
use crate::report::plot::{Axis, Line, Plot, Unit};
use crate::report::strip::{Strip, Strips};

/// What each phase is called.
pub(super) type Phases<'a> = &'a [&'a str];

/// How the pictures lie.
const UPWARDS: &str = "A row is a chunk, the first one at the bottom; time goes to the right.";

/// Chunks upwards, time to the right, a shade for each.
fn strips(
    watched: &[Watched],
    phases: Phases<'_>,
    shades: [&'static str; 2],
    shade: impl Fn(&Watched, &ChunkSeen) -> f64,
    text: impl Fn(&Watched) -> String,
) -> Strips {
    let numbers = watched.iter().flat_map(|watched| &watched.looks).flat_map(|look| &look.chunks);
    let chunks = numbers.map(|chunk| chunk.number as usize + 1).max().unwrap_or(0);
    let strip = |watched: &Watched| {
        let mut picture = Picture::default();
        picture.columns = watched.looks.len();
        picture.busy = vec![0; picture.columns * chunks];
        for (look, column) in watched.looks.iter().zip(picture.busy.chunks_mut(chunks.max(1))) {
            for chunk in &look.chunks {
                if let Some(cell) = column.get_mut(chunk.number as usize) {
                    *cell = (shade(watched, chunk) * 255.0).round().clamp(0.0, 255.0) as u8;
                }
            }
        }
        Strip { engine: watched.entry.engine.to_owned(), text: text(watched), picture }
    };
    let ends = watched.first().map(|watched| (watched.phases.as_slice(), watched.looks.len()));
    let (ends, looks) = ends.unwrap_or_default();
    let ticks = ends.iter().zip(phases).map(|(&end, phase)| {
        // Beneath the middle of its phase.
        let before = ends.iter().copied().take_while(|&other| other < end).last().unwrap_or(0);
        ((before + end) as f64 / 2.0 / looks.max(1) as f64, (*phase).to_owned())
    });
    let every = (chunks / 5).max(1).next_power_of_two();
    let heights = (0..=chunks / every).map(|at| at * every);
    Strips {
        heading: String::new(),
        reading: String::new(),
        shades,
        heights: heights.map(|at| (at as f64 / chunks.max(1) as f64, count(at as u64))).collect(),
        bands: Vec::new(),
        x_title: "operations".to_owned(),
        ticks: ticks.collect(),
        strips: watched.iter().map(strip).collect(),
    }
}

/// How full each chunk is.
pub(super) fn occupancy(watched: &[Watched], phases: Phases<'_>, reading: &str) -> Strips {
    let full = |watched: &Watched, chunk: &ChunkSeen| {
        f64::from(chunk.used_bytes) / f64::from(watched.unit_bytes.max(1))
    };
    let text = |watched: &Watched| {
        let last = watched.looks.last();
        format!("{} chunks at the end", count(last.map_or(0, |look| look.chunks.len() as u64)))
    };
    Strips {
        heading: "Chunks as they fill".to_owned(),
        reading: format!("{UPWARDS} {reading}"),
        ..strips(watched, phases, ["none, or empty", "full"], full, text)
    }
}

/// How many of each chunk's pages have memory.
pub(super) fn populated(watched: &[Watched], phases: Phases<'_>, reading: &str) -> Strips {
    let populated = |watched: &Watched, chunk: &ChunkSeen| {
        let pages = (watched.unit_bytes / freehold::percpu::PAGE_BYTES).max(1);
        f64::from(chunk.pages) / f64::from(pages)
    };
    let text = |watched: &Watched| {
        let last = watched.looks.last();
        format!("{} pages at the end", count(last.map_or(0, |look| look.pages)))
    };
    Strips {
        heading: "Chunks and their memory".to_owned(),
        reading: format!("{UPWARDS} {reading}"),
        ..strips(watched, phases, ["none", "all pages"], populated, text)
    }
}

/// How much each chunk's hint is short of its longest free run, or beyond it.
pub(super) fn missed(watched: &[Watched], phases: Phases<'_>, reading: &str) -> Strips {
    let missed = |_: &Watched, chunk: &ChunkSeen| 1.0 - chunk.known().unwrap_or(1.0);
    let text = |watched: &Watched| {
        let known = Quality::of(watched);
        format!("{} % of the hints exact", fixed(100.0 * known.exact))
    };
    Strips {
        heading: "What hints miss".to_owned(),
        reading: format!("{UPWARDS} {reading}"),
        ..strips(watched, phases, ["exact, or full", "all missed"], missed, text)
    }
}

/// A line for each engine over the run.
fn plot(
    watched: &[Watched],
    [heading, reading]: [&str; 2],
    y: Axis,
    figure: impl Fn(&Look) -> Option<f64>,
) -> Plot {
    let looks = watched.first().map(|watched| watched.looks.as_slice()).unwrap_or_default();
    let line = |watched: &Watched| {
        let mut values: Vec<Option<f64>> = watched.looks.iter().map(&figure).collect();
        values.resize(looks.len(), None);
        Line {
            name: watched.entry.engine.to_owned(),
            colour: colour(watched.entry.engine),
            values: vec![values],
        }
    };
    Plot {
        lines: watched.iter().map(line).collect(),
        at: looks.iter().map(|look| look.ops as f64).collect(),
        ..Plot::new(heading, reading, [Axis::linear("operations", Unit::Operations), y])
    }
}

/// The mean of what hints say of the truth.
pub(super) fn quality(watched: &[Watched]) -> Plot {
    let texts = [
        "Hints beside the truth",
        "How far a chunk's hint and its longest free run agree, the mean over the chunks that have room. At 100 % they are \
         the same. A kernel's hint may be short of it: at 0 % the room is there, and no request finds it. The default \
         engine's is a bound from above: what it has too much costs a search in vain.",
    ];
    let y = Axis::linear("hint, of the longest free run", Unit::Percent).between(0.0, 105.0);
    plot(watched, texts, y, |look| look.mean_known().map(|known| 100.0 * known))
}

/// Pages that have memory.
pub(super) fn pages(watched: &[Watched], reading: &str) -> Plot {
    let y = Axis::linear("pages of a unit", Unit::Count);
    plot(watched, ["Pages over the run", reading], y, |look| Some(look.pages as f64))
}

/// Hints of all chunks with room, at all looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Quality {
    hints: u64,
    /// From 0 to 1.
    exact: f64,
    mean: f64,
    /// The most that a hint was short of the truth, or a bound beyond it, in bytes.
    worst_bytes: u32,
}

impl Quality {
    fn of(watched: &Watched) -> Self {
        let mut quality = Self::default();
        for chunk in watched.looks.iter().flat_map(|look| &look.chunks) {
            let Some(known) = chunk.known() else { continue };
            quality.hints += 1;
            quality.exact += if chunk.hint_bytes == chunk.longest_bytes { 1.0 } else { 0.0 };
            quality.mean += known;
            quality.worst_bytes = quality.worst_bytes.max(chunk.longest_bytes.abs_diff(chunk.hint_bytes));
        }
        let hints = quality.hints.max(1) as f64;
        Self { exact: quality.exact / hints, mean: quality.mean / hints, ..quality }
    }
}

/// Hints beside the truth in figures.
pub(super) fn hint_table(workload: &str, watched: &[Watched]) -> Table {
    let title = format!("{workload}: hints of chunks that have room, over the whole run");
    let mut table = Table::new(title, &["engine", "hints", "exact", "of the truth, mean", "short by, most"]);
    for watched in watched {
        let quality = Quality::of(watched);
        table.row(vec![
            watched.entry.engine.to_owned(),
            count(quality.hints),
            format!("{:.1} %", 100.0 * quality.exact),
            format!("{:.1} %", 100.0 * quality.mean),
            format!("{} B", count(u64::from(quality.worst_bytes))),
        ]);
    }
    table
}

/// The same as rows.
pub(super) fn hint_rows(workload: &str, watched: &[Watched]) -> Vec<Row> {
    let row = |watched: &Watched| {
        let quality = Quality::of(watched);
        Row {
            op: Some("hint"),
            count: Some(quality.hints),
            mismatches: Some(((1.0 - quality.exact) * quality.hints as f64).round() as u64),
            largest_free_ratio: Some(quality.mean),
            note: Some(format!(
                "hints of chunks with room: mismatches are those that are not exact, largest_free_ratio the \
                 mean of hint over longest free run; at most {} bytes short",
                quality.worst_bytes
            )),
            ..crate::commands::bench_percpu::rows::row(workload, &watched.entry, watched.unit_bytes)
        }
    };
    watched.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, Percpu};

    fn watched() -> Watched {
        let seen = |number, used_bytes, longest_bytes, hint_bytes| ChunkSeen {
            number,
            used_bytes,
            longest_bytes,
            hint_bytes,
            pages: 4,
        };
        let looks = vec![
            Look { ops: 10, pages: 8, chunks: vec![seen(0, 32_768, 0, 0)] },
            Look { ops: 20, pages: 16, chunks: vec![seen(0, 16_384, 100, 25), seen(1, 0, 32_768, 32_768)] },
        ];
        let entry = Percpu::engines(&[]).unwrap()[0];
        Watched { entry, unit_bytes: 32_768, looks, phases: vec![1, 2] }
    }

    #[test]
    fn chunks_are_shaded_by_what_was_seen() {
        let watched = [watched()];
        let shades = |strips: Strips| strips.strips[0].picture.busy.clone();
        let full = occupancy(&watched, &["filled", "freed"], "");
        assert_eq!(full.ticks, [(0.25, "filled".to_owned()), (0.75, "freed".to_owned())]);
        assert_eq!(shades(full), [255, 0, 128, 0]);
        assert_eq!(shades(populated(&watched, &[], "")), [128, 0, 128, 128], "four of eight pages");
        let missed = missed(&watched, &[], "");
        assert_eq!(missed.strips[0].text, "50.0 % of the hints exact");
        assert_eq!(shades(missed), [0, 0, 191, 0], "three quarters of it are not known");
    }

    #[test]
    fn hints_without_room_do_not_count() {
        let quality = Quality::of(&watched());
        assert_eq!(quality, Quality { hints: 2, exact: 0.5, mean: 0.625, worst_bytes: 75 });
        assert_eq!(watched().looks.iter().map(Look::mean_known).collect::<Vec<_>>(), [None, Some(0.625)]);
    }
}
