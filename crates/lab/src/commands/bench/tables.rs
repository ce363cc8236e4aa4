//! The bench for people and programs: a table per workload and operation, where rivals are faster, features, rows.

use crate::engine::{EngineEntry, FEATURES, Features};
use crate::family::{Entry, FLOOR_NOTE};
use crate::measure::Counts;
use crate::measure::bench::{Bench, BenchRun};
use crate::output::{Document, Row, Table, count, fixed};
use crate::workload::bench::BenchWorkload;

/// Our own engines: what is faster than the default among them is no loss.
const OURS: [&str; 2] = ["rbtree", "btree"];
/// A rival is faster if it takes less than this part of the default engine's time.
const FASTER: f64 = 0.95;

/// What is known of an engine's index beside its time.
const INDEX_HEADER: [&str; 6] =
    ["workload", "n", "engine", "nodes p99.9", "bytes per free block", "bytes per region"];

/// Adds everything.
pub(super) fn describe(document: &mut Document, benches: &mut [Bench], engines: &[EngineEntry]) {
    let title = "Where a rival takes less time than the default engine (the size with the smallest ratio)";
    let header = ["workload", "n", "op", "rival", "its ns", "our ns", "ratio", "what it lacks"];
    let mut losses = Table::new(title, &header);
    let groups = benches.chunk_by_mut(|a, b| a.workload.case.name == b.workload.case.name);
    let mut small: Vec<&Bench> = Vec::new();
    let mut index = Table::new("Searches and memory, at the largest size", &INDEX_HEADER);
    for group in groups {
        for bench in group.iter_mut() {
            rows(document, bench);
        }
        if let Some(bench) = group.last_mut().filter(|bench| bench.workload.case.sized) {
            add_index(&mut index, bench);
        }
        let group: &[Bench] = group;
        add_losses(&mut losses, group, engines);
        left_out(document, group, engines);
        match group {
            [bench] if !bench.workload.case.sized => small.push(bench),
            _ => ["alloc", "free"].into_iter().for_each(|op| {
                document.tables.push(sized_table(group, op, engines));
            }),
        }
    }
    if !small.is_empty() {
        document.tables.push(small_table(&small, engines));
    }
    if !index.rows.is_empty() {
        document.tables.push(index);
        document.notes.push(
            "Nodes are those that the search of an allocation visits, without those whose \
             figures are put right after it; range-map does not tell. The one tree of btree and of range-map has blocks \
             and regions in the same leaves: its memory, inner nodes and spare room included, is divided between them by \
             their numbers."
                .to_owned(),
        );
    }
    if losses.rows.is_empty() {
        document.notes.push("No rival is faster than the default engine anywhere in this run.".to_owned());
    } else {
        document.tables.push(losses);
    }
    document.tables.push(feature_table(engines));
    document.notes.push(FLOOR_NOTE.to_owned());
    document.notes.push(
        "Nanoseconds per operation: medians over rounds of whole loops, the engines taking turns; behind them the \
         ratio to the first. Every answer was checked before. Peers \
         that free by range or handle look it up in a table of the adapter, whose time is in their figures."
            .to_owned(),
    );
}

fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn median_of(run: &BenchRun, op: &str) -> Option<f64> {
    run.timed().iter().find(|(name, _)| *name == op).and_then(|(_, times)| median(times))
}

/// The run that ratios are to.
fn first(bench: &Bench) -> Option<&BenchRun> {
    bench.runs.first()
}

fn run_of<'a>(bench: &'a Bench, entry: &EngineEntry) -> Option<&'a BenchRun> {
    bench.runs.iter().find(|run| run.entry.label() == entry.label())
}

/// The median and its ratio, or why there is none.
fn cell(bench: &Bench, entry: &EngineEntry, op: &str) -> String {
    let Some(run) = run_of(bench, entry) else { return "-".to_owned() };
    let ours = first(bench).and_then(|run| median_of(run, op));
    match (median_of(run, op), ours) {
        (Some(ns), Some(ours)) if ours > 0.0 => format!("{} {}x", fixed(ns), fixed(ns / ours)),
        (Some(ns), _) => fixed(ns),
        (None, _) => "-".to_owned(),
    }
}

fn sized_table(group: &[Bench], op: &str, engines: &[EngineEntry]) -> Table {
    let case = group.first().map(|bench| bench.workload.case);
    let (name, about) = case.map_or(("", ""), |case| (case.name, case.about));
    let mut table = Table::new(format!("{name}, {op}: {about}"), &["engine"]);
    table.header.extend(group.iter().map(|bench| format!("n {}", count(bench.workload.n.unwrap_or(0)))));
    for entry in engines {
        let mut row = vec![entry.label()];
        row.extend(group.iter().map(|bench| cell(bench, entry, op)));
        table.row(row);
    }
    floor_row(&mut table, group, op);
    table
}

/// A last line: what the lab itself takes.
fn floor_row<'a>(table: &mut Table, benches: impl IntoIterator<Item = &'a Bench>, op: &str) {
    let floors: Vec<&BenchRun> = benches.into_iter().map(|bench| &bench.floor).collect();
    let label = floors.first().map(|floor| floor.entry.table_label());
    let figures = floors.iter().map(|floor| median_of(floor, op).map_or_else(|| "-".to_owned(), fixed));
    table.row(label.into_iter().chain(figures).collect());
}

/// The searches and the memory of our engines on one workload.
fn add_index(index: &mut Table, bench: &mut Bench) {
    for run in &mut bench.runs {
        let Some((block, region)) = run.bytes_each() else { continue };
        index.row(vec![
            bench.workload.case.name.to_owned(),
            bench.workload.n.map_or_else(|| "-".to_owned(), count),
            run.entry.label(),
            Some(run.alloc_nodes.percentile(999)).filter(|&nodes| nodes > 0).map_or("-".to_owned(), count),
            fixed(block),
            fixed(region),
        ]);
    }
}

fn small_table(benches: &[&Bench], engines: &[EngineEntry]) -> Table {
    let title = "Cases of the kernel's test: an allocation and a free, in turn";
    let mut table = Table::new(title, &["engine"]);
    table.header.extend(benches.iter().map(|bench| bench.workload.case.name.to_owned()));
    for entry in engines {
        let mut row = vec![entry.label()];
        row.extend(benches.iter().map(|bench| cell(bench, entry, "pair")));
        table.row(row);
    }
    floor_row(&mut table, benches.iter().copied(), "pair");
    table
}

fn feature_table(engines: &[EngineEntry]) -> Table {
    let header = [
        "engine",
        "alignment",
        "window",
        "fixed place",
        "top-down",
        "congruent",
        "address taken",
        "free needs",
        "structure",
    ];
    let mut table = Table::new("Features, each tried by a test", &header);
    let yes = |has: bool| if has { "yes" } else { "no" };
    for features in FEATURES.iter().filter(|row| engines.iter().any(|entry| entry.engine == row.engine)) {
        let cells = [
            features.engine,
            yes(features.alignment),
            yes(features.window),
            features.fixed_place.text(),
            yes(features.top_down),
            yes(features.congruent),
            features.policy,
            features.free_needs,
            features.structure,
        ];
        table.row(cells.map(str::to_owned).to_vec());
    }
    table
}

/// What rivals do faster than the default engine, if that ran: the size at which they gain most.
fn add_losses(losses: &mut Table, group: &[Bench], engines: &[EngineEntry]) {
    for entry in engines.iter().filter(|entry| !OURS.contains(&entry.engine)) {
        for op in ["alloc", "free", "pair"] {
            let compared = group.iter().filter(|bench| op != "pair" || !bench.workload.case.sized);
            let compared = compared.filter_map(|bench| {
                let ours = bench.runs.iter().find(|run| run.entry.is_default())?;
                let (theirs, ours) = (median_of(run_of(bench, entry)?, op)?, median_of(ours, op)?);
                Some((bench, theirs, ours))
            });
            let faster = compared.filter(|(_, theirs, ours)| *theirs < FASTER * ours);
            let most = faster.min_by(|(_, a, b), (_, c, d)| (a / b).total_cmp(&(c / d)));
            let Some((bench, theirs, ours)) = most else { continue };
            losses.row(vec![
                bench.workload.case.name.to_owned(),
                bench.workload.n.map_or_else(|| "-".to_owned(), count),
                op.to_owned(),
                entry.label(),
                fixed(theirs),
                fixed(ours),
                format!("{}x", fixed(theirs / ours)),
                Features::of(entry.engine).map(Features::lacks).unwrap_or_default(),
            ]);
        }
    }
}

/// Says who ran less than the others, or not at all, in a line per engine.
fn left_out(document: &mut Document, group: &[Bench], engines: &[EngineEntry]) {
    let Some(name) = group.first().map(|bench| bench.workload.case.name) else { return };
    let size = |bench: &Bench| bench.workload.n.map_or_else(String::new, |n| format!(" at n {}", count(n)));
    for entry in engines {
        let label = entry.label();
        let mut out = Vec::new();
        let mut less = Vec::new();
        for bench in group {
            let reason = bench.left_out.iter().find(|(other, _)| other.label() == label);
            if let Some((_, reason)) = reason {
                out.push(format!("{}: {reason}", size(bench)));
            }
            if let Some(run) = run_of(bench, entry).filter(|run| run.round < bench.workload.round) {
                let (did, others) = (count(run.round as u64), count(bench.workload.round as u64));
                less.push(format!("{did} of {others}{}", size(bench)));
            }
        }
        // Who is too slow for one size is not tried on a larger one.
        if let Some(reason) = out.first() {
            let more = if out.len() > 1 { "; nor at any larger" } else { "" };
            document.notes.push(format!("{name}: {label} left out{reason}{more}"));
        }
        if !less.is_empty() {
            let less = less.join(", ");
            document.notes.push(format!("{name}: {label} is slow, operations a round: {less}"));
        }
    }
    let natural =
        |entry: &&EngineEntry| group.iter().any(|bench| run_of(bench, entry).is_some_and(|run| run.natural));
    let natural: Vec<String> = engines.iter().filter(natural).map(EngineEntry::label).collect();
    if !natural.is_empty() {
        let names = natural.join(", ");
        document
            .notes
            .push(format!("{name}: set up without fixed addresses, so otherwise laid out: {names}"));
    }
}

fn rows(document: &mut Document, bench: &mut Bench) {
    let ours = first(bench).map(|run| run.timed().map(|(_, times)| median(times)));
    for run in &mut bench.runs {
        for (at, row) in timed_rows(&bench.workload, run) {
            let ours = ours.and_then(|ours| ours.get(at).copied().flatten()).filter(|&ours| ours > 0.0);
            let ratio = row.ns_median.zip(ours).map(|(ns, ours)| ns / ours);
            let mut row = Row { ratio, ..row };
            match row.op {
                Some("alloc") => add_alloc(&mut row, run),
                Some("free") => add_work(&mut row, &mut run.free_work),
                _ => {}
            }
            document.rows.push(row);
        }
    }
    document.rows.extend(timed_rows(&bench.workload, &bench.floor).into_iter().map(|(_, row)| row));
}

/// The times of each operation that was timed, with its number among [`BenchRun::timed`].
fn timed_rows(workload: &BenchWorkload, run: &BenchRun) -> Vec<(usize, Row)> {
    let base = run.entry.row();
    let natural = run.natural.then(|| "set up without fixed addresses".to_owned());
    let base = Row {
        workload: Some(workload.case.name.to_owned()),
        n: workload.n,
        note: natural.or(base.note),
        ..base
    };
    let timed = run.timed().into_iter().enumerate();
    let row = |(at, (op, times)): (usize, (&'static str, &[f64]))| {
        let row = Row {
            op: Some(op),
            count: Some((run.round / 2 * times.len()) as u64),
            ns_median: Some(median(times)?),
            ns_median_range: range(times),
            ..base.clone()
        };
        Some((at, row))
    };
    timed.filter_map(row).collect()
}

fn add_alloc(row: &mut Row, run: &mut BenchRun) {
    row.failures = Some(run.failures);
    let told = Some(run.metadata_bytes).filter(|&bytes| bytes > 0);
    row.bytes_per_item = told.filter(|_| run.live > 0).map(|bytes| bytes as f64 / run.live as f64);
    row.metadata_peak_bytes = told.map(|bytes| bytes as u64);
    row.nodes_p999 = Some(run.alloc_nodes.percentile(999)).filter(|&nodes| nodes > 0);
    row.bytes_per_free_block = run.bytes_each().map(|(block, _)| block);
    row.bytes_per_region = run.bytes_each().map(|(_, region)| region);
    add_work(row, &mut run.alloc_work);
}

fn add_work(row: &mut Row, work: &mut Counts) {
    row.work_mean = Some(work.mean());
    row.work_p99 = Some(work.percentile(990));
    row.work_p999 = Some(work.percentile(999));
    row.work_max = Some(work.percentile(1000));
}

fn range(times: &[f64]) -> Option<[f64; 2]> {
    let (least, most) = (times.iter().copied().reduce(f64::min)?, times.iter().copied().reduce(f64::max)?);
    Some([least, most])
}
