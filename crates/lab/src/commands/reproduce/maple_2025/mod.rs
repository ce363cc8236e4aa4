//! `freehold reproduce maple-2025`: the series that made the kernel's maple tree ask for fewer nodes.
//!
//! | Part | What the posting shows |
//! |---|---|
//! | `prealloc` | how many nodes a store asks for, over the kernel's own tests, before and after |
//! | `nodes` | what of that is used: beside what our trees ask for |
//! | `bulk` | how many nodes are asked for at once under `stress-ng --mmap`, and which calls ask for them |
//! | `latency` | `do_mmap` before and after |
//! | `rates` | what kinds of stores there are, beside the kernel's own trace points |
//! | `shape` | the trees: height, nodes, fill, over time |
//! | `programs` | what real programs' calls ask for, and their address spaces over time |
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", v2, February 2025; and streams of
//! stores recorded from the kernel's tests, of 6.12 (before) and 6.16 (after).

mod bulk;
mod forms;
mod latency;
mod ledger;
mod nodes;
mod planned;
mod prealloc;
mod programs;
mod rates;
mod shape;
mod streams;

use super::{Options, Outcome, Part, together};
use crate::commands::Progress;
use crate::commands::main_job::data_folder;
use crate::failure::Failure;
use crate::family::{Family, Maple};
use crate::output::{Document, Row};
use crate::report::{Described, Section, Study};
use crate::workload::vma::from_file;
use planned::Program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use streams::StreamRun;

/// How traces of this family end.
const ENDING: &str = ".vma.csv.zst";
/// The posting's workload.
const STRESS: &str = "stress_mmap.vma.csv.zst";
/// The main job's program.
pub(in crate::commands) const BRIEF: &str = "chromium.vma.csv.zst";

/// Into how many samples a stream or a trace is cut; if not all are wanted, its end is left out.
const SAMPLES: usize = 120;

/// How it was measured.
const METHOD: [&str; 6] = [
    "The recorded streams hold every store of the kernel's own maple tree tests, in the order in which the kernel did \
     them, with what it reckoned and what it took. They are replayed into our trees from empty ones; when a tree is \
     destroyed, its entries must be those that the kernel's had.",
    "Every store is planned before it is done. A plan says what each formula asks for: the worst case of the height \
     (Linux up to 6.15), the series' (6.16), and exactly what the store takes, which is what a plan holds here. After \
     every store the nodes taken are counted and compared with that.",
    "Our trees are not the kernel's: where a node is split, and when one is filled up, are choices. Formulas applied \
     to our trees therefore give other figures than the same formulas on the kernel's trees; both are shown. Removals \
     fill a node up only when it shrinks, and never take memory.",
    "The posting's stress test was recorded for 5 seconds, as system calls, and its calls are applied to address spaces \
     as the kernel applies them: cut, merged, moved, copied. A call that meets something else than when it was \
     recorded is counted as a mismatch.",
    "The kernel's trees there have readers without locks, where every changed leaf is a new node. Ours have one owner, \
     and edit in place. A fork copies a tree whole, without planning.",
    "Times are of maps alone: the posting's are of whole mmap calls, with locks, accounting and page tables.",
];

/// Reproduces the series.
///
/// # Errors
/// Data cannot be read, or an engine answers wrong.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Outcome> {
    let samples = options.samples.unwrap_or(SAMPLES);
    if !(1..=SAMPLES).contains(&samples) {
        return Err(Failure::Usage(format!("--samples {samples}: there are 1 to {SAMPLES}")).into());
    }
    let data = data_folder()?;
    let files = |ending| traces(&data.join("traces"), options.traces.as_deref(), ending);
    let (vma, mt) = (files(ENDING)?, files(rates::ENDING)?);
    if let Some(folder) = &options.traces
        && super::traces_in(folder, ENDING)?.is_empty()
        && super::traces_in(folder, rates::ENDING)?.is_empty()
    {
        let reason = format!("--traces {}: no file ends in {ENDING} or {}", folder.display(), rates::ENDING);
        return Err(Failure::Usage(reason).into());
    }
    let mut tick = |what: &str| progress.tick(what);
    let versions: &[&str] = if options.full { &["6.12", "6.16"] } else { &["6.16"] };
    let mut streams = Vec::new();
    for version in versions {
        let file = data.join(format!("vectors/maple/seed_stream_{version}.mstream.zst"));
        streams.push(StreamRun::of(&file, samples, &mut tick)?);
    }
    let mut programs = Vec::new();
    for file in &vma {
        tick(&format!("{}: every store planned", file.display()));
        let mut workload = from_file(file)?;
        let ops = (workload.ops.len() * samples / SAMPLES).max(1);
        workload.ops.truncate(ops);
        workload.at_ns.iter_mut().for_each(|at_ns| at_ns.truncate(ops));
        programs.push(Program::of(workload));
    }
    let is_stress =
        |program: &&Program| program.workload.file.as_ref().is_some_and(|file| file.ends_with(STRESS));
    let stress = programs.iter().find(is_stress);
    let stress =
        stress.ok_or_else(|| Failure::Lacking(format!("{STRESS} is not among the bundled traces")))?;
    let latency = latency::part(&stress.workload, &mut tick)?;
    let parts: Vec<Part> = vec![
        prealloc::part(&streams),
        nodes::part(&streams),
        bulk::part(stress),
        latency,
        rates::part(&mt, stress)?,
        shape::part(stress),
        programs::part(&programs),
    ];
    let study = Study {
        title: "Track node vacancy, tried again".to_owned(),
        lead: "In 2025 Sidhartha Kumar made the kernel's maple tree look, on its way down to where it stores, for the \
               lowest node with room, and ask for no more nodes than it takes to get there. Here are his histograms, \
               the kernel's own stores before and after, and the same stores on our trees, which ask for what they \
               take; then the address spaces of recorded programs."
            .to_owned(),
        engines: Maple::engines(&[])?.iter().map(Described::of).collect(),
        method: METHOD.to_vec(),
        ..Study::default()
    };
    Ok(together(study, parts))
}

/// What a real program's stores ask for, and its trees: what the main job has time for.
///
/// # Errors
/// The bundled data cannot be read.
pub fn brief(progress: &mut Progress) -> anyhow::Result<(Document, Section)> {
    let file = data_folder()?.join("traces").join(BRIEF);
    progress.tick(&format!("{}: every store planned", file.display()));
    let Part { section, rows, .. } = programs::brief(&Program::of(from_file(&file)?));
    let document = Document { tables: section.tables.clone(), rows, ..Document::default() };
    Ok((document, section))
}

/// The bundled traces, and those of the folder that have another name.
fn traces(bundled: &Path, folder: Option<&Path>, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = super::traces_in(bundled, ending)?;
    if let Some(folder) = folder {
        let others = super::traces_in(folder, ending)
            .map_err(|error| Failure::Usage(format!("--traces {}: {error}", folder.display())))?;
        let names: BTreeSet<_> =
            files.iter().filter_map(|file| file.file_name().map(ToOwned::to_owned)).collect();
        files.extend(
            others.into_iter().filter(|file| file.file_name().is_none_or(|name| !names.contains(name))),
        );
    }
    files.sort();
    Ok(files)
}

/// A row about our trees, or without an engine about the kernel's.
fn row(workload: &str, ours: bool, planner: &'static str, op: &'static str) -> Row {
    Row {
        suite: "maple",
        workload: Some(workload.to_owned()),
        engine: ours.then_some("range-map"),
        default: ours.then_some(true),
        planner: Some(planner),
        op: Some(op),
        ..Row::default()
    }
}

/// A share for people.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}
