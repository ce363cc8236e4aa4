//! The anchor tables: each workload regenerated, and every recorded count held against our own.

use super::played::{Count, Played};
use super::recipe::play;
use super::state::free_digest;
use super::{Checked, PAGE, pages};
use crate::engine::KernelEngine;
use crate::workload::{END_PAGE, LOW_PAGE};
use freehold::units::{Align, Tally, Work};
use freehold_linux::kva::Placement;
use freehold_rivals::RivalWork;
use freehold_rivals::kva::GapList;
use freehold_trace::TraceError;
use freehold_trace::kva::{AnchorRow, Anchors};
use std::collections::BTreeSet;
use std::path::Path;

/// What a row may ask for: hours of work and gigabytes of memory are a mistake in the table.
const MOST_OBJECTS: u64 = 4_000_000;
const MOST_ROUNDS: u64 = 10_000_000;
/// Columns that say what to play, not what to find.
const PARAMETERS: [&str; 4] = ["workload", "seed", "N", "M"];

pub(super) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let mut checks = Vec::new();
    for row in Anchors::read(file)?.rows {
        checks.push(check_row(&row).map_err(|reason| TraceError::at(file, row.line, reason))?);
        tick();
    }
    Ok(checks)
}

fn check_row(row: &AnchorRow) -> Result<Checked, String> {
    let name = row.field("workload").unwrap_or_default();
    let number = |column: &str| row.number(column).ok_or_else(|| format!("{column} is unreadable"));
    let (seed, n, m) = (number("seed")?, number("N")?, number("M")?);
    if !(1..=MOST_OBJECTS).contains(&n) || m > MOST_ROUNDS {
        return Err(format!("N must be 1 to {MOST_OBJECTS}, M at most {MOST_ROUNDS}"));
    }
    let what = format!("{name} {n}");
    let space = pages(LOW_PAGE, END_PAGE - LOW_PAGE).ok_or("the space is no span")?;
    // The hash of all answers is what no row may do without.
    row.hex("answers_fnv").ok_or("answers_fnv is missing")?;
    let left = row.columns().filter(|column| !PARAMETERS.contains(column)).collect();
    let gaps = name == "gap_churn";
    let (engine, placement) = if gaps { ("gap-list", None) } else { ("rbtree", Some("linux")) };
    let checked = Checked { placement, ..Checked::new(what, engine) };
    let mut comparison = Comparison { checked, row, left };
    let known;
    if gaps {
        let mut played = Played::of(GapList::new(&[space], Align::PAGE)?, &OF_GAP);
        known = play(name, &mut played, seed, n, m);
        compare_gap(&mut comparison, &mut played);
    } else {
        let engine = KernelEngine::new(&[space], Align::PAGE, Placement::Linux)?;
        let mut played = Played::of(engine, &OF_TREE);
        known = play(name, &mut played, seed, n, m);
        compare_tree(&mut comparison, &mut played);
    }
    if !known {
        return Err(format!("no recipe for workload {name:?}"));
    }
    if let Some(unknown) = comparison.left.into_iter().find(|column| row.field(column).is_some()) {
        return Err(format!("nothing is known of a column {unknown:?}"));
    }
    Ok(comparison.checked)
}

/// Rotations and what follows a change upwards.
fn changes(tally: &Tally) -> u64 {
    tally.of(Work::MaxRecomputed) + tally.of(Work::Rotated)
}

/// For an allocation the descent of a middle split is part of the fix-up; for a free it is the search.
fn fixup(tally: &Tally) -> u64 {
    changes(tally) + if tally.of(Work::NodeVisited) > 0 { tally.of(Work::LinkVisited) } else { 0 }
}

fn total(tally: &Tally) -> u64 {
    tally.of(Work::NodeVisited) + tally.of(Work::LinkVisited) + changes(tally)
}

/// What a tree's columns begin with, whether they are of allocations, and what they count.
const OF_TREE: [(&str, bool, Count); 8] = [
    ("a_visit_", true, |tally| tally.of(Work::NodeVisited)),
    ("a_peek_", true, |tally| tally.of(Work::ChildPeeked)),
    ("a_fixup_", true, fixup),
    ("a_rot_", true, |tally| tally.of(Work::Rotated)),
    ("a_total_", true, total),
    ("f_link_", false, |tally| tally.of(Work::LinkVisited)),
    ("f_fixup_", false, fixup),
    ("f_total_", false, total),
];
/// The same of the gap allocator's.
const OF_GAP: [(&str, bool, Count); 1] = [("", true, |tally| RivalWork::ListStepped.of(tally))];

/// A row on its way to being compared, column by column.
struct Comparison<'a> {
    checked: Checked,
    row: &'a AnchorRow,
    /// Columns that nothing was compared with yet.
    left: BTreeSet<&'a str>,
}

impl Comparison<'_> {
    /// Compares a column, where the table has it.
    fn column(&mut self, column: &str, got: &str) {
        self.left.remove(column);
        if let Some(expected) = self.row.field(column) {
            self.checked.compare(self.row.line, format!("{column} {expected}"), format!("{column} {got}"));
        }
    }

    fn counts<E>(&mut self, played: &mut Played<E>, digits: usize) {
        let columns = played.columns.iter().zip(&mut played.counts);
        for ((prefix, ..), counts) in columns.filter(|(_, counts)| !counts.is_empty()) {
            self.column(&format!("{prefix}mean"), &format!("{:.digits$}", counts.mean()));
            for (name, per_mille) in [("p50", 500), ("p99", 990), ("p999", 999), ("max", 1000)] {
                self.column(&format!("{prefix}{name}"), &counts.percentile(per_mille).to_string());
            }
        }
    }
}

fn compare_tree(comparison: &mut Comparison<'_>, played: &mut Played<KernelEngine>) {
    comparison.checked.operations = played.allocs + played.frees;
    let digest = free_digest(&played.engine, Some(played.engine.space.tree()), PAGE);
    let (shape, depth) = digest.shape.unwrap_or_default();
    let numbers = [
        ("allocs_total", played.allocs),
        ("fails", played.fails),
        ("allocs_measured", played.allocs_measured),
        ("free_blocks", digest.blocks),
        ("free_sum", digest.sum),
        ("largest", digest.largest),
        ("depth", depth),
    ];
    numbers.into_iter().for_each(|(column, got)| comparison.column(column, &got.to_string()));
    let hashes =
        [("answers_fnv", played.answers.value()), ("list_fnv", digest.list_hash), ("shape_fnv", shape)];
    hashes.into_iter().for_each(|(column, got)| comparison.column(column, &format!("{got:016x}")));
    comparison.counts(played, 2);
}

fn compare_gap(comparison: &mut Comparison<'_>, played: &mut Played<GapList>) {
    comparison.checked.operations = played.allocs + played.frees;
    comparison.column("answers_fnv", &format!("{:016x}", played.answers.value()));
    comparison.counts(played, 1);
    let cached = 100.0 * played.cached as f64 / played.allocs_measured.max(1) as f64;
    comparison.column("cache_start_pct", &format!("{cached:.1}"));
}
