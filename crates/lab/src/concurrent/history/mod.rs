//! `freehold stress maple --threads N`: a writer and readers on one `MapleTree`; what each read saw is held against a model.
//!
//! ```text
//!   threads   one writes, the others read and note when and what      `freehold_rivals::maple::history` judges
//! ```

pub mod threads;

use super::{Who, add_counts, end};
use crate::Progress;
use crate::record::{Field, Results, count};
use crate::run::stress::Options;
use crate::workload::SplitMix;
use freehold::maple::{MapleTree, Nodes};
use freehold::units::Span;
use freehold_rivals::maple::history::{Model, Verdict, judge};
use std::time::{Duration, Instant};
use threads::{Put, changes, put, round};

/// The family in records.
const SUITE: &str = "maple";
/// Changes of a round; what was read is judged after each.
pub const CHANGES: usize = 4000;
/// Threads, at least: one writes, the others read.
pub const LEAST_THREADS: u32 = 2;
/// How long all engines take together, unless it is said.
const DURATION: Duration = Duration::from_secs(10);

/// Threads that were asked for, or the least.
fn thread_count(options: &Options) -> u32 {
    options.threads.unwrap_or(LEAST_THREADS).max(LEAST_THREADS)
}

/// A map that is made anew.
type Make = fn() -> MapleTree<u64>;

/// Ours: with the nodes that users get, and with small ones, which make trees of many levels.
const SUBJECTS: [(Who, Make); 2] = [
    (Who::default("maple-tree"), MapleTree::new),
    (Who::ours("maple-tree").variant("small-nodes"), || MapleTree::with_nodes(Nodes::Small)),
];

/// What a run added up to.
#[derive(Debug, Default)]
pub struct Sum {
    /// Changes made.
    pub changes: u64,
    reads: u64,
    met: u64,
    refused: u64,
    wrong: u64,
    /// What was wrong.
    pub reason: Option<String>,
}

/// Runs it.
///
/// # Errors
/// A thread panicked, or a store failed for another reason than that readers hold too much back.
pub fn stress_maple(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let mut results = Results::default();
    results.fact("threads", thread_count(options).to_string());
    let share = options.duration.unwrap_or(DURATION) / SUBJECTS.len() as u32;
    let mut all = 0;
    for (who, make) in SUBJECTS {
        let sum = of_subject(&make(), &put, options, share, &mut |rounds| {
            progress.tick(&format!("{}: round {rounds}", who.label()));
        })?;
        all += sum.reads;
        add(&mut results, &who, options, &sum);
    }
    end(&mut results, &format!("{} reads held against the model, moment by moment", count(all)));
    Ok(results)
}

fn add(results: &mut Results, who: &Who, options: &Options, sum: &Sum) {
    let key = who.key(SUITE, "beside a writer", "").param(Field::Threads, thread_count(options));
    let counts = [
        ("stores", sum.changes),
        ("reads", sum.reads),
        ("reads that met a store", sum.met),
        ("refused stores", sum.refused),
    ];
    add_counts(results, &key, &counts, ("wrong reads", sum.wrong));
    if let Some(reason) = &sum.reason {
        let (label, seed) = (who.label(), options.seed);
        results.note(format!("FAILED: {label}, seed {seed}: {} reads: {reason}", sum.wrong));
        results.failed = true;
    }
}

/// Rounds until the time is over, or until something was wrong; one at least.
pub fn of_subject(
    map: &MapleTree<u64>,
    put: &Put,
    options: &Options,
    long: Duration,
    tick: &mut dyn FnMut(u64),
) -> anyhow::Result<Sum> {
    let (started, mut sum, mut model) = (Instant::now(), Sum::default(), Model::default());
    let mut random = SplitMix::new(options.seed);
    let readers = thread_count(options) - 1;
    let mut rounds = 0;
    loop {
        rounds += 1;
        tick(rounds);
        let changes = changes(CHANGES, sum.changes + 1, &mut random);
        let found = round(map, put, &changes, readers, random.next_u64())?;
        sum.changes += changes.len() as u64;
        sum.refused += found.refused;
        sum.reads += found.reads.len() as u64;
        let Verdict { wrong, reason, met } = judge(&mut model, &changes, found.reads);
        (sum.wrong, sum.met) = (sum.wrong + wrong, sum.met + met);
        sum.reason = reason.or_else(|| at_rest(map, &model));
        if sum.reason.is_some() || started.elapsed() >= long {
            return Ok(sum);
        }
    }
}

/// What is wrong with a map that nobody writes.
fn at_rest(map: &MapleTree<u64>, model: &Model) -> Option<String> {
    if let Err(broken) = map.validate() {
        return Some(broken.to_string());
    }
    let same = model.entries(Span::ALL).eq(map.read().range(Span::ALL));
    (!same).then(|| "the entries at rest are not the model's".to_owned())
}
