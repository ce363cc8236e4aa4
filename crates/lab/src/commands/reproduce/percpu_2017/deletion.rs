//! Chunks that are not quite empty: most of the objects are deleted, and what memory comes back.

use super::pictures;
use super::scale::Scale;
use crate::commands::bench_percpu::rows;
use crate::commands::reproduce::{Part, times};
use crate::measure::percpu::{DeletionRun, Watched, deletion, watch_deletion};
use crate::output::{Table, count};
use crate::published::percpu::Subject;
use crate::published::{depopulation_2021, find};
use crate::report::section::Figure;
use crate::report::{Key, Section};

/// What was measured.
pub(super) struct Deletions {
    /// Pages on every engine.
    pub(super) runs: Vec<DeletionRun>,
    /// The same, looked at.
    watched: Vec<Watched>,
}

/// Runs it.
pub(super) fn measure(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Deletions, String> {
    tick("deletion");
    let runs = deletion(&scale.hinted, &scale.on_demand, scale.deletion)?;
    let mut watched = Vec::new();
    for entry in &scale.hinted {
        tick(&format!("looking at {} in deletion", entry.engine));
        watched.push(watch_deletion(entry, &scale.on_demand, scale.deletion)?);
    }
    Ok(Deletions { runs, watched })
}

/// The part.
pub(super) fn part(scale: &Scale, deletions: &Deletions) -> Part {
    let phases = ["groups made", "10 of 11 deleted"];
    let section = Section {
        id: "deletion",
        title: "Most objects deleted".to_owned(),
        about: vec![
            format!(
                "The letters of 2021 make 11000 memory controllers and remove 10 of every 11; what is left lies in \
                 every chunk, so that none is ever empty. Since then chunks with many empty pages are set aside, \
                 and these pages given back. Here {} groups of objects of about a controller's sizes, in units of \
                 {}; the area map knows no pages and is left out.",
                count(u64::from(scale.deletion.groups)),
                scale.unit()
            ),
            "The posting's form has none of that, and never gives back what is not a whole chunk.".to_owned(),
        ],
        figures: vec![
            Figure::Strips(pictures::populated(
                &deletions.watched,
                &phases,
                "What stays is a thin rest of objects in every chunk; what is dark has memory for all of it.",
            )),
            Figure::Plot(pictures::pages(
                &deletions.watched,
                "The work that frees leave is done at once. Where the line stays up nothing is given back.",
            )),
            Figure::Plot(pictures::quality(&deletions.watched)),
        ],
        tables: vec![table(scale, deletions)],
    };
    let mut rows = Vec::new();
    for run in &deletions.runs {
        let mut measured = rows::deletion(run, scale.unit_bytes);
        for row in measured.iter_mut().filter(|row| row.op == Some("balance")) {
            row.ratio = Some(run.kept_pages as f64 / run.balanced_pages.max(1) as f64);
            if run.entry.engine.starts_with("bitmap-linux") {
                row.published = find(&depopulation_2021::TABLE, Subject::DeletionBalanced)
                    .and_then(|figure| figure.ratio());
                row.published_unit = row.published.map(|_| "before / after");
            }
            row.note = Some("ratio: pages if nothing is given back, over those that stay".to_owned());
        }
        rows.extend(measured);
    }
    rows.extend(pictures::hint_rows("deletion", &deletions.watched));
    Part { section, rows, keys: keys(deletions), ..Part::default() }
}

/// How many times less memory is left than if nothing is given back.
pub(super) fn less(run: &DeletionRun) -> String {
    times(run.kept_pages as f64, run.balanced_pages as f64)
}

fn published_text() -> String {
    let figure = find(&depopulation_2021::TABLE, Subject::DeletionBalanced);
    figure.map_or_else(String::new, |figure| figure.ratio_text())
}

fn table(scale: &Scale, deletions: &Deletions) -> Table {
    let title =
        format!("deletion, units of {}: pages of a unit; published: {} less", scale.unit(), published_text());
    let header = ["engine", "all groups", "one in 11, nothing given back", "balanced", "times less"];
    let mut table = Table::new(title, &header);
    for run in &deletions.runs {
        table.row(vec![
            run.entry.engine.to_owned(),
            count(run.full_pages),
            count(run.kept_pages),
            count(run.balanced_pages),
            less(run),
        ]);
    }
    table
}

fn keys(deletions: &Deletions) -> Vec<Key> {
    let of = |engine: &str| deletions.runs.iter().find(|run| run.entry.engine == engine).map(less);
    let Some((linux, ours)) = of("bitmap-linux").zip(of("bitmap")) else { return Vec::new() };
    vec![Key {
        value: format!("{linux} : {ours}"),
        text: format!(
            "less memory after most objects are deleted, Linux 6.12's placement against ours; published {}",
            published_text()
        ),
    }]
}
