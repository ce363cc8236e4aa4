//! What the hint of Linux costs that a free leaves behind the truth: holes that are there, and stay empty.

use super::pictures;
use super::scale::Scale;
use crate::commands::bench_percpu::rows;
use crate::commands::reproduce::Part;
use crate::engine::percpu::EngineEntry;
use crate::measure::percpu::{StaleHintRun, Watched, stale_hint, watch_stale_hint};
use crate::output::{Table, count};
use crate::published::percpu::Subject;
use crate::published::{Figure, find, linux_6_12};
use crate::report::section::Figure as Shown;
use crate::report::{Key, Section};

/// What was measured.
pub(super) struct Holes {
    /// Pages on every engine.
    pub(super) runs: Vec<StaleHintRun>,
    /// The same, looked at.
    watched: Vec<Watched>,
}

/// Runs it.
pub(super) fn measure(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Holes, String> {
    tick("stale hints");
    let area_map = scale.compared.iter().filter(|entry| !entry.knows_pages);
    let engines: Vec<EngineEntry> = area_map.chain(&scale.hinted).copied().collect();
    let runs = stale_hint(&engines, &scale.whole, scale.stale_hint)?;
    let mut watched = Vec::new();
    for entry in &scale.hinted {
        tick(&format!("looking at {} with stale hints", entry.engine));
        watched.push(watch_stale_hint(entry, &scale.whole, scale.stale_hint)?);
    }
    Ok(Holes { runs, watched })
}

/// The part.
pub(super) fn part(scale: &Scale, holes: &Holes) -> Part {
    let phases = ["filled", "holes made", "refilled"];
    let section = Section {
        id: "stale-hint",
        title: "The stale hint".to_owned(),
        about: vec![
            "A chunk's hint is the longest free run that is known in it; chunks are looked at only if their hint \
             is enough. In Linux a free within a page other than a chunk's first does not raise the hint, until \
             all of a page is free: it compares an end within the page with a start within the chunk. Room \
             that comes back is not found again."
                .to_owned(),
            format!(
                "Here {} objects of 4 bytes fill units of {}; one in eight stays, and all of each chunk's first \
                 page. Then half as many are placed as were placed at first; the holes have room for all of them.",
                count(u64::from(scale.stale_hint.objects)),
                scale.unit()
            ),
        ],
        figures: vec![
            Shown::Strips(pictures::occupancy(
                &holes.watched,
                &phases,
                "In the third phase the holes fill, or chunks are added above. The first page of each chunk stays \
                 full throughout.",
            )),
            Shown::Strips(pictures::missed(
                &holes.watched,
                &phases,
                "Dark is a chunk that has room and does not know of it.",
            )),
            Shown::Plot(pictures::quality(&holes.watched)),
            Shown::Plot(pictures::pages(
                &holes.watched,
                "A line that rises at the end takes new memory for what would fit into the holes.",
            )),
        ],
        tables: vec![table(scale, holes), pictures::hint_table("stale-hint", &holes.watched)],
    };
    let mut rows = Vec::new();
    for run in &holes.runs {
        rows.extend(rows::stale_hint(run, scale.unit_bytes));
    }
    rows.extend(pictures::hint_rows("stale-hint", &holes.watched));
    Part { section, rows, keys: keys(holes), ..Part::default() }
}

/// How much more memory is taken in the end.
pub(super) fn more_percent(run: &StaleHintRun) -> f64 {
    100.0 * (run.after_pages as f64 / run.before_pages.max(1) as f64 - 1.0)
}

fn table(scale: &Scale, holes: &Holes) -> Table {
    let title = format!(
        "stale-hint, units of {}: pages of a unit; Linux 6.12 in units of 32 KiB: {}",
        scale.unit(),
        find(&linux_6_12::TABLE, Subject::StaleHint).map_or_else(String::new, Figure::ends_text)
    );
    let mut table = Table::new(title, &["engine", "with holes", "refilled", "more"]);
    for run in &holes.runs {
        table.row(vec![
            run.entry.engine.to_owned(),
            count(run.before_pages),
            count(run.after_pages),
            format!("{:.0} %", more_percent(run)),
        ]);
    }
    table
}

fn keys(holes: &Holes) -> Vec<Key> {
    let of = |engine: &str| holes.runs.iter().find(|run| run.entry.engine == engine).map(more_percent);
    let Some((linux, ours)) = of("bitmap-linux").zip(of("bitmap")) else { return Vec::new() };
    vec![Key {
        value: format!("{linux:.0} % : {ours:.0} %"),
        text: "more memory for objects that fit into holes, Linux 6.12's placement against ours".to_owned(),
    }]
}
