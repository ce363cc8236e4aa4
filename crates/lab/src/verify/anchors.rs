//! The anchor tables: each workload regenerated, and every recorded count held against our own.

use super::Checked;
use super::state::free_digest;
use crate::engine::SpaceEngine;
use crate::hash::Fnv;
use crate::measure::Counts;
use crate::workload::recipe::{END_PAGE, LOW_PAGE, PageRequest, Player, Recipe};
use freehold::kva::{Placement, RbTree};
use freehold::units::{Align, Span, Tally, Work};
use freehold_rivals::kva::GapList;
use freehold_trace::TraceError;
use freehold_trace::kva::{AnchorRow, Anchors, Engine};
use std::path::Path;

const PAGE: u64 = Align::PAGE.bytes();

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
    let what = format!("{name} {n}");
    let Some(recipe) = Recipe::named(name) else {
        return Err(format!("no recipe for workload {name:?}"));
    };
    let space = pages(LOW_PAGE, END_PAGE - LOW_PAGE).ok_or("the space is no span")?;
    let mut checked = Checked { what, ..Checked::default() };
    if recipe == Recipe::GapChurn {
        (checked.engine, checked.placement) = ("gap-list", None);
        let mut played = Played::on(GapList::new(&[space], Align::PAGE)?);
        recipe.play(&mut played, seed, n, m);
        checked.operations = played.allocs + played.frees;
        compare_gap(&mut checked, row, &mut played);
    } else {
        (checked.engine, checked.placement) = ("rbtree", Some("linux"));
        let mut played = Played::on(SpaceEngine::new(&[space], Align::PAGE, Placement::Linux)?);
        recipe.play(&mut played, seed, n, m);
        checked.operations = played.allocs + played.frees;
        compare_tree(&mut checked, row, &mut played);
    }
    Ok(checked)
}

fn pages(first: u64, pages: u64) -> Option<Span> {
    Span::from_size(first.checked_mul(PAGE)?, pages.checked_mul(PAGE)?)
}

/// What is counted for the operations of one kind.
#[derive(Default)]
struct Kinds {
    visit: Counts,
    peek: Counts,
    link: Counts,
    fixup: Counts,
    rot: Counts,
    total: Counts,
    steps: Counts,
}

impl Kinds {
    fn add(&mut self, tally: &Tally) {
        let (visits, links) = (tally.of(Work::NodeVisited), tally.of(Work::LinkVisited));
        let changes = tally.of(Work::MaxRecomputed) + tally.of(Work::Rotated);
        self.visit.add(visits);
        self.peek.add(tally.of(Work::ChildPeeked));
        self.link.add(links);
        // For an allocation the descent of a middle split is part of the fix-up; for a free it is the search.
        self.fixup.add(changes + if visits > 0 { links } else { 0 });
        self.rot.add(tally.of(Work::Rotated));
        self.total.add(visits + links + changes);
        self.steps.add(tally.of(Work::ListStepped));
    }
}

/// An engine on which a recipe is played, with what it answered and did.
struct Played<E> {
    engine: E,
    answers: Fnv,
    measured: bool,
    allocs: u64,
    allocs_measured: u64,
    frees: u64,
    fails: u64,
    cached: u64,
    alloc: Kinds,
    free: Kinds,
}

impl<E: Engine> Played<E> {
    fn on(engine: E) -> Self {
        Self {
            engine,
            answers: Fnv::default(),
            measured: false,
            allocs: 0,
            allocs_measured: 0,
            frees: 0,
            fails: 0,
            cached: 0,
            alloc: Kinds::default(),
            free: Kinds::default(),
        }
    }
}

impl<E: Engine> Player for Played<E> {
    fn alloc(&mut self, request: PageRequest) -> Option<u64> {
        let mut tally = Tally::default();
        let window = pages(request.low, request.end - request.low)?;
        let align = Align::new(request.align.checked_mul(PAGE)?)?;
        let size_bytes = request.size.checked_mul(PAGE)?;
        let start = self.engine.alloc(size_bytes, align, window, &mut tally).map(|start| start / PAGE);
        self.answers.word(start.unwrap_or(u64::MAX));
        self.allocs += 1;
        self.fails += u64::from(start.is_none());
        if self.measured {
            self.allocs_measured += 1;
            self.cached += tally.of(Work::StartedCached);
            self.alloc.add(&tally);
        }
        start
    }

    fn free(&mut self, start: u64) {
        let mut tally = Tally::default();
        self.frees += u64::from(self.engine.free(start * PAGE, &mut tally));
        if self.measured {
            self.free.add(&tally);
        }
    }

    fn measure(&mut self, on: bool) {
        self.measured = on;
    }
}

/// Compares a column, where the table has it.
fn compare(checked: &mut Checked, row: &AnchorRow, column: &str, got: &str) {
    if let Some(expected) = row.field(column) {
        checked.compare(row.line, format!("{column} {expected}"), format!("{column} {got}"));
    }
}

fn compare_counts(checked: &mut Checked, row: &AnchorRow, prefix: &str, counts: &mut Counts, digits: usize) {
    if counts.is_empty() {
        return;
    }
    compare(checked, row, &format!("{prefix}mean"), &format!("{:.digits$}", counts.mean()));
    for (name, per_mille) in [("p50", 500), ("p99", 990), ("p999", 999), ("max", 1000)] {
        compare(checked, row, &format!("{prefix}{name}"), &counts.percentile(per_mille).to_string());
    }
}

fn compare_tree(checked: &mut Checked, row: &AnchorRow, played: &mut Played<SpaceEngine<RbTree>>) {
    compare(checked, row, "allocs_total", &played.allocs.to_string());
    compare(checked, row, "fails", &played.fails.to_string());
    compare(checked, row, "allocs_measured", &played.allocs_measured.to_string());
    compare(checked, row, "answers_fnv", &format!("{:016x}", played.answers.value()));
    let digest = free_digest(&played.engine, Some(played.engine.space.free_index()), PAGE);
    let (shape, depth) = digest.shape.unwrap_or_default();
    compare(checked, row, "free_blocks", &digest.blocks.to_string());
    compare(checked, row, "free_sum", &digest.sum.to_string());
    compare(checked, row, "largest", &digest.largest.to_string());
    compare(checked, row, "list_fnv", &format!("{:016x}", digest.list_hash));
    compare(checked, row, "shape_fnv", &format!("{shape:016x}"));
    compare(checked, row, "depth", &depth.to_string());
    let (alloc, free) = (&mut played.alloc, &mut played.free);
    for (prefix, counts) in [
        ("a_visit_", &mut alloc.visit),
        ("a_peek_", &mut alloc.peek),
        ("a_fixup_", &mut alloc.fixup),
        ("a_rot_", &mut alloc.rot),
        ("a_total_", &mut alloc.total),
        ("f_link_", &mut free.link),
        ("f_fixup_", &mut free.fixup),
        ("f_total_", &mut free.total),
    ] {
        compare_counts(checked, row, prefix, counts, 2);
    }
}

fn compare_gap(checked: &mut Checked, row: &AnchorRow, played: &mut Played<GapList>) {
    compare(checked, row, "answers_fnv", &format!("{:016x}", played.answers.value()));
    compare_counts(checked, row, "", &mut played.alloc.steps, 1);
    let cached = 100.0 * played.cached as f64 / played.allocs_measured.max(1) as f64;
    compare(checked, row, "cache_start_pct", &format!("{cached:.1}"));
}
