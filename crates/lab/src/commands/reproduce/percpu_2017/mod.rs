//! `freehold reproduce percpu-2017`: the posting that replaced the area map allocator of per-CPU memory by bitmaps.
//!
//! | Part | What was published |
//! |---|---|
//! | `seed` | its table: a million objects placed and freed, the worst of three orders |
//! | `second_half` | the second version's other table: chunks whose second halves are full |
//! | `aligned` | its worst case: 52 minutes, 14 seconds |
//! | `footprint` | its claim of a consistent memory footprint |
//! | `churn` | nothing; what mixed sizes cost in time and memory |
//! | `stale_hint` | nothing; what a chunk's hint that is behind the truth costs in memory |
//! | `deletion` | the letters of 2021 on chunks that are not quite empty |
//! | `later` | all that was published, then and since |
//!
//! Source: the posting, July 2017, its second version, and the letters that followed.

mod aligned;
mod churn;
mod deletion;
mod fills;
mod footprint;
mod later;
mod pictures;
mod scale;
mod second_half;
mod seed;
mod stale_hint;

use super::{Options, Outcome, Part, together};
use crate::commands::Progress;
use crate::commands::bench_percpu::rows;
use crate::output::{Document, Row};
use crate::report::{Described, Section, Study};
use fills::Fills;
use scale::Scale;

/// How it was measured.
const METHOD: [&str; 6] = [
    "Checked first. Before anything was timed each engine ran the workload once: every object had to be \
     aligned, within its unit and apart from all others, all of them had to be freed again, and the engine's \
     invariants to hold. Runs that are looked at are checked operation by operation.",
    "Timed in turn. Engines ran one after the other, then in reverse order, and so on; each figure is the \
     median of its rounds. An allocation is timed before each order of freeing, so that it has the most rounds. \
     Chunks stay from round to round: neither their making nor the first touch of their maps is timed.",
    "The allocator of offsets alone. The posting timed whole calls: locks, pages and the zeroing of all units \
     are in its figures and not in ours. Allocations of 1024 bytes, of which pages are most, do not compare.",
    "Nanoseconds for one object are milliseconds for a million. Fewer objects were placed than the posting's, \
     unless --full was given; apart from the aligned case, which grows with the square, times go with their number.",
    "The area map's times are in proportion to the unit, whose size the posting does not tell. At 256 KiB its \
     free times have the posting's shape.",
    "bitmap-2017 is the form that was posted, as far as it was described. No kernel of that age recorded its \
     answers: it is unverified. The other placements of Linux are held against recorded answers, offset for offset.",
];

/// Reproduces the posting.
///
/// # Errors
/// The unit is none, or an engine answers wrong.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Outcome> {
    let scale = Scale::of(options)?;
    let mut tick = |what: &str| progress.tick(what);
    let study = Study {
        title: "The percpu bitmap allocator of 2017, tried again".to_owned(),
        lead: format!(
            "In 2017 Dennis Zhou replaced the allocator of per-CPU memory in Linux: instead of an array of \
             areas, in which every free near its start moves all that follows, a bit for every 4 bytes and hints \
             for every page. Here is his test on the area map, on the bitmap as posted, as it is in Linux \
             6.12, and on ours, in one run, in units of {}; then what he left open and what was found since.",
            scale.unit()
        ),
        engines: scale.shown().map(|entry| Described::of(&entry)).collect(),
        method: METHOD.to_vec(),
        ..Study::default()
    };
    let parts = parts(&scale, &mut tick).map_err(anyhow::Error::msg)?;
    Ok(together(study, parts))
}

fn parts(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Vec<Part>, String> {
    let seed = Fills::of_seed(scale, tick)?;
    let second_half = Fills::of_second_half(scale, tick)?;
    let aligned = aligned::measure(scale, tick)?;
    let churns = churn::measure(scale, tick)?;
    let stale_hint = stale_hint::measure(scale, tick)?;
    let deletion = deletion::measure(scale, tick)?;
    let later = later::part(&later::Measured {
        seed: &seed,
        second_half: &second_half,
        aligned: &aligned,
        churns: &churns,
        stale_hint: &stale_hint.runs,
        deletion: &deletion.runs,
    });
    Ok(vec![
        seed::part(&seed),
        second_half::part(&second_half),
        aligned::part(scale, &aligned),
        footprint::part(&seed),
        churn::part(scale, &churns),
        stale_hint::part(scale, &stale_hint),
        deletion::part(scale, &deletion),
        later,
    ])
}

/// The posting's table at a size that the main job has time for, and what there is to look at of it.
///
/// # Errors
/// An engine answers wrong.
pub fn brief(progress: &mut Progress) -> anyhow::Result<(Document, Section)> {
    let scale = Scale::brief()?;
    let seed = Fills::of_seed(&scale, &mut |what| progress.tick(what)).map_err(anyhow::Error::msg)?;
    let Part { section, rows, .. } = seed::brief(&seed);
    let document = Document { tables: section.tables.clone(), rows, ..Document::default() };
    Ok((document, section))
}

/// A row of an engine.
fn row(scale: &Scale, workload: &str, engine: &crate::engine::percpu::EngineEntry) -> Row {
    rows::row(workload, engine, scale.unit_bytes)
}
