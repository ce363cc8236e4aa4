//! Measurements of the percpu family as rows, whoever prints them.

use crate::engine::percpu::EngineEntry;
use crate::family::{Entry, FLOOR_NOTE};
use crate::measure::percpu::{ChurnRun, DeletionRun, FIRST, FillRun, MassFreeRun, StaleHintRun};
use crate::measure::{median, ratio, spread};
use crate::output::Row;
use crate::workload::percpu::{Order, Size};

/// A row of an engine on chunks with units of some size.
pub(crate) fn row(workload: &str, entry: &EngineEntry, unit_bytes: u32) -> Row {
    Row {
        suite: "percpu",
        workload: Some(workload.to_owned()),
        engine: Some(entry.engine),
        default: entry.is_default().then_some(true),
        unit: Some(u64::from(unit_bytes)),
        note: entry.is_floor().then(|| FLOOR_NOTE.to_owned()),
        ..Row::default()
    }
}

/// One size of objects: for each engine a row of allocations, and one of frees for each order.
pub(crate) fn fill(workload: &str, size: Size, runs: &[FillRun], unit_bytes: u32) -> Vec<Row> {
    let first = runs.first().map(|run| median(&run.alloc_ns));
    let first_free = |order: Order| runs.first().map(|run| run.free_ns(order));
    let mut rows = Vec::new();
    for run in runs {
        let row = |op, order: Option<Order>, ns: &[f64], first| Row {
            n: Some(u64::from(run.objects)),
            size: Some(u64::from(size.bytes)),
            align: Some(size.align.bytes()),
            order: order.map(Order::name),
            op: Some(op),
            ns_median: Some(median(ns)),
            ns_median_range: spread(ns),
            ratio: ratio(median(ns), first),
            ..row(workload, &run.entry, unit_bytes)
        };
        rows.push(row("alloc", None, &run.alloc_ns, first));
        rows.extend(run.free_ns.iter().map(|(order, ns)| row("free", Some(*order), ns, first_free(*order))));
    }
    rows
}

/// Bytes of metadata while all objects of a size are live.
pub(crate) fn footprint(size: Size, run: &FillRun, unit_bytes: u32) -> Row {
    let full = &run.full;
    Row {
        n: Some(full.objects),
        size: Some(u64::from(size.bytes)),
        align: Some(size.align.bytes()),
        bytes_per_item: Some(full.metadata_bytes as f64 / full.objects.max(1) as f64),
        metadata_peak_bytes: Some(full.metadata_bytes),
        pages: Some(full.populated_pages),
        ..row("footprint", &run.entry, unit_bytes)
    }
}

/// A steady state: a row for each engine.
pub(crate) fn churn(workload: &str, runs: &[ChurnRun], unit_bytes: u32) -> Vec<Row> {
    let first = runs.first().map(|run| median(&run.pair_ns));
    let one = |run: &ChurnRun| Row {
        n: Some(run.end.objects),
        op: Some("pair"),
        ns_median: Some(median(&run.pair_ns)),
        ns_median_range: spread(&run.pair_ns),
        ratio: ratio(median(&run.pair_ns), first),
        pages: Some(run.end.populated_pages),
        ..row(workload, &run.entry, unit_bytes)
    };
    runs.iter().map(one).collect()
}

/// A mass free: the free, the first request after it, the first ones, and all.
pub(crate) fn mass_free(size: Size, run: &MassFreeRun, unit_bytes: u32) -> [Row; 4] {
    let figures = [
        ("free", 1, &run.free_ns, None),
        ("alloc", 1, &run.first_ns, Some("the first request")),
        ("alloc", FIRST, &run.early_ns, Some("the first requests, each")),
        ("alloc", 0, &run.all_ns, Some("all requests, each")),
    ];
    figures.map(|(op, requests, ns, note)| Row {
        size: Some(u64::from(size.bytes)),
        align: Some(size.align.bytes()),
        op: Some(op),
        count: (requests > 0 && op == "alloc").then_some(requests as u64),
        ns_median: Some(median(ns)),
        ns_median_range: spread(ns),
        note: note.map(str::to_owned),
        ..row("mass-free", &run.entry, unit_bytes)
    })
}

/// Pages before holes are filled, and after.
pub(crate) fn stale_hint(run: &StaleHintRun, unit_bytes: u32) -> [Row; 2] {
    [("free", run.before_pages), ("alloc", run.after_pages)].map(|(op, pages)| Row {
        op: Some(op),
        pages: Some(pages),
        ..row("stale-hint", &run.entry, unit_bytes)
    })
}

/// Pages of all groups, of those that are kept, and of these when the work that frees leave is done.
pub(crate) fn deletion(run: &DeletionRun, unit_bytes: u32) -> [Row; 3] {
    let figures = [("alloc", run.full_pages), ("free", run.kept_pages), ("balance", run.balanced_pages)];
    figures.map(|(op, pages)| Row {
        op: Some(op),
        pages: Some(pages),
        ..row("deletion", &run.entry, unit_bytes)
    })
}
