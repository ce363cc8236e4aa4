//! The results: a table per workload and operation, one of bytes, one of losses; rows for programs.

use crate::engine::maple::EngineEntry;
use crate::family::Entry;
use crate::measure::maple::Run;
use crate::measure::{median, ratio, spread};
use crate::output::{Document, Row, Table, count, fixed};
use crate::workload::maple::Workload;

/// A rival is faster if it takes less than this part of the default engine's time.
const FASTER: f64 = 0.95;

/// A workload at one size, and what the engines made of it.
type Bench = (Workload, Vec<Run>);

/// A document on its way.
#[derive(Default)]
pub(super) struct Tables {
    document: Document,
    bytes: Option<Table>,
    losses: Vec<Vec<String>>,
}

fn median_of(run: &Run, op: &str) -> Option<f64> {
    run.ns.iter().find(|(name, _)| *name == op).map(|(_, ns)| median(ns))
}

impl Tables {
    /// One workload at all its sizes.
    pub(super) fn add(&mut self, benches: &[Bench]) {
        let Some((workload, runs)) = benches.first() else { return };
        for bench in benches {
            self.rows(bench);
        }
        let ops = runs.first().map(|run| run.ns.iter().map(|(op, _)| *op).collect::<Vec<_>>());
        let ops = ops.unwrap_or_default();
        for op in &ops {
            self.table(op, benches);
            self.add_losses(op, benches);
        }
        if workload.case.name.starts_with("insert") || ops.is_empty() {
            self.add_bytes(benches);
        }
    }

    fn table(&mut self, op: &'static str, benches: &[Bench]) {
        let Some((workload, runs)) = benches.first() else { return };
        let title = format!("{}, {op}: {}", workload.case.name, workload.case.about);
        let mut table = Table::new(title, &["engine"]);
        table.header.extend(benches.iter().map(|(workload, _)| format!("n {}", count(workload.n.into()))));
        for engine in runs.iter().map(|run| run.entry.engine) {
            let mut cells = vec![engine.to_owned()];
            for (_, runs) in benches {
                let first = runs.first().and_then(|run| median_of(run, op));
                let own = runs.iter().find(|run| run.entry.engine == engine);
                cells.push(own.and_then(|run| median_of(run, op)).map_or_else(
                    || "-".to_owned(),
                    |ns| match ratio(ns, first) {
                        Some(ratio) => format!("{} {}x", fixed(ns), fixed(ratio)),
                        None => fixed(ns),
                    },
                ));
            }
            table.row(cells);
        }
        self.document.tables.push(table);
    }

    fn add_bytes(&mut self, benches: &[Bench]) {
        let table = self.bytes.get_or_insert_with(|| {
            let header = ["workload", "engine", "ranges", "bytes", "bytes/range"];
            Table { name_columns: 2, ..Table::new("Bytes held", &header) }
        });
        for (workload, runs) in benches {
            for run in runs {
                table.row(vec![
                    workload.case.name.to_owned(),
                    run.entry.engine.to_owned(),
                    count(run.ranges as u64),
                    count(run.bytes as u64),
                    fixed(bytes_per_range(run)),
                ]);
            }
        }
    }

    fn add_losses(&mut self, op: &'static str, benches: &[Bench]) {
        for (workload, runs) in benches {
            let Some(ours) = runs.iter().find(|run| run.entry.is_default()) else { continue };
            let Some(our_ns) = median_of(ours, op) else { continue };
            for run in runs {
                let Some(ns) = median_of(run, op).filter(|ns| *ns < FASTER * our_ns) else { continue };
                self.losses.push(vec![
                    workload.case.name.to_owned(),
                    op.to_owned(),
                    run.entry.engine.to_owned(),
                    count(workload.n.into()),
                    fixed(ns),
                    fixed(our_ns),
                    format!("{}x", fixed(ns / our_ns)),
                ]);
            }
        }
    }

    fn rows(&mut self, (workload, runs): &Bench) {
        let row = |entry: &EngineEntry| Row {
            suite: "maple",
            workload: Some(workload.case.name.to_owned()),
            engine: Some(entry.engine),
            default: entry.is_default().then_some(true),
            n: Some(workload.n.into()),
            ..Row::default()
        };
        for run in runs {
            for ((op, ns), timed) in run.ns.iter().zip(&run.counts) {
                let first = runs.first().and_then(|run| median_of(run, op));
                let linear = workload.case.name.starts_with("gap-") && run.gap_is_linear;
                self.document.rows.push(Row {
                    op: Some(op),
                    count: Some(*timed),
                    ns_median: Some(median(ns)),
                    ns_median_range: spread(ns),
                    ratio: ratio(median(ns), first),
                    bytes_per_item: Some(bytes_per_range(run)),
                    note: linear.then(|| "looks at gap after gap".to_owned()),
                    ..row(&run.entry)
                });
            }
            if run.ns.is_empty() {
                let bytes_per_item = Some(bytes_per_range(run));
                self.document.rows.push(Row { bytes_per_item, ..row(&run.entry) });
            }
        }
    }

    pub(super) fn finish(mut self) -> Document {
        self.document.tables.extend(self.bytes);
        if !self.losses.is_empty() {
            let title = "Where a rival takes less time than the default engine";
            let header = ["workload", "op", "rival", "n", "its ns", "our ns", "ratio"];
            let table = Table { rows: self.losses, name_columns: 3, ..Table::new(title, &header) };
            self.document.tables.push(table);
        }
        self.document.notes.push(
            "Nanoseconds per operation, or per range where all are gone through: medians over rounds of whole loops, \
             the engines taking turns; behind them the ratio to the first. Answers were checked one by one before, and \
             in every round by their sum. Bytes are the map's own, where it may have its first ranges, and those \
             allocated, without what the allocator adds. Maps without a notion of large gaps look at one after the \
             other."
                .to_owned(),
        );
        self.document
    }
}

fn bytes_per_range(run: &Run) -> f64 {
    run.bytes as f64 / run.ranges.max(1) as f64
}
