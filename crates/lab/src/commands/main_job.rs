//! `freehold` without a command: the main job. A recorded workload and a synthetic one on the allocator of the
//! talk, on the one it replaced, and on what the standard library offers, and how their work grows; two cases beside crates; a recorded
//! workload of per-CPU objects on the bitmap allocators and on the area map, and a short form of the table that the
//! posting of the per-CPU bitmap has; the address spaces of a recorded program on the range tree, and what nodes their
//! stores ask for.

use super::bench;
use super::replay::{self, ROUNDS};
use crate::engine::EngineEntry;
use crate::family::{Family, Kva};
use crate::kind::Subject;
use crate::predict::{Settings, Way, add_predicted};
use crate::record::{Field, Load, Metric, Results, count};
use crate::run::{Options, measure};
use crate::study::{maple_2025, percpu_2017};
use crate::workload::churn;
use crate::{Progress, data_folder};

/// Timed rounds of the trace of per-CPU objects, whose area map takes its time.
const PERCPU_ROUNDS: usize = 3;

/// What records call the growth of an allocation's work.
const GROWTH: &str = "growth of churn";
/// Why a linear engine is left out.
const TOO_LONG: &str = "its work is in proportion to the objects, and it would take too long";
/// Live objects at which it is counted how an allocation's work grows, and where a linear engine is still worth waiting for.
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
const LINEAR_LIMIT: u64 = 100_000;
/// Pairs of a free and an allocation at each size.
const PAIRS: u64 = 500;

/// What allocators of ranges that are on offer as crates are compared in.
const CASES: [&str; 2] = ["churn", "seqfill"];

/// Runs the main job.
///
/// # Errors
/// The bundled data cannot be read, or an engine answers wrong.
pub fn run(progress: &mut Progress) -> anyhow::Result<Results> {
    let load = Load::now();
    let engines = Kva::engines(&[])?;
    let traces = data_folder()?.join("traces");
    let trace = |name: &str| traces.join(name).display().to_string();
    let (kva, percpu, maple) =
        (trace("bpfvm.kva.csv.zst"), trace("netns.pcpu.csv.zst"), trace(maple_2025::BRIEF));
    let workloads = [(&*kva, ROUNDS), ("churn:100000", ROUNDS), (&percpu, PERCPU_ROUNDS), (&maple, ROUNDS)];
    let mut results = replay::run(&workloads, &[], progress)?;
    let drained = data_folder()?.join("drained").join("bpfstorm.kva.csv.zst");
    add_predicted(&drained, None, &Settings::default(), Way::default(), &mut results)?;
    growth(&engines, &SIZES, &mut results, progress)?;
    // Crates that cannot replay a recording, as they know no fixed addresses, win some of these.
    let options = Options { quick: true, workloads: CASES.map(str::to_owned).into(), ..Options::default() };
    results.absorb(bench::run(Subject::Kva, &options, progress)?);
    percpu_2017::brief(&mut results, progress)?;
    maple_2025::brief(&mut results, progress)?;
    if let Some(note) = load.zip(Load::now()).and_then(|(start, end)| start.note(end)) {
        results.note(note);
    }
    Ok(results)
}

/// How an allocation's work grows with the number of live objects: the talk's point, in exact counts. Says which engines have no
/// figure at a size, and why.
///
/// # Errors
/// There is too little memory for a size, or an engine answers wrong.
pub fn growth(
    engines: &[EngineEntry],
    sizes: &[u64],
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    for &n in sizes {
        let (late, in_time): (Vec<EngineEntry>, Vec<EngineEntry>) =
            engines.iter().partition(|entry| n > LINEAR_LIMIT && entry.linear);
        let churned = measure(churn(n, PAIRS, 100_000 + n)?, &in_time, 0, &mut |what| progress.tick(what))?;
        let late = late.into_iter().map(|entry| (entry, TOO_LONG.to_owned()));
        for (entry, reason) in churned.refused.iter().cloned().chain(late) {
            let label = entry.label();
            results.note(format!("{GROWTH} at {} live objects: {label} left out: {reason}", count(n)));
        }
        for run in &churned.runs {
            let key = run.entry.key(GROWTH).op("alloc").param(Field::N, n);
            results.of(key).counts(Metric::Work, &mut run.counted.work_of(&churned.workload.ops, 0));
        }
    }
    Ok(())
}
