//! `freehold` without a command: the main job. A recorded workload and a synthetic one on the allocator of the
//! talk, on the one it replaced, and on what the standard library offers, and how their work grows; a recorded
//! workload of per-CPU objects on the bitmap allocators and on the area map, and a short form of the table that the
//! posting of the per-CPU bitmap has; the address spaces of a recorded program on the range tree, and what nodes their
//! stores ask for.

use super::replay::{self, ROUNDS};
use super::reproduce::{maple_2025, percpu_2017};
use super::{Progress, default_mark};
use crate::engine::{Compared, find_engines};
use crate::failure::Failure;
use crate::measure::{GrowthPoint, growth};
use crate::output::{Document, Row, Table, count, fixed};
use crate::report::{Replayed, Section};
use std::path::{Path, PathBuf};

/// Timed rounds of the trace of per-CPU objects, whose area map takes its time.
const PERCPU_ROUNDS: usize = 3;

/// Everything the main job measured.
pub struct Outcome {
    /// What is printed.
    pub document: Document,
    /// The replays, for the report.
    pub replays: Vec<Replayed>,
    /// The growth of work, for the report.
    pub growth: Vec<GrowthPoint>,
    /// Other families, for the report. Their tables are in the document, too.
    pub sections: Vec<Section>,
}

/// The folder of bundled data: beside the sources it was built from, or `data` where the program is started.
///
/// # Errors
/// There is no such folder.
pub fn data_folder() -> anyhow::Result<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let found = [built, PathBuf::from("data")].into_iter().find(|folder| folder.is_dir());
    let lacking = || Failure::Lacking("the folder `data` of the repository is not here".to_owned());
    Ok(found.ok_or_else(lacking)?)
}

/// Runs the main job.
///
/// # Errors
/// The bundled data cannot be read, or an engine answers wrong.
pub fn run(progress: &mut Progress) -> anyhow::Result<Outcome> {
    let engines = find_engines(&[], Compared::Always)?;
    let traces = data_folder()?.join("traces");
    let mut document = Document::default();
    let mut replays = Vec::new();
    let trace = |name: &str| traces.join(name).display().to_string();
    for (name, rounds) in [
        (trace("bpfvm.kva.csv.zst"), ROUNDS),
        ("churn:100000".to_owned(), ROUNDS),
        (trace("netns.pcpu.csv.zst"), PERCPU_ROUNDS),
        (trace(maple_2025::BRIEF), ROUNDS),
    ] {
        replays.push(replay::one(&name, &[], rounds, &mut document, progress)?);
    }
    let mut growth = growth(&engines, &mut |what| progress.tick(what))?;
    describe_growth(&mut document, &mut growth);
    let mut sections = Vec::new();
    for (brief, section) in [percpu_2017::brief(progress)?, maple_2025::brief(progress)?] {
        document.tables.extend(brief.tables);
        document.rows.extend(brief.rows);
        sections.push(section);
    }
    document.notes.push(
        "Times are per operation, the clock's own cost taken off; ratios are to the first engine in the same \
         run; work is nodes visited, changed or rotated, and list steps, and of per-CPU objects chunks and blocks \
         looked at, words of bits scanned, entries of area maps looked at, and integers moved; of address spaces \
         areas looked at, stored and removed."
            .to_owned(),
    );
    Ok(Outcome { document, replays, growth, sections })
}

fn describe_growth(document: &mut Document, points: &mut [GrowthPoint]) {
    let mut sizes: Vec<u64> = points.iter().map(|point| point.n).collect();
    sizes.dedup();
    let mut header = vec!["engine".to_owned()];
    header.extend(sizes.iter().map(|&n| format!("{} live", count(n))));
    let title = "Work of an allocation as live objects grow (churn; mean / max)".to_owned();
    let mut table = Table { title, header, rows: Vec::new(), name_columns: 1 };
    let mut labels: Vec<String> = Vec::new();
    for point in points.iter() {
        if !labels.contains(&point.entry.label()) {
            labels.push(point.entry.label());
        }
    }
    for label in labels {
        let mut row = vec![label.clone()];
        for &n in &sizes {
            let point = points.iter_mut().find(|point| point.n == n && point.entry.label() == label);
            row.push(point.map_or_else(
                || "not run".to_owned(),
                |point| {
                    let max = point.alloc_work.percentile(1000);
                    format!("{} / {}", fixed(point.alloc_work.mean()), count(max))
                },
            ));
        }
        table.row(row);
    }
    document.tables.push(table);
    for point in points {
        document.rows.push(Row {
            suite: "kva",
            workload: Some("churn".to_owned()),
            engine: Some(point.entry.engine),
            placement: point.entry.placement,
            default: default_mark(&point.entry),
            n: Some(point.n),
            op: Some("alloc"),
            count: Some(point.alloc_work.len() as u64),
            work_mean: Some(point.alloc_work.mean()),
            work_p99: Some(point.alloc_work.percentile(990)),
            work_p999: Some(point.alloc_work.percentile(999)),
            work_max: Some(point.alloc_work.percentile(1000)),
            note: Some("growth".to_owned()),
            ..Row::default()
        });
    }
}
