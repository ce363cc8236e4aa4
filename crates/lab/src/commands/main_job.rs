//! `freehold` without a command: the main job. A recorded workload and a synthetic one on the allocator of the
//! talk, on the one it replaced, and on what the standard library offers, and how their work grows; a recorded
//! workload of per-CPU objects on the bitmap allocators and on the area map, and a short form of the table that the
//! posting of the per-CPU bitmap has; the address spaces of a recorded program on the range tree, and what nodes their
//! stores ask for.

use super::replay::{self, ROUNDS};
use crate::engine::{Compared, find_engines};
use crate::family::Entry;
use crate::record::{Metric, Results};
use crate::run::growth;
use crate::study::{maple_2025, percpu_2017};
use crate::{Progress, data_folder};

/// Timed rounds of the trace of per-CPU objects, whose area map takes its time.
const PERCPU_ROUNDS: usize = 3;

/// Runs the main job.
///
/// # Errors
/// The bundled data cannot be read, or an engine answers wrong.
pub fn run(progress: &mut Progress) -> anyhow::Result<Results> {
    let engines = find_engines(&[], Compared::Always)?;
    let traces = data_folder()?.join("traces");
    let trace = |name: &str| traces.join(name).display().to_string();
    let mut results = Results::default();
    for (name, rounds) in [
        (trace("bpfvm.kva.csv.zst"), ROUNDS),
        ("churn:100000".to_owned(), ROUNDS),
        (trace("netns.pcpu.csv.zst"), PERCPU_ROUNDS),
        (trace(maple_2025::BRIEF), ROUNDS),
    ] {
        replay::one(&name, &[], rounds, &mut results, progress)?;
    }
    for mut point in growth(&engines, &mut |what| progress.tick(what))? {
        let key = point.entry.key("growth of churn").op("alloc").param("n", point.n);
        results.of(key).counts(Metric::Work, &mut point.alloc_work);
    }
    percpu_2017::brief(&mut results, progress)?;
    maple_2025::brief(&mut results, progress)?;
    Ok(results)
}
