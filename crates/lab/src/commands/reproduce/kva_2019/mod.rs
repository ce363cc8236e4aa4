//! `freehold reproduce kva-2019`: the talk on the rework of the kernel's allocator of virtual addresses.
//!
//! | Part | What the talk shows |
//! |---|---|
//! | `suite` | its whole test before and after: 160 minutes, 3 minutes |
//! | `samples` | its plots: least, mean and greatest time of an allocation, sample by sample |
//! | `zones` | its slides on zones: sequential against random placement |
//! | `glitches` | its reason: audio that drops out, frames that are late |
//! | `example` | its worked example of the tree |
//! | `later` | what was published afterwards |
//! | `traces` | the audience's questions: what do real workloads ask for, and how often |
//!
//! Source: the talk, its questions and answers, and the letters that followed.

mod example;
mod glitches;
mod later;
mod runs;
mod samples;
mod suite;
mod traces;
mod zones;

use super::{Options, Outcome, engines, together};
use crate::commands::Progress;
use crate::report::{Described, Study};
use runs::{Scale, SuiteRuns};

/// What was there before, the rework, and ours: the default engine and the B+tree.
const ENGINES: [&str; 4] = ["gap-list", "rbtree:linux", "rbtree:lowest", "btree:lowest"];

/// How it was measured.
const METHOD: [&str; 6] = [
    "Checked first. Each engine ran all operations once while a model held every answer against the rules: \
     inside the space and its window, aligned, overlapping nothing that lives. Engines of exactly the \
     lowest placement had to agree with each other. The timed runs had to give the same answers again.",
    "Counted exactly. In that run the work of every operation was counted: nodes visited, changed or \
     rotated, and list steps. These figures are the same on every machine; where times and work disagree, \
     believe the work.",
    "Timed in turn. All engines ran a sample, then the next one in reverse order. An allocation's time is \
     the least of its rounds, the clock's own cost taken off, so that what repeats is seen and what the \
     machine adds is not. The time of a whole run is that of its samples run in one go, of each the least \
     of its rounds.",
    "The allocator of addresses alone. The talk timed whole vmalloc calls: pages, page tables, locks and \
     lazy frees are in its figures and not in ours. Ratios compare as far as addresses decide, times do \
     not.",
    "The kernel's test without pcpu_alloc, which the gap allocator of this repository has no request for, \
     and without the cases that differ in pages and locks alone. Setups and teardowns run in one go \
     between bodies, since the kernel runs bodies so often that they hardly count.",
    "What costs memory accesses costs less here than on a machine of 2012: times are of this machine.",
];

/// Reproduces the talk.
///
/// # Errors
/// Data cannot be read, or an engine answers wrong.
pub fn run(options: &Options, progress: &mut Progress) -> anyhow::Result<Outcome> {
    let entries = engines(&ENGINES)?;
    let scale = Scale::of(options)?;
    // What is asked for wrongly is said before anything is measured.
    let traces = traces::files(options.traces.as_deref())?;
    let mut tick = |what: &str| progress.tick(what);
    let example = example::part()?;
    let runs = SuiteRuns::measure(&scale, &entries, &mut tick)?;
    let zones = zones::part(&engines(&zones::ENGINES)?, &mut tick)?;
    let glitches = glitches::part(&scale, &runs, &entries, &mut tick)?;
    let traces = traces::part(&traces, &entries, &mut tick)?;
    let parts =
        vec![suite::part(&runs), samples::part(&runs), zones, glitches, example, later::part(&runs), traces];
    let study = Study {
        title: "Reworking of KVA allocator in Linux kernel, tried again".to_owned(),
        lead: "In 2019 Uladzislau Rezki told how the allocator of kernel virtual addresses stopped walking \
               a list of busy areas and got a tree of free blocks, each knowing the largest block below \
               it. Here are his test, his plots, his slides on zones and his worked example, on the gap \
               allocator that was replaced, on the rework, and on two engines of ours, in one run; what \
               was published since; and his audience's questions, answered from recorded workloads."
            .to_owned(),
        engines: entries.iter().map(Described::of).collect(),
        method: METHOD.to_vec(),
        ..Study::default()
    };
    Ok(together(study, parts))
}
