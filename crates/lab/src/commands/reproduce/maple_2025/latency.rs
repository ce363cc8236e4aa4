//! What a call costs: the posting's `do_mmap`, and our maps' part of it, by planner.

use super::ledger::PLANNERS;
use crate::commands::reproduce::Part;
use crate::engine::vma::{AskAs, EngineEntry, Make, PlannedRanges, Spaces};
use crate::family::{Entry, Family, Maple};
use crate::measure::{EngineRun, measure};
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::published::do_mmap_2025::DO_MMAP;
use crate::report::Section;
use crate::workload::Workload;

/// Timed rounds.
const ROUNDS: usize = 3;
/// Of the kinds of operations, those that are shown: the calls.
const CALLS: usize = 4;
/// Spaces on the default map, whose stores ask for nodes as each of [`PLANNERS`] does.
const ASKING: [Make; 3] = [
    |kinds| Box::new(Spaces::<PlannedRanges<AskAs<0>>>::new(kinds)),
    |kinds| Box::new(Spaces::<PlannedRanges<AskAs<1>>>::new(kinds)),
    |kinds| Box::new(Spaces::<PlannedRanges<AskAs<2>>>::new(kinds)),
];

/// The part.
pub(super) fn part(stress: &Workload<Maple>, tick: &mut dyn FnMut(&str)) -> anyhow::Result<Part> {
    let mut engines = Maple::engines(&[])?;
    let plain = engines.len();
    let ours = engines.first().copied();
    engines.extend(ours.into_iter().flat_map(|ours| ASKING.map(|make| EngineEntry { make, ..ours })));
    let replay = measure(stress.clone(), &engines, ROUNDS, tick)?;
    let (plain, asking) = replay.runs.split_at(plain.min(replay.runs.len()));
    let mut table = published();
    let mut rows = Vec::new();
    let worst = asking.first();
    for (run, (_, planner)) in asking.iter().zip(PLANNERS) {
        add(&mut table, &format!("{}, asking as {planner}", run.entry.label()), run, stress.ops.len());
        rows.extend(rows_of(run, Some(planner), worst));
    }
    for run in plain {
        add(&mut table, &format!("{}, without plans", run.entry.label()), run, stress.ops.len());
        rows.extend(rows_of(run, None, plain.first()));
    }
    let gain = DO_MMAP[0].average_ns as f64 / DO_MMAP[1].average_ns as f64;
    let section = Section {
        id: "latency",
        title: "What a call costs".to_owned(),
        about: vec![format!(
            "The posting looked for a regression in do_mmap and found it {}x quicker. A whole do_mmap is locks, limits, \
             accounting and the tree; here is the map's part alone, with finding what is there and merging with \
             neighbours. Every store is planned, and asks for nodes as the planner does: what it does not take comes from \
             the allocator too, node by node, and goes back when it is done. Without plans the map looks for what it needs \
             and takes that from its own slab. The same calls on a BTreeMap of the standard library stand beside it.",
            fixed(gain)
        )],
        tables: vec![table],
        ..Section::default()
    };
    Ok(Part { section, rows, ..Part::default() })
}

/// The table, with what was published.
fn published() -> Table {
    let mut table = Table::new(
        "The time of a call in stress-ng --mmap, on the map alone; do_mmap as published, whole",
        &["who", "op", "calls", "p50", "p99", "mean of a run"],
    );
    table.name_columns = 2;
    let dash = || "-".to_owned();
    for (name, latency) in ["published, before", "published, after"].into_iter().zip(DO_MMAP) {
        let mean = nanoseconds(latency.average_ns as f64);
        table.row(vec![name.to_owned(), "do_mmap".to_owned(), count(latency.count), dash(), dash(), mean]);
    }
    table
}

/// What a run's calls took.
fn add(table: &mut Table, who: &str, run: &EngineRun<Maple>, calls: usize) {
    for (at, kind) in Maple::KINDS.iter().enumerate().take(CALLS) {
        let mut times = run.timed.of(at).all_ns;
        table.row(vec![
            who.to_owned(),
            format!("{}()", kind.op),
            count(times.len() as u64 / ROUNDS as u64),
            nanoseconds(times.percentile(500) as f64),
            nanoseconds(times.percentile(990) as f64),
            nanoseconds(times.mean()),
        ]);
    }
    let (any, dash) = ("any".to_owned(), || "-".to_owned());
    let mean = nanoseconds(run.timed.loop_median_ns());
    table.row(vec![who.to_owned(), any, count(calls as u64), dash(), dash(), mean]);
}

/// The same for programs, the ratio to another run; a planner's `mmap` beside the posting's figure of it.
fn rows_of(
    run: &EngineRun<Maple>,
    planner: Option<&'static str>,
    first: Option<&EngineRun<Maple>>,
) -> Vec<Row> {
    let median = |run: &EngineRun<Maple>, at| run.timed.of(at).all_ns.percentile(500) as f64;
    let row = |(at, kind): (usize, &crate::family::OpKind)| {
        let mut times = run.timed.of(at).all_ns;
        let published = match (at, planner) {
            (0, Some("worst")) => Some(DO_MMAP[0].average_ns as f64),
            (0, Some("vacancy")) => Some(DO_MMAP[1].average_ns as f64),
            _ => None,
        };
        Row {
            workload: Some("stress-mmap".to_owned()),
            planner,
            op: Some(kind.op),
            count: Some(times.len() as u64),
            ns_median: Some(median(run, at)),
            ns_p99: Some(times.percentile(990)),
            ratio: first.map(|first| median(first, at)).filter(|&ns| ns > 0.0).map(|ns| median(run, at) / ns),
            published,
            published_unit: published.map(|_| "ns in the mean, all of do_mmap"),
            ..run.entry.row()
        }
    };
    Maple::KINDS.iter().enumerate().take(CALLS).map(row).collect()
}
